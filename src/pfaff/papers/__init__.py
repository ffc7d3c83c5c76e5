"""Papers reproduced: what is printed beside what is computed, with a verdict."""

from __future__ import annotations

import importlib
from pathlib import Path

from pfaff.papers.reproduction import Item, Reproduction, reproduced

PAPERS = {
    "bottema1949": "Bottema (1949), On the small vibrations of non-holonomic systems",
    "cazzolli2020": "Cazzolli, Dal Corso, Bigoni (2020), Non-holonomic constraints inducing flutter instability "
    "in structures under conservative loadings",
}


def reproduce_paper(key: str, folder: Path, quiet: bool = False) -> Reproduction:
    """Compute everything, draw the figures into the folder and write ``reproduction.json`` there."""
    module = importlib.import_module(f"pfaff.papers.{key}")
    return reproduced(key, PAPERS[key], module.ITEMS, module.FIGURES, Path(folder), quiet)


__all__ = ["PAPERS", "Item", "Reproduction", "reproduce_paper"]
