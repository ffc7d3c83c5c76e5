"""``python -m pfaff.compile``: compile ahead what cycles and batches of Hopf points need, as installing does.

A branch of cycles of the column is followed from its flutter load, and its normal forms are swept over a damping: what
is compiled for them is kept on disk, for every other system too.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from pfaff.atlas import column

GIVEN = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50, "c_i": 1.5}


def cycles_and_batches() -> None:
    case, dampings = column(2).at(**GIVEN), {"c_i": [1.0, 1.5, 2.0]}
    case.hopf().orbits(to=100)
    case.sweep(dampings, "l1").run()
    column(2, "bow").at(**GIVEN, beta0=0.03).sweep(dampings, "l1").run()  # bent, and without symmetry


def main() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for part in [pool.submit(each) for each in (cycles_and_batches,)]:
            part.result()


if __name__ == "__main__":
    main()
