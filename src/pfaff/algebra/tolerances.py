"""What counts as zero, as imaginary, as growing, as of lower rank, as a family, as settled: one place for each notion.

Every number is relative to what a thing is compared with, which whoever compares says. Those with ε in their reason are
what rounding leaves; the others are choices, and say what they keep apart. A notion that must be another elsewhere
has another name there, and says why.
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(float).eps)

# zero
EXACT = 4e-16  # a change or an entry that is 2 ε beside what it is made of: it cannot become smaller
UNCERTAIN = 8 * EPS  # of the entries of a matrix: those of equations evaluated by several operations each
IDENTITY = 1e-9  # what is left of an identity in numbers, beside its terms: rounding, however often they were combined
SAFE = 4.0  # times an estimated error, beyond which something is no error

# imaginary
REAL = 1e-7  # imaginary parts below this are none: a double eigenvalue that is real parts by √ε = 1.5e-8 of its size
NEARLY_REAL = 1e-6  # the same by Arnoldi's method, which parts double ones by the root of its residual

# growing
NOISE = 1e-13  # real parts of an eigenvalue, and entries of a vector, that are rounding, whatever an estimate says
STIFF = 1e-13  # what the largest eigenvalue leaves uncertain in all others, relative to it: ‖J‖ ε with a margin
GROWING = 1e-9  # growth rates below this are none where no error is estimated

# rank
RANK = 1e-9  # singular values below this are none: of matrices in even units, well above ε and far below what acts
TRANSVERSAL = 1e-6  # sines of angles below this are zero: between directions that are themselves known to √ε or better
LOST = 1e-6  # constraints that shrink to this beside their size in the neighbourhood have lost their rank

# family
NEIGHBOUR = 1e-3  # how far away a neighbour is: what vanishes here by accident shows its usual size there
AT_REST = 1e-8  # rates below this, beside those of states of usual size, are rounding
SAME = 1e-6  # solutions closer than this are one: Newton's method parts them by far less, branches by far more

# settled
SETTLED = 1e-9  # the last change of an accepted solution: one more step of Newton's method would square it
NEWTON_STEPS = 60  # enough from a start that is far away; a solution that is near needs six
CORRECTIONS = 12  # steps of Newton's method from a prediction: where more are needed, a shorter step is cheaper


def turning(values: np.ndarray) -> np.ndarray:
    """Which eigenvalues oscillate."""
    return np.abs(values.imag) > REAL * np.abs(values)


def rank(singular_values: np.ndarray) -> int:
    """Of a matrix in even units."""
    return int((singular_values > RANK * singular_values.max(initial=0.0)).sum())


def ceased(change: float, before: float, settled: float = SETTLED, enough: float = EXACT) -> bool:
    """Whether changes have settled: this one is rounding, being small and not even half the one before."""
    return change <= enough or (change < settled and change >= before / 2)
