"""``python -m pfaff.compile``: compile ahead what periodic orbits need, as an installation does.

A branch of cycles of the column is followed from its flutter load: what is compiled for it is kept on disk, for every
other system too.
"""

from __future__ import annotations

from pfaff.atlas import column


def main() -> None:
    column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5).hopf().orbits(to=100)


if __name__ == "__main__":
    main()
