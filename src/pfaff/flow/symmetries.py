"""Symmetries of the equations, found from what they do and not from how they are written.

A generator ξ(q) = B q + c moves configurations by q̇ = ξ and velocities by v̇ = B v. It is a symmetry if it carries
motions into motions. With accelerations a and multipliers λ solved for at states that obey the constraints, and then
frozen, this is linear in B and c:

    Nᵀ(R_q ξ + R_v B v + M B a) = 0,    R = M a + h + Aᵀλ,   N = null(A): accelerations are carried along;
    the same for A a + γ;    c_q ξ + A B v = 0,    φ_q ξ = 0: so is what the constraints allow;
    ∂T(q, w)/∂q · ξ + M w · B w = 0 for w in null(A): and the inertia, which leaves out scalings of linear equations.

A translation, B = 0, needs no inertia to be carried along. The generators are the null space of these rows at random
states, where an identity fails with probability one if it fails at all. Rows that are redundant, multiplied or mixed,
masses that only the constraints make regular, total time derivatives in the energy and identities that nobody
simplified make no difference; sizes of the coordinates make units unimportant.

Where holonomic constraints determine some coordinates by others, ξ need be of this form in the others alone: what
φ_q ξ = 0 and its derivatives in time say of the rest may depend on parameters and coordinates in any way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import NamedTuple

import numpy as np

from pfaff.flow.probing import Draw, Lift, Probe, Sample, State, lifted, probe_of
from pfaff.flow.shape import ignorable_coordinates
from pfaff.statement.system import System
from pfaff.threads import cached_property, once

NULL = 1e-12  # singular values of the rows, in units of their terms, below which they are rounding
DOUBTFUL = 1e-8  # up to this they are neither rounding nor clearly more
ACTS = 1e-7  # entries of a unit vector below this are rounding
WHOLE = 1e-11  # relative distance from whole numbers that is rounding
CONFIRMED = 3  # states at which symmetries are confirmed
CHOICES = 24  # choices of dependent coordinates that are tried
MANY = 30  # coordinates beyond which only translations are sought: a rotation has that many times as many unknowns
LARGEST = 1e100  # largest entry whose square can be summed
SPREAD = (0.6, 1.6)  # parameters are drawn between these multiples of their defaults


@dataclass(frozen=True, eq=False)
class Generator:
    """ξ(q) = B q + c; for ``dependent`` coordinates, by index, ξ follows from the holonomic constraints instead."""

    B: np.ndarray
    c: np.ndarray
    dependent: tuple[int, ...] = ()

    @property
    def translates(self) -> bool:
        return not self.B.any()

    def described(self, names: Sequence[str]) -> str:
        """The generator in words."""
        moved = ", ".join(names[i] for i in np.flatnonzero(self.c).tolist())
        if self.translates:
            return f"translation of {moved}"
        turned = ", ".join(name for k, name in enumerate(names) if self.B[k].any())
        return f"rotation of {turned}" + (f" with {moved}" if moved else "")


@dataclass(frozen=True, eq=False)
class Symmetries:
    """Generators, translations first, with sizes of the coordinates; ``doubtful`` counts fields that may be another
    symmetry, or nearly one."""

    generators: tuple[Generator, ...]
    sizes: np.ndarray
    doubtful: int = 0

    @property
    def translations(self) -> tuple[Generator, ...]:
        return tuple(each for each in self.generators if each.translates)

    def told(self, names: Sequence[str]) -> list[str]:
        """All of them in words, with what is not decided."""
        found = [each.described(names) for each in self.generators]
        nearly = f"not decided, and not used: {self.doubtful} more, which {NULL:g} to {DOUBTFUL:g} of the terms break"
        return [*found, nearly] if self.doubtful else found

    @property
    def moved(self) -> np.ndarray:
        """Which coordinates symmetries move, of those that do not follow from others."""
        rows = [each.B.any(axis=1) | (each.c != 0) for each in self.generators]
        return np.any(rows, axis=0) if rows else np.zeros(len(self.sizes), dtype=bool)

    def along(self, q: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Ξ(q): the directions in which symmetries move a configuration, one column each; ``rows`` are φ_q."""
        fields = np.array([each.B @ q + each.c for each in self.generators]).reshape(len(self.generators), len(q)).T
        dependent = list(self.generators[0].dependent) if self.generators else []
        if dependent:
            fields[dependent] = -np.linalg.solve(rows[:, dependent], rows @ fields)
        return fields


@once(most=16)
def symmetries(system: System, numbers: tuple[float, ...] | None = None) -> Symmetries:
    """The symmetries of a system for all values of its parameters; with numbers, those at these values alone."""
    n = len(system.coordinates)
    stated = [system.coordinate_names.index(name) for name in ignorable_coordinates(system)]
    evident = Symmetries(tuple(Generator(np.zeros((n, n)), c) for c in np.eye(n)[stated]), np.ones(n))
    if system.rods or len(stated) == n:
        return evident
    draw = _drawn(system) if numbers is None else lambda _: np.array(numbers, dtype=float)
    return _found(probe_of(system), draw) or evident


@once(most=16)
def hold(system: System, numbers: tuple[float, ...]) -> bool:
    """Whether the symmetries for all values of the parameters are there at these values, too, which may be special."""
    found = symmetries(system)
    if system.rods or not found.generators:
        return True
    S, draw, probe = found.sizes, lambda _: np.array(numbers, dtype=float), probe_of(system)
    dependent = found.generators[0].dependent
    moved = found.moved
    moved[list(dependent)] = True
    states = chain(probe.states(draw, S, CONFIRMED, 1897), probe.elsewhere(moved, draw, S, 1898))
    left = (each.broken_by(g, S) for each in rows_at(probe, states, S, dependent) for g in found.generators)
    return max(left, default=0.0) < DOUBTFUL


def usual_numbers(system: System) -> np.ndarray:
    """The default parameters, one for those that are zero or have none."""
    return np.array([float(value or 1.0) for value in system.parameters.values()])


def _drawn(system: System) -> Draw:
    usual = usual_numbers(system)
    return lambda generator: usual * generator.uniform(*SPREAD, len(usual))


def _found(probe: Probe, draw: Draw) -> Symmetries | None:
    """The generators; None if too few states obey the constraints.

    Of all choices of dependent coordinates, the one with the most generators; without any, if that has as many."""
    S = probe.settled_sizes(draw, probe.sizes(draw(np.random.default_rng(0))))
    choices = combinations(range(probe.n), probe.held) if probe.held and probe.system.autonomous else ()
    tried = (_Trial.of(probe, draw, S, dependent) for dependent in ((), *islice(choices, CHOICES)))
    best: Symmetries | None = None
    for each in sorted(filter(None, tried), key=lambda trial: -len(trial.found.generators)):
        if best and len(best.generators) >= len(each.found.generators):
            break
        confirmed = each.confirmed(probe, draw)
        best = confirmed if best is None or len(confirmed.generators) > len(best.generators) else best
    return best


class _Rows(NamedTuple):
    """What generators obey at a state: B and c for the flow, in units of all terms; c alone, in units of its own; and
    the inertia."""

    at: State
    flow: np.ndarray
    shift: np.ndarray
    inertia: np.ndarray

    def broken_by(self, generator: Generator, S: np.ndarray) -> float:
        """How far a generator is from obeying the rows for the flow."""
        free = [k for k in range(len(S)) if k not in generator.dependent]
        B, c = (generator.B / S[:, None] * S)[np.ix_(free, free)], (generator.c / S)[free]
        size = np.sqrt((B**2).sum() + c @ c)
        left = self.shift @ c if generator.translates else self.flow @ np.append(B, c)
        return float(np.abs(left).max(initial=0.0) / size)


@dataclass(frozen=True, eq=False)
class _Trial:
    """The generators that obey the rows of some samples, with some coordinates that follow from the others."""

    samples: list[_Rows]
    S: np.ndarray
    dependent: tuple[int, ...]
    affine: bool

    @classmethod
    def of(cls, probe: Probe, draw: Draw, S: np.ndarray, dependent: tuple[int, ...]) -> _Trial | None:
        """By random states; None if too few obey the constraints."""
        n = probe.n - len(dependent)
        affine = n <= MANY and not probe.graph.drift  # a frame that moves would be turned as well
        states = probe.states(draw, S, int(np.ceil(1.5 * (n + 1))) + 6 if affine else 8, 1897)
        samples = list(rows_at(probe, states, S, dependent))
        return cls(samples, S, dependent, affine) if len(samples) >= n + 2 else None

    def confirmed(self, probe: Probe, draw: Draw) -> Symmetries:
        """The generators that also obey the rows at other scales and where hidden terms come to light."""
        if not self.found.generators and not self.found.doubtful:
            return self.found
        moved = self.found.moved | bool(self.found.doubtful)
        moved[list(self.dependent)] = True
        more = rows_at(probe, probe.elsewhere(moved, draw, self.S, 1898), self.S, self.dependent)
        return _Trial([*self.samples, *more], self.S, self.dependent, self.affine).found

    @cached_property
    def found(self) -> Symmetries:
        S, free = self.S, [k for k in range(len(self.S)) if k not in self.dependent]
        n = len(free)
        flow, shift, inertia = (np.vstack(each) for each in list(zip(*self.samples, strict=True))[1:])
        speeds = np.array([at.v[free] / S[free] / np.abs(at.v / S).max(initial=1e-300) for at, *_ in self.samples])
        translations, nearly = _null(shift)
        found, doubt = [np.concatenate([np.zeros(n * n), c]) for c in _echelon(translations)], len(nearly)
        if self.affine:
            turning, nearly = _null(np.vstack([flow, inertia]))
            doubt += len(_turning(nearly, speeds))
            found += list(_beyond_translations(turning, translations, speeds))
        return Symmetries(tuple(_unit(each, S, free, self.dependent) for each in found), S, doubt)


def rows_at(probe: Probe, states: Iterable[Sample], S: np.ndarray, dependent: tuple[int, ...]) -> Iterator[_Rows]:
    """States, each with its rows."""
    for at, numbers, time, generator in states:
        w = S * (at.N @ generator.normal(size=at.N.shape[1]))
        changes = probe.changes(at, w, numbers, time)
        along = probe.changes(at._replace(v=w), w, numbers, time)[0] if dependent else changes[0]
        if not all((np.abs(each) < LARGEST).all() for each in (*changes, along)):
            continue
        by_q, by_v, slopes = (each * S for each in changes)
        lift = lifted(probe, at, S, by_q, by_v, along * S, dependent)
        if lift is not None:
            flow, shift = map(np.vstack, zip(*_rows(probe, at, S, by_q, by_v, lift), strict=True))
            yield _Rows(at, flow, shift, _isometry(at, S, slopes, w, lift))


def _unit(field: np.ndarray, S: np.ndarray, free: list[int], dependent: tuple[int, ...]) -> Generator:
    """A generator from one in units S of the free coordinates, with a one for the coordinate that it moves most."""
    k, n = len(free), len(S)
    B, c = np.zeros((n, n)), np.zeros(n)
    B[np.ix_(free, free)], c[free] = field[: k * k].reshape(k, k), field[k * k :]
    lead = int(np.abs(c).argmax()) if c.any() else None
    size = 1.0 if lead is None else c[lead] * S[lead]
    return Generator(_whole(B * S[:, None] / S / size), _whole(c * S / size), dependent)


def _whole(entries: np.ndarray) -> np.ndarray:
    """The entries, whole numbers without their rounding."""
    whole = np.round(entries)
    return np.where(np.abs(entries - whole) < WHOLE * np.abs(whole), whole, entries)


def _rows(
    probe: Probe, at: State, S: np.ndarray, by_q: np.ndarray, by_v: np.ndarray, lift: Lift
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows for accelerations, for A a + γ, A v + b and φ, each kind in units of its terms, and of its terms for
    translations.

    Where dependent coordinates follow from the holonomic constraints, these are carried along by construction."""
    n, own = probe.n, probe.m - (probe.held if len(lift.free) < probe.n else 0)
    m = probe.m
    left, units = at.N.T * S, at.rows[:own, None]
    held, rates = slice(n, n + own), slice(n + m, n + m + own)
    kinds = [(left @ by_q[:n], left @ by_v[:n], left @ (at.M * S))]
    if own:
        kinds.append((units * by_q[held], units * by_v[held], units * at.A[:own] * S))
        kinds.append((units * by_q[rates], units * by_v[rates], 0 * by_q[rates]))
    if probe.held and own == m:
        phi = units[m - probe.held :] * by_q[n + 2 * m :]
        kinds.append((phi, 0 * phi, 0 * phi))
    x, v, a = (each[lift.free] / S[lift.free] for each in (at.q, at.v, at.a))
    # At rest, and in uniform motion, accelerations are rounding: of what would accelerate alone.
    usual = max(np.abs(at.a / S).max(), np.abs(at.v / S).max() ** 2)
    for Rq, Rv, Ra in kinds:
        by_field = Rq @ lift.E + Rv @ lift.G + Ra @ lift.K
        pairs = ((by_field, x), (Rv @ lift.E + Ra @ lift.H, v), (Ra @ lift.E, a))
        terms = [each[:, :, None] * along for each, along in pairs]
        own, inert = (by_field**2).sum(axis=1), np.abs(Ra).max(initial=0.0)
        sizes = np.sqrt(sum((term**2).sum(axis=(1, 2)) for term in terms) + own)
        rows = np.hstack([sum(terms).reshape(len(Rq), -1), by_field])
        alike = np.sqrt(sum((each * along) ** 2 for each, along in pairs).sum(axis=1) + own)
        least = inert * usual
        yield rows / (max(sizes.max(initial=0.0), least) or 1.0), by_field / (max(alike.max(initial=0.0), least) or 1.0)
        usual = max(usual, alike.max(initial=0.0) / inert) if inert else usual


def _isometry(at: State, S: np.ndarray, slopes: np.ndarray, w: np.ndarray, lift: Lift) -> np.ndarray:
    momenta = (w @ at.M) * S
    by_field = slopes @ lift.E + momenta @ lift.along
    turned = np.outer(momenta @ lift.E, w[lift.free] / S[lift.free])
    row = np.concatenate([(np.outer(by_field, at.q[lift.free] / S[lift.free]) + turned).ravel(), by_field])
    return row[None] / ((np.abs(row).max() + np.abs(turned).max()) or 1.0)


def _null(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An orthonormal basis of the null space, as rows, and of what is nearly null."""
    many = rows.shape[0] / rows.shape[1]
    if many > 1:
        rows = np.asarray(np.linalg.qr(rows, mode="r"))
    _, values, right = np.linalg.svd(rows, full_matrices=True)
    values = np.append(values, np.zeros(len(right) - len(values))) / np.sqrt(max(many, 1.0))
    return right[values < NULL], right[(values >= NULL) & (values < DOUBTFUL)]


def _beyond_translations(fields: np.ndarray, translations: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Fields that change velocities, and move nothing that translations move as well.

    Those that do not are translations, multiples of them by integrals of the constraints, or vanish on φ = 0."""
    n, own = speeds.shape[1], _turning(fields, speeds)
    if not len(own):
        return own
    own[:, n * n :] -= own[:, n * n :] @ translations.T @ translations
    order = np.r_[n * n : n * n + n, : n * n]  # first by the coordinates that turn with others
    return _echelon(own[:, order])[:, np.argsort(order)]


def _turning(fields: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Combinations of fields that change velocities."""
    n = speeds.shape[1]
    if not len(fields):
        return fields
    changed = np.einsum("fij,sj->fsi", fields[:, : n * n].reshape(-1, n, n), speeds).reshape(len(fields), -1)
    left, values, _ = np.linalg.svd(changed, full_matrices=False)
    return left[:, values > ACTS * np.sqrt(len(speeds))].T @ fields


def _echelon(rows: np.ndarray) -> np.ndarray:
    """The span of some rows by rows with a one each where the others have none, without rounding."""
    rows = rows.copy()
    used: list[int] = []
    for r in range(len(rows)):
        sizes = np.abs(rows[r:]).max(axis=0)
        sizes[used] = 0.0
        column = int(np.flatnonzero(sizes > 0.3 * sizes.max())[0])
        pivot = r + int(np.abs(rows[r:, column]).argmax())
        rows[[r, pivot]] = rows[[pivot, r]]
        rows[r] /= rows[r, column]
        others = np.arange(len(rows)) != r
        rows[others] -= np.outer(rows[others, column], rows[r])
        used.append(column)
    return np.where(np.abs(rows) < ACTS, 0.0, rows)
