"""Large sparse equations: branches, folds and Hopf points against dense matrices, and eigenvalues by hand with SciPy.

The tubular reactor of ``bifurcation.py`` in 100 and 200 cells, two states each: equilibria are followed in D from 0 to
0.3 over two folds and a Hopf point, by sparse matrices, as pfaff chooses by itself, and by dense ones, for which it is
told that nothing is large; then the first fold until β = 1.5 and the Hopf point until β = 3, by sparse matrices. The
first branch counts with what it takes to compile.

By hand: SciPy's ``spsolve`` corrects each of pfaff's equilibria twice, and ``eigs`` about zero gives the six
eigenvalues nearest to it, as one would do it: no steps, no tangents, no special points, and no knowledge of what else
may grow.

Special points of both are compared with each other; with 60 cells also with defining equations that SciPy's ``root``
solves, and the number of eigenvalues that grow with that of all of them. Least of
several, of the processor, one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigs, spsolve

from bifurcation import BETA, LAST, B, fold_at, hopf_at, linear, rates, reactor
from pfaff.flow import sparse_jacobian
from verified import demand, least, verify

CELLS, REFEREED = (100, 200), 60
SHARP = 1e-9  # relative differences of special points that are allowed
DENSE = 10**6  # states from which equations count as large, for the dense way


def branch(cells: int, many: int = sparse_jacobian.MANY) -> Any:
    """The branch of a reactor that is stated anew, so that nothing is known about it."""
    usual, sparse_jacobian.MANY = sparse_jacobian.MANY, many
    try:
        return reactor(cells).at().branch(to=LAST)
    finally:
        sparse_jacobian.MANY = usual


def again(found: Any) -> Any:
    """The same branch once more."""
    return found[0].case.branch(to=LAST)


def by_hand(found: Any, cells: int) -> list[np.ndarray]:
    """Equilibria and the eigenvalues nearest to zero, at pfaff's values of D."""
    values = []
    for point in found:
        x = point.x.copy()
        for _ in range(2):
            x -= spsolve(sparse.csc_array(sparse_linear(x, point.value, cells)), rates(x, point.value, BETA))
        values.append(eigs(sparse_linear(x, point.value, cells), k=6, sigma=0.0, return_eigenvectors=False))
    return values


def sparse_linear(x: np.ndarray, D: float, cells: int) -> sparse.csc_array:
    """∂f/∂x; transport does not change, and is kept."""
    if cells not in TRANSPORT:
        TRANSPORT[cells] = sparse.csc_array(linear(np.zeros(2 * cells), 0.0, BETA))
    u, v = np.split(x, 2)
    by_u, by_v = -D * np.exp(v), D * (1 - u) * np.exp(v)
    i = np.arange(cells)
    rows, columns = np.concatenate([i, i, cells + i, cells + i]), np.concatenate([i, cells + i, i, cells + i])
    reaction = np.concatenate([by_u, by_v, B * by_u, B * by_v])
    return sparse.csc_array(TRANSPORT[cells] + sparse.csc_array((reaction, (rows, columns)), shape=(len(x),) * 2))


TRANSPORT: dict[int, sparse.csc_array] = {}


def referee(found: Any) -> None:
    """Folds and Hopf point against their defining equations, and what grows against all eigenvalues."""
    first, second, hopf = found.special
    for point in (first, second):
        verify("a fold", abs(fold_at(point.x, point.value, BETA) / point.value - 1), SHARP)
    verify("the Hopf point", abs(hopf_at(hopf.x, hopf.value, BETA, hopf.omega) / hopf.value - 1), SHARP)
    for point in found:
        every = np.linalg.eigvals(linear(point.x, point.value, BETA))
        demand("all eigenvalues that grow are known", int((every.real > 1e-9).sum()) == point.unstable)


def main() -> None:
    referee(branch(REFEREED))
    print(f"{'':30}{'sparse':>10}{'dense':>10}{'ratio':>8}   seconds of the processor")
    for cells in CELLS:
        first, found = least(lambda cells=cells: branch(cells))
        ours, found = least(lambda found=found: again(found), 3)
        first_dense, dense = least(lambda cells=cells: branch(cells, DENSE))
        kinds = [[point.kind for point in each.special] for each in (found, dense)]
        demand("both find two folds and a Hopf point", kinds == [["fold", "fold", "hopf"]] * 2)
        for a, b in zip(found.special, dense.special, strict=True):
            verify(f"{a.kind} of {2 * cells} states", abs(a.value / b.value - 1), SHARP)
        print(f"{2 * cells:>5} states, first branch   {first:10.2f}{first_dense:10.2f}{first_dense / first:7.1f}×")
        print(f"{'':13}with special points, again: {ours:.2f}")
        hand, values = least(lambda found=found, cells=cells: by_hand(found, cells))
        nearest = max(np.abs(v[np.abs(v).argmin()] - p.eigenvalues).min() for v, p in zip(values, found, strict=True))
        verify("eigenvalues by hand", float(nearest), 1e-6)
        print(f"{'':13}SciPy by hand at its {len(found)} points, six eigenvalues each: {hand:.2f}")
        for name, point, to in (("folds", found.special[0], 1.5), ("Hopf points", found.special[2], 3.0)):
            seconds, curve = least(lambda point=point, to=to: point.curve("beta", to=to), 2)
            demand(f"the curve of {name} reaches its end", curve[-1].value == to)
            print(f"{'':13}curve of {len(curve)} {name}: {seconds:.2f}")


if __name__ == "__main__":
    main()
