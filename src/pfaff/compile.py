"""``python -m pfaff.compile``: compile ahead what branches and cycles need, as installing does.

A branch of cycles of the column is followed from its flutter load: what is compiled for it is kept on disk, for every
other system too, and so are the loops of branches of equilibria.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from pfaff.atlas import column
from pfaff.bifurcation.equilibria.walking.branch_loops import compile_ahead


def cycles() -> None:
    column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5).hopf().orbits(to=100)


def main() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for part in [pool.submit(each) for each in (compile_ahead, cycles)]:
            part.result()


if __name__ == "__main__":
    main()
