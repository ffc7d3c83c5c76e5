"""Papers reproduced: what is printed beside what is computed, with a verdict.

Read ``reproduction`` (claims, errata, verdicts) and one paper: ``bottema1949``, ``cazzolli2020``, ``cazzolli2021``,
``mazzilli``, ``naprstek2018``, ``natsiavas2019``; ``running`` computes them on all cores, ``pages`` writes them up,
``sources`` shows the code behind a claim. Papers use public words only.
"""

from __future__ import annotations

from pathlib import Path

from pfaff.papers.reproduction import Claim, Item, Paper, Reproduction

PAPERS = {
    "bottema1949": "Bottema (1949), On the small vibrations of non-holonomic systems",
    "cazzolli2020": "Cazzolli, Dal Corso, Bigoni (2020), Non-holonomic constraints inducing flutter instability "
    "in structures under conservative loadings",
    "cazzolli2021": "Cazzolli, Dal Corso, Bigoni (2021), Flutter instability and Ziegler destabilization paradox for "
    "elastic rods subject to non-holonomic constraints",
    "mazzilli": "Mazzilli, Non-Linear Dynamics and Stability (lecture notes PEF-5737, University of São Paulo)",
    "naprstek2018": "Náprstek, Fischer (2018), Lagrange and Appell–Gibbs approaches in problems of non-holonomic dynamic systems",
    "natsiavas2019": "Potosakis, Paraskevopoulos, Natsiavas (2019), Nonlinear dynamics of multibody systems using an "
    "augmented Lagrangian formulation",
}


def reproduce_paper(
    key: str, folder: Path, quiet: bool = False, fresh: bool = False, workers: int | None = None
) -> Reproduction:
    """Compute everything and write ``index.html``, its figures and ``reproduction.json`` into the folder."""
    from pfaff.papers.pages import write
    from pfaff.papers.running import load_paper, reproduce

    folder = Path(folder)
    return write(reproduce(load_paper(key), folder, quiet, fresh, workers), folder)


__all__ = ["PAPERS", "Claim", "Item", "Paper", "Reproduction", "reproduce_paper"]
