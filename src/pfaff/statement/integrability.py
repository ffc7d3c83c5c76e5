"""Frobenius' test: which Pfaffian constraints are holonomic in disguise.

A single form ω = a·dq + b dt is integrable where ω ∧ dω = 0: its exterior derivative vanishes on its own kernel. The
test is made at random configurations with random parameters, where an identity fails with probability one if it fails
at all, and confirmed there in many digits. Configurations are drawn in the characteristic sizes of the coordinates, so
that units do not matter. An integral is then sought symbolically, among those that are written down at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sm

from pfaff.errors import ConstraintError
from pfaff.statement.characteristic import LARGEST, characteristic, unit_velocities
from pfaff.statement.draws import Draws
from pfaff.statement.evaluation import Digits, evaluated
from pfaff.statement.hidden_terms import hidden_terms, places
from pfaff.statement.integrals import integral

if TYPE_CHECKING:
    from pfaff.statement.plain_symbols import Statement

TRIALS = 6
STEP = 1e-4  # of the central differences, in characteristic sizes
TOLERANCE = 1e-6  # well above the STEP² of the differences, relative to the gradient
BLUR = 1e-10  # rounding of differences, relative to the entries: rounding over STEP
DIGITS = 60  # of the confirmation
BRACKET_DIGITS, BRACKET_STEP = 300, 1e-40  # every bracket costs as many digits as its step has: seven are possible
CONFIRMED = 1e-12  # numbers that were stated are rounded themselves

Forms = Callable[[np.ndarray], np.ndarray]  # at one point, or at many with a trailing axis
Field = Callable[[Any], tuple[Any, Any]]  # a vector of (q, t) as a difference of two


@dataclass(frozen=True)
class Trial:
    """A random configuration (q, t) with random parameters: coefficients (a, b) of all forms, and their gradients.

    These are measured in the characteristic sizes of the coordinates, and in units of the columns of coefficients.
    """

    parameters: Mapping[sm.Symbol, float]
    sizes: np.ndarray
    point: np.ndarray
    values: np.ndarray
    gradients: np.ndarray  # ∂(a, b)_i/∂x_j of every form, indexed [form, i, j]
    errors: np.ndarray  # errors of the gradients

    @property
    def told(self) -> np.ndarray:
        """Which rows have digits here: a factor of a row may leave none."""
        return np.abs(self.values).max(axis=1) > 1 / LARGEST


def integrable_rows(statement: Statement, nonholonomic: int) -> list[bool]:
    """Which nonholonomic rows are integrable on their own."""
    return _integrable(statement, [[row] for row in range(nonholonomic)])


def integral_of(statement: Statement, row: int) -> tuple[sm.Expr, sm.Expr] | None:
    """φ and f with ω = f dφ for an integrable row, if one is found."""
    return _integral(statement, statement.coefficients[row])


def first_integrable(statement: Statement, nonholonomic: int) -> tuple[int, sm.Expr | None] | None:
    """The first nonholonomic row that is integrable on its own, with its integral if one is found."""
    integrable = integrable_rows(statement, nonholonomic)
    if not any(integrable):
        return None
    row = integrable.index(True)
    found = integral_of(statement, row)
    return row, found[0] if found else None


def closure(
    statement: Statement,
    rows: Sequence[int],
    point: Sequence[float],
    sizes: Sequence[float],
    parameters: Mapping[sm.Symbol, float],
) -> int:
    """The dimension of the smallest integrable distribution in (q, t) that contains the kernel K of some rows.

    The forms that vanish on it are the largest integrable subsystem, the end of their derived flag. It is the dimension
    of K with all its Lie brackets [X, Y] = Y′X − X′Y, X in K and Y among those found last. At a point of the holonomic
    constraints the differentials of these are among the rows, and all fields are tangent to them. Lengths of vectors
    are in units of some sizes of (q, t).
    """
    digits = Digits(BRACKET_DIGITS)
    mp = digits.mp
    forms, start = _precise_forms(digits, statement, rows, parameters, point, sizes)
    projection = lru_cache(maxsize=None)(lambda x: _kernel_projection(mp, forms(x)))
    x = mp.matrix(start)
    basis: list[Any] = []
    kernel = _raising(mp, basis, [_projected(mp, projection, j) for j in range(len(x))], x)
    last = kernel
    while last and len(basis) < len(x):
        last = _raising(mp, basis, [_bracket(mp, X, Y) for X in kernel for Y in last if X is not Y], x)
    return len(basis)


def combined_integrals(statement: Statement, rows: Sequence[int]) -> list[sm.Expr]:
    """Integrals of combinations of rows with constant coefficients, as far as there are such."""
    told = [trial for trial in _trials(statement) if trial.told[list(rows)].all()]
    trials = [trial.gradients[list(rows)] / np.abs(trial.values).max() for trial in told]
    if not trials:
        return []
    twists = np.concatenate([(g - g.transpose(0, 2, 1)).reshape(len(rows), -1) for g in trials], axis=1)
    left, sizes, _ = np.linalg.svd(twists)
    closed = left[:, int((sizes > TOLERANCE * sizes.max(initial=0.0)).sum()) :].T
    for k in range(len(closed)):
        pivot = int(np.abs(closed[k]).argmax())
        closed[k] /= closed[k, pivot]
        closed -= np.outer(np.where(np.arange(len(closed)) == k, 0.0, closed[:, pivot]), closed[k])
    found = []
    for combination in closed:
        coefficients = [sm.nsimplify(c, rational=True, tolerance=TOLERANCE) for c in combination.round(7)]
        forms = [[c * a for a in statement.coefficients[row]] for c, row in zip(coefficients, rows, strict=True)]
        pair = _integral(statement, [sm.Add(*terms) for terms in zip(*forms, strict=True)])
        found += [pair[0]] if pair else []
    return found


def _raising(mp: Any, basis: list[Any], fields: Sequence[Field], x: Any) -> list[Field]:
    """The fields that are independent at x of an orthonormal basis and of each other; the basis is extended by them."""
    found = []
    for field in fields:
        plus, minus = field(x)
        size = mp.norm(plus) + mp.norm(minus)
        vector = plus - minus
        for e in basis:
            vector -= (e.T * vector)[0] * e
        left = mp.norm(vector)
        # relative to the two parts of a bracket, which are large or small with the units
        if left > CONFIRMED * size and size > BRACKET_STEP**0.5:
            basis.append(vector / left)
            found.append(field)
    return found


def _projected(mp: Any, projection: Callable[..., Any], j: int) -> Field:
    """The projection of the unit vector j on the kernel."""
    return lambda x: (projection(tuple(x))[:, j], mp.matrix(len(x), 1))


def _bracket(mp: Any, X: Field, Y: Field) -> Field:
    """The two parts Y′X and X′Y of a bracket."""

    def value(field: Field, x: Any) -> Any:
        plus, minus = field(x)
        return plus - minus

    def field(x: Any) -> tuple[Any, Any]:
        step = mp.mpf(BRACKET_STEP)
        here, there = value(X, x), value(Y, x)
        return (value(Y, x + step * here) - there) / step, (value(X, x + step * there) - here) / step

    return field


def integrable_together(statement: Statement, nonholonomic: int) -> bool:
    """Whether all nonholonomic rows form an integrable system although none may be integrable on its own.

    Frobenius: every dω vanishes on the common kernel of all the forms.
    """
    return nonholonomic > 1 and _integrable(statement, [list(range(nonholonomic))])[0]


def _integrable(statement: Statement, groups: Sequence[list[int]]) -> list[bool]:
    """Whether every dω of a group of rows vanishes on their common kernel, for each group.

    One trial is enough to say no; what is seen in differences at all of them is confirmed in many digits.
    """
    left, tried = list(groups), []
    for trial in _trials(statement) if groups else ():
        left = [rows for rows in left if not _twisted(trial, rows)]
        tried.append(trial)
        if not left:
            break
    return [rows in left and all(_confirmed(statement, rows, trial) for trial in tried) for rows in groups]


def _twisted(trial: Trial, rows: list[int]) -> bool:
    """Whether some dω does not vanish on the common kernel of the rows, clearly so in spite of all errors."""
    if not trial.told[rows].all():
        return False
    values = trial.values[rows]
    _, sizes, right = np.linalg.svd(_unit_rows(values))
    kernel = right[int((sizes > TOLERANCE).sum()) :].T
    for value, gradient, error in zip(values, trial.gradients[rows], trial.errors[rows], strict=True):
        # relative to the gradient, so that neither units nor a factor of the row decide
        allowed = TOLERANCE * np.abs(gradient).max() + BLUR * np.abs(value).max() + len(error) * np.abs(error).max()
        if np.abs(kernel.T @ (gradient - gradient.T) @ kernel).max(initial=0.0) > allowed:
            return True
    return False


def _unit_rows(values: np.ndarray) -> np.ndarray:
    sizes = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.where(sizes > 0, sizes, 1.0)


def _confirmed(statement: Statement, rows: list[int], trial: Trial) -> bool:
    """Whether ``_twisted`` is false with DIGITS, in which differences over a tiny step are derivatives."""
    digits = Digits(DIGITS)
    mp = digits.mp
    forms, x = _precise_forms(digits, statement, rows, trial.parameters, trial.point, trial.sizes)
    values, step = forms(x), mp.mpf(10) ** (-DIGITS // 2)
    if not all(mp.norm(values[k, :]) for k in range(len(rows))):
        return True  # where a row vanishes it tells nothing
    kernel = _kernel_projection(mp, values)
    moved = [forms([*x[:j], x[j] + step, *x[j + 1 :]]) for j in range(len(x))]
    for k in range(len(rows)):
        gradient = mp.matrix(len(x), len(x))  # ∂a_i/∂x_j
        for i, j in product(range(len(x)), repeat=2):
            gradient[i, j] = (moved[j][k, i] - values[k, i]) / step
        twist = kernel * (gradient - gradient.T) * kernel
        size, tiny = mp.norm(gradient, mp.inf), mp.norm(values, mp.inf) * step**0.8
        if mp.norm(twist, mp.inf) > CONFIRMED * size + tiny:
            return False
    return True


def _precise_forms(
    digits: Digits,
    statement: Statement,
    rows: Sequence[int],
    parameters: Mapping[sm.Symbol, float],
    point: Sequence[float] | np.ndarray,
    sizes: Sequence[float] | np.ndarray,
) -> tuple[Callable[..., Any], list[Any]]:
    """(a, b) of some rows as a matrix in many digits, and a point, in units of sizes, and of the rows and columns."""
    flat = [e for row in rows for e in statement.coefficients[row]]
    mpf = digits.mp.mpf
    known = {symbol: mpf(value) for symbol, value in parameters.items()}

    def table(x: Sequence[Any]) -> np.ndarray:
        at = dict(zip((*statement.q, statement.time), x, strict=True))
        return np.array(evaluated(flat, {**known, **at}, digits), dtype=object).reshape(len(rows), len(x))

    start = [mpf(float(each)) for each in point]
    here = table(start)
    largest = np.array([[max(map(abs, row)) or mpf(1)] for row in here])  # a factor may be below what doubles hold
    columns = _columns((here / largest).astype(float) * np.asarray(sizes))
    units = [mpf(float(each)) for each in columns / np.asarray(sizes)]

    def forms(x: Sequence[Any]) -> Any:
        return digits.mp.matrix((table([e / u for e, u in zip(x, units, strict=True)]) / largest / units).tolist())

    return forms, [e * u for e, u in zip(start, units, strict=True)]


def _columns(values: np.ndarray) -> np.ndarray:
    """The sizes of the columns of rows scaled to one: units of the coordinates in which all of them matter alike."""
    sizes = np.linalg.norm(_unit_rows(values), axis=0)
    return np.where(sizes > 0, sizes, 1.0)


def _kernel_projection(mp: Any, values: Any) -> Any:
    """1 − A⁺A, the orthogonal projection on the kernel of the rows; those that depend on others are left out."""
    units = _unit_rows(np.array(values.tolist(), dtype=float))
    kept: list[int] = []
    for k in range(len(units)):
        if np.linalg.matrix_rank(units[[*kept, k]], tol=TOLERANCE) > len(kept):
            kept.append(k)
    rows = mp.matrix([[values[k, j] / mp.norm(values[k, :]) for j in range(values.cols)] for k in kept])
    return mp.eye(values.cols) - rows.T * mp.inverse(rows * rows.T) * rows


def _parameters(statement: Statement, generator: Draws) -> dict[sm.Symbol, float]:
    symbols = set().union(*(c.free_symbols for c in statement.constraints))
    names = sorted(symbols - {*statement.q, *statement.v, statement.time}, key=str)
    return dict(zip(names, generator.uniform(0.2, 1.4, len(names)).tolist(), strict=True))


def _trials(statement: Statement) -> Iterator[Trial]:
    """Trials of the usual sizes first, then of any."""
    generator = Draws(1949)
    units, variables = unit_velocities(statement), (*statement.q, statement.time)
    hidden = hidden_terms(chain.from_iterable(statement.coefficients), variables, poles=False)
    found = False
    for k in range(TRIALS):
        values = _parameters(statement, generator)
        known = characteristic(statement.constraints, variables, {**values, **units})
        trial = _trial(statement, values, known.drawn(generator) if k else known.usual, generator)
        if trial is None:
            continue
        found = True
        yield trial
        start = dict(zip(variables, trial.point.tolist(), strict=True))
        usual = dict(zip(variables, trial.sizes.tolist(), strict=True))
        for place in places(hidden, statement.positions, start, usual, values):
            at = np.array([place[x] for x in variables]) / trial.sizes
            if (there := _trial_at(statement, values, trial.sizes, at)) is not None:
                yield there
    if not found:
        raise ConstraintError(
            "the constraints could not be evaluated at any configuration tried: check their functions"
        )


def _trial(
    statement: Statement, parameters: Mapping[sm.Symbol, float], sizes: np.ndarray, generator: Draws
) -> Trial | None:
    """A random configuration of some sizes where the constraints can be evaluated: √(1 − x²) requires a small x."""
    for size in (1.4, 0.7, 0.3, 0.1, 10.0):
        x = generator.uniform(0.2 * size, size, len(sizes))
        if (trial := _trial_at(statement, parameters, sizes, x)) is not None:
            return trial
    return None


def _trial_at(
    statement: Statement, parameters: Mapping[sm.Symbol, float], sizes: np.ndarray, x: np.ndarray
) -> Trial | None:
    """The trial at a configuration in units of some sizes; None if the constraints cannot be evaluated there."""
    units, n = unit_velocities(statement), len(statement.q)

    def forms(x: np.ndarray) -> np.ndarray:
        q = dict(zip((*statement.q, statement.time), sizes[:, None] * x, strict=True))
        found = evaluated(statement.constraints, {**parameters, **q, **units})
        rows = np.array([np.broadcast_to(each, (n + 1, x.shape[1])) for each in found])
        return np.concatenate([rows[:, :-1] - rows[:, -1:], rows[:, -1:]], axis=1) * sizes[:, None]

    values, gradients, errors = _differences(forms, x)
    if not all((np.abs(each) < LARGEST).all() for each in (values, gradients, errors)):
        return None
    columns = _columns(values)
    square = np.multiply.outer(columns, columns)
    return Trial(parameters, sizes, sizes * x, values / columns, gradients / square, errors / square)


def _differences(forms: Forms, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a, b) of every form, ∂(a, b)_i/∂x_j by central differences, [form, i, j], and the change by a double step."""
    n, step = len(x), STEP * np.eye(len(x))
    points = x[:, None] + np.hstack([np.zeros((n, 1)), step, -step, 2 * step, -2 * step])
    here, *moved = np.split(forms(points), 1 + n * np.arange(4), axis=-1)
    with np.errstate(all="ignore"):
        single, double = (moved[0] - moved[1]) / (2 * STEP), (moved[2] - moved[3]) / (4 * STEP)
        return here[..., 0], single, single - double


def _integral(statement: Statement, form: Sequence[sm.Expr]) -> tuple[sm.Expr, sm.Expr] | None:
    variables = (*statement.q, statement.time)
    points = [{**trial.parameters, **dict(zip(variables, trial.point, strict=True))} for trial in _trials(statement)]
    return integral(form, variables, points)
