"""What counts as zero, as imaginary, as growing, as of lower rank, as a family, as settled: one place for each notion.

Every number is relative; the caller supplies the reference size. Those with ε in their reason are what rounding leaves;
the others are choices, and say what they keep apart. A module that needs another bound for a notion gives it another
name, and says why.
"""

from __future__ import annotations

import numpy as np

EPS = float(np.finfo(float).eps)

# zero
EXACT = 4e-16  # at round-off level, 2 ε: a further change is meaningless
UNCERTAIN = 8 * EPS  # relative error of the entries of a matrix whose equations take several operations each
IDENTITY = 1e-9  # residue of an identity, relative to its terms: rounding, however often they were combined
SAFE = 4.0  # times an estimated error: beyond this a number is not explained by its error

# imaginary
REAL = 1e-7  # imaginary parts below this are treated as zero: a double real eigenvalue splits by √ε = 1.5e-8
NEARLY_REAL = 1e-6  # the same by Arnoldi's method, which splits double ones by the root of its residual

# growing
NOISE = 1e-13  # real parts of an eigenvalue, and entries of a vector, that are rounding, whatever an estimate says
STIFF = 1e-13  # uncertainty of all eigenvalues relative to the largest: ‖J‖ ε with a margin
GROWING = 1e-9  # growth rates below this are treated as zero where no error is estimated

# rank
RANK = 1e-9  # singular values below this are zero: of matrices in even units, well above ε and far below what acts
TRANSVERSAL = 1e-6  # sines of angles below this are zero: between directions that are themselves known to √ε or better
LOST = 1e-6  # constraints that shrink to this beside their size in the neighbourhood have lost their rank

# family
NEIGHBOUR = 1e-3  # how far away a neighbour is: what vanishes here by accident shows its usual size there
AT_REST = 1e-8  # rates below this, beside those of states of usual size, are rounding
SAME = 1e-6  # solutions closer than this are one: Newton's method separates them by far less, branches by far more

# settled
SETTLED = 1e-9  # the last change of an accepted solution: one more step of Newton's method would square it
NEWTON_STEPS = 60  # enough from a start that is far away; a solution that is near needs six
CORRECTIONS = 12  # steps of Newton's method from a prediction: where more are needed, a shorter step is cheaper


def turning(values: np.ndarray) -> np.ndarray:
    """Which eigenvalues oscillate."""
    return np.abs(values.imag) > REAL * np.abs(values)


def rank(singular_values: np.ndarray) -> int:
    """The rank of a matrix in even units, from its singular values."""
    return int((singular_values > RANK * singular_values.max(initial=0.0)).sum())


def ceased(
    change: float, before: float, settled: float = SETTLED, enough: float = EXACT, shrinks: float = 0.5,
    quadratic: float = 0.0,
) -> bool:  # fmt: skip
    """Whether changes have settled: the last one is small, and did not even halve the one before, hence rounding; or
    was so much smaller that the next would be."""
    still = change >= shrinks * before
    if quadratic:
        still = still | (change < quadratic * before)
    return (change <= enough) | ((change < settled) & still)
