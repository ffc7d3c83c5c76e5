"""Where a Hopf point is looked for: along the equilibrium path, in both directions, in ranges that grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.algebra.bordering import Border, balanced, bordering
from pfaff.bifurcation.equilibria.eigenvalues import slopes
from pfaff.bifurcation.hopf.crossing import change_of
from pfaff.bifurcation.hopf.extended import hopf_near, hopf_of
from pfaff.continuation.kinds import Kind
from pfaff.errors import ConvergenceError, NoBifurcationError, ParameterError, PfaffError
from pfaff.flow.sparse_jacobian import sparse_flow
from pfaff.rest.field import Field, field_at
from pfaff.rest.flow_paths import StatePath
from pfaff.rest.outward import Outward
from pfaff.rest.path import EquilibriumPath, LoadPath
from pfaff.stability.along import (
    FARTHEST,
    Along,
    checked_end,
    frequencies_meet,
    hopf_points,
    imaginary_pairs,
    search_along,
    search_line,
)
from pfaff.stability.natural_range import natural_range
from pfaff.statement.values import broken_promise, end_from, number_from

if TYPE_CHECKING:
    from pfaff.bifurcation.hopf.hopf import Hopf
    from pfaff.case import Bound

ON_AXIS = 1e-9  # distances from the imaginary axis below this, relative to ω, are zero
RANGE = 10.0  # how far a plain ODE's parameter is searched, relative to 1 + its value or to its natural scale
ALIKE, FLAT = 10.0, 1e-12  # scales of a parameter within this factor are one; changes of a Jacobian that are rounding
BESIDE = 1e-4  # how far from its beginning a search looks to both sides, relative to its length
ROUNDING = 1e-12  # growth rates below this, relative to ω, have no sign
STAYS = 1e-6  # growth rates that change more slowly than this, relative to that of another pair, are constant
ONE_LOAD = 1e-9  # distance of loads that are one, relative to the search
LISTED = 4  # states in a message
PAST = 0.1  # how far beyond a load a branch is followed to pass it, relative to the way


def _allowed(case: Bound, load: str, word: str, value: Any) -> float:
    """A load to search to or near, which keeps the declared sign."""
    number = end_from(word, value)
    promises = (broken_promise(symbol, number) for symbol in case.system.parameters if symbol.name == load)
    promise = next(promises, "") if number < 0 else ""
    if promise:
        raise ParameterError(f"{word}={number:g}: {load} is declared {promise}, give a {promise} value")
    return number


def find_hopf(case: Bound, load: str, to: float | None, near: float | None, fixed: Mapping[str, float]) -> Hopf:
    """The first Hopf point along the path, or the one nearest to a load."""
    to, near = (None if x is None else _allowed(case, load, word, x) for word, x in (("to", to), ("near", near)))
    fixed = {name: number_from(name, value) for name, value in fixed.items()}
    if sparse_flow(case.system):
        return _on_a_branch(case, load, to, near, fixed)
    path = case.path(load, fixed)
    sign, distances = _intervals(path, to, near)
    for distance in distances:
        usual = _usual_range(path, distance)
        along = search_along(Outward(path, sign), distance, usual)
        value = _load_within(along, near)
        if value is not None:
            return hopf_at(path, value, {"load": load, "to": to, "near": near, "fixed": dict(fixed)})
        if along.ended:
            break
    everywhere = distance is None and along.search.to >= FARTHEST * usual
    if to is near is None and distance is not None and not along.ended:
        line = search_line(Outward(path, sign), distance)
        value = None if line is None else _load_within(line, None)
        if value is not None:
            return hopf_at(path, value, {"load": load, "to": to, "near": near, "fixed": dict(fixed)})
        everywhere = line is not None
    raise NoBifurcationError(_absence(along, usual if everywhere else None, to))


def _on_a_branch(case: Bound, load: str, to: float | None, near: float | None, fixed: Mapping[str, float]) -> Hopf:
    """The same for large sparse equations, whose equilibria are followed as a branch, also beyond folds."""
    value = float(case.numbers[case.system.parameter_names.index(load)])
    end = to if to is not None or near is None else near + PAST * (near - value)
    if end is None:
        raise ParameterError(f"how far? {case.system.name} has many states: give the last value of {load}, to=…")
    branch = case.branch(load, end, start=fixed)
    found = [point.hopf for point in branch.of_kind(Kind.HOPF) if point.hopf is not None]
    if not found:
        raise NoBifurcationError(f"no Hopf point of {case.system.name} on its branch: {branch.status}")
    return found[0] if near is None else min(found, key=lambda hopf: abs(hopf.value - near))


def _usual_range(path: EquilibriumPath, distance: float | None) -> float:
    """The natural range of a load; where nothing is known about a parameter, the interval searched."""
    if isinstance(path, LoadPath) and not path.origin:
        return natural_range(path)
    assert distance is not None
    return distance


def _load_within(along: Along, near: float | None) -> float | None:
    """The load of the first Hopf point in an interval, or of the one nearest to a load."""
    path, unit = along.path.path, along.search.unit
    at_origin = _crossing_at_origin(path, unit)
    start = [(path.origin, at_origin)] if len(at_origin) else []
    found = ((along.path.load(place), pairs) for place, pairs in hopf_points(along.search) if place > ONE_LOAD * unit)
    points = chain(start, found)
    first = next(points, None) if near is None else min(points, key=lambda point: abs(point[0] - near), default=None)
    if first is not None and len(first[1]) > 1:
        raise NoBifurcationError(_several(path, *first))
    return None if first is None else first[0]


def _crossing_at_origin(path: EquilibriumPath, distance: float) -> np.ndarray:
    """Frequencies of the pairs that are on the imaginary axis where a path begins, and on different sides of it around
    there: one side alone does not tell whether they cross."""
    values = path.linearise(path.origin).eigenvalues()
    pairs = values[(np.abs(values.real) <= ON_AXIS * np.abs(values)) & (values.imag > 0)]
    if not len(pairs):
        return pairs.imag
    end, rates = path.end, []
    try:
        for sign in (-1.0, 1.0):
            beside = path.linearise(path.origin + sign * BESIDE * distance).eigenvalues()
            rates.append([beside[np.abs(beside - pair).argmin()].real for pair in pairs])
    except PfaffError:
        return pairs.imag[:0]
    finally:
        path.end = end
    before, after = np.array(rates)
    noise = ROUNDING * np.abs(pairs)
    return np.sort(pairs.imag[(before * after < 0) & (np.minimum(np.abs(before), np.abs(after)) > noise)])


def _intervals(path: EquilibriumPath, to: float | None, near: float | None) -> tuple[float, Sequence[float | None]]:
    """Direction and lengths of the successive searches; None is a search of all loads."""
    if isinstance(path, LoadPath) and not path.origin:
        wanted = near if to is None else to
        return (-1.0 if wanted is not None and wanted < 0 else 1.0), [None if to is None else checked_end(abs(to))]
    if to is None and (near is None or near == path.origin):
        return 1.0, _ranges(path)
    end = path.origin + 1.5 * (near - path.origin) if to is None and near is not None else to
    assert end is not None
    if end == path.origin:
        raise ParameterError(f"to={end:g} is the value that {path.load} has: give another end of the search")
    return float(np.sign(end - path.origin)), [abs(end - path.origin)]


def _ranges(path: EquilibriumPath) -> list[float]:
    """Ranges in which a parameter of unknown units is searched: relative to its value, and to what changes the Jacobian
    by its own size if that is another scale."""
    if isinstance(path, LoadPath):
        return [RANGE * abs(path.origin)]
    usual = RANGE * (1 + abs(path.origin))
    around, x = field_at(path, path.origin, 1.0)
    J = around.jacobian(x, path.origin)
    try:
        change = change_of(around, bordering(J, around.zeros, around.held), x, path.origin)
    except ConvergenceError:  # the equilibrium is singular where the search begins
        return [usual]
    scaled, D = balanced(J)
    size, by_load = np.linalg.norm(scaled), np.linalg.norm(change * D / D[:, None])
    natural = float(RANGE * size / by_load) if by_load > FLAT * size else usual
    return [usual] if usual / ALIKE <= natural <= usual * ALIKE or not natural else sorted([natural, usual])


def _several(path: EquilibriumPath, load: float, frequencies: np.ndarray) -> str:
    at = 0.0 if abs(load) < 10 * ONE_LOAD * abs(load - path.origin) else load
    listed = ", ".join(f"{each:.8g}" for each in frequencies)
    return (
        f"{len(frequencies)} pairs of eigenvalues of {path.case.system.name} cross the imaginary axis together at "
        f"{path.load} = {at:.10g}, with the frequencies {listed}: a multiple Hopf point, which has no l1; change "
        "another parameter to part them, or look for another Hopf point with near=…"
    )


def _absence(along: Along, usual: float | None, to: float | None) -> str:
    """What was searched in vain, in words: an interval, that asked for or the ``usual`` one, or all beyond it, too."""
    path = along.path.path
    end = along.to if usual is None else along.path.load(usual)
    of = f"{path.case.system.name}{_beginning(path)}"
    text = f"no Hopf point of {of} from {path.load} = {path.origin:g} to {end:.10g}"
    if path.case.system.parameter(path.load) not in path.case.system.acting:
        return f"{text}: nothing in it depends on {path.load}, check its terms"
    if along.ended:
        what = (
            "runs to infinity" if path.boundless else "has no continuation" if path.end == path.origin else "folds back"
        )
        round_it = "follow it round by branch(…).of_kind('hopf'), " if what == "folds back" else ""
        remedy = f"{round_it}start from another equilibrium, or vary another parameter"
        return f"{text}, where the equilibrium {what}: {remedy}"
    text += "" if usual is None else ", nor beyond"
    if isinstance(path, LoadPath) and (frequencies_meet(along.search) or not path.linearise(path.origin).C.any()):
        return f"{text}: without damping eigenvalues meet on the imaginary axis and do not cross it; add damping"
    farther = (
        "search farther with to=…" if to is None else f"search farther than to={to:g}, as to={_beyond(path, to):g}"
    )
    ways = [farther if usual is None else "vary another parameter"]
    symbol = path.case.system.parameter(path.load)
    if not symbol.is_nonnegative or (path.origin > 0 and end > path.origin):
        ways.append("search in the other direction, to=…")
    return f"{text}: {', or '.join(ways)}"


def _beyond(path: EquilibriumPath, to: float) -> float:
    """An end twice as far as one that was searched to."""
    return path.origin + 2 * (to - path.origin)


def _beginning(path: EquilibriumPath) -> str:
    """The equilibrium of a plain ODE from which the search started, in words: there may be others."""
    if not isinstance(path, StatePath):
        return ""
    named = zip(path.case.system.state_names, path.solution(path.origin), strict=True)
    listed = [f"{name} = {value:.6g}" for name, value in named]
    more = ", …" if len(listed) > LISTED else ""
    return f" on the equilibria from {', '.join(listed[:LISTED])}{more},"


def hopf_at(path: EquilibriumPath, load: float, asked: Mapping[str, Any]) -> Hopf:
    """The Hopf point at a load on a path, with everything known about it."""
    pairs = imaginary_pairs(path.linearise(load).eigenvalues())
    if not len(pairs):
        raise NoBifurcationError(f"no pair of eigenvalues is imaginary at {path.load} = {load:.12g}")
    around, x = field_at(path, load, pairs[0].imag)
    border = bordering(around.jacobian(x, load), around.zeros, around.held)
    critical = _crossing_one(around, border, x, load, pairs) if len(pairs) > 1 else complex(pairs[0])

    def spectrum(x: np.ndarray, load: float) -> np.ndarray:
        lin = path.linearise(load)
        return lin.spectrum().values if isinstance(path, LoadPath) else lin.eigenvalues()

    omega = critical.imag
    if not isinstance(path, LoadPath):  # its quadratic pencil gives load and frequency more accurately than the flow
        x, load, omega = hopf_near(around, border, x, load, critical)
    return hopf_of(path.case, around, border, x, load, omega, spectrum, path.origin, asked)


def _crossing_one(around: Field, border: Border, x: np.ndarray, load: float, pairs: np.ndarray) -> complex:
    """The pair nearest to the axis among those that the load moves: undamped modes are on it at every load."""
    values, vectors = np.linalg.eig(around.jacobian(x, load))
    rates = slopes(values, vectors, change_of(around, border, x, load))
    speeds = np.abs([rates[np.abs(values - pair).argmin()].real for pair in pairs])
    return complex(pairs[speeds >= STAYS * speeds.max()][0])
