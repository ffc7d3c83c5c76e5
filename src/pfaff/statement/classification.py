"""What kind of constraints a system has: holonomic or not, scleronomic or rheonomic, catastatic, redundant.

Real displacements obey A dq + b dt = 0, virtual ones A δq = 0: they are the same where b = 0 (catastatic constraints,
Pars 1965). All constraints stated are ideal: their reactions do no work in virtual displacements. Non-ideal effects,
such as friction, belong to ``forces`` or ``dissipation``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.statement.characteristic import identical
from pfaff.statement.integrability import closure, combined_integrals, integrable_rows, integrable_together, integral_of
from pfaff.statement.redundancy import trials
from pfaff.statement.told import told

if TYPE_CHECKING:
    from pfaff.statement.system import System

IDEAL = "ideal: reactions do no work in virtual displacements (friction would be a force or a dissipation)"


@dataclass(frozen=True)
class ConstraintClass:
    """One constraint; its row is ``factor`` times the differential of its integral, where both were found."""

    reaction: str
    expression: sm.Expr
    holonomic: bool
    integral: sm.Expr | None
    factor: sm.Expr | None
    scleronomic: bool
    catastatic: bool
    redundant: bool
    note: str
    name: str = ""

    @property
    def kind(self) -> str:
        return "holonomic" if self.holonomic else "nonholonomic"

    @property
    def words(self) -> tuple[str, ...]:
        """Reaction, kind, dependence on time, displacements and further remarks."""
        time = "scleronomic" if self.scleronomic else "rheonomic"
        same = "virtual = real" if self.catastatic else "virtual ≠ real"
        said = [self.note] * bool(self.note) + ["redundant"] * self.redundant
        return f"p_{self.name}" if self.name else self.reaction, self.kind, time, same, "; ".join(said)


@told
@dataclass(frozen=True, repr=False)
class Classification:
    """All constraints of a system, in the order of its reactions.

    ``freedom`` counts the independent velocities, ``dimension`` is that of the configuration space: the coordinates
    less the independent integrals of the constraints. ``combinations`` of these are integrals of no single row;
    ``integrals`` are those that were found.
    """

    system: str
    constraints: tuple[ConstraintClass, ...]
    freedom: int
    dimension: int
    combinations: int = 0
    integrals: tuple[sm.Expr, ...] = ()

    @property
    def holonomic(self) -> bool:
        """Whether every constraint is holonomic."""
        return all(c.holonomic for c in self.constraints)

    @property
    def scleronomic(self) -> bool:
        return all(c.scleronomic for c in self.constraints)

    @property
    def catastatic(self) -> bool:
        """Whether virtual displacements are possible real ones."""
        return all(c.catastatic for c in self.constraints)

    @property
    def ideal(self) -> str:
        return IDEAL if self.constraints else "no constraints"

    @property
    def redundant(self) -> tuple[str, ...]:
        """Reactions of the rows that follow from the others."""
        return tuple(c.reaction for c in self.constraints if c.redundant)

    @property
    def status(self) -> str:
        kind = "holonomic" if self.holonomic else "nonholonomic"
        time = "scleronomic" if self.scleronomic else "rheonomic"
        same = "coincide" if self.catastatic else "differ"
        return (
            f"{kind} and {time}, virtual and real displacements {same}; degrees of freedom {self.freedom}, "
            f"configuration space of dimension {self.dimension}{self._combined}"
        )

    @property
    def _combined(self) -> str:
        if not self.combinations:
            return ""
        rows = "combination of rows is" if self.combinations == 1 else "combinations of rows are"
        found = f": {', '.join(map(str, self.integrals))} constant" if self.integrals else ""
        return f", {self.combinations} {rows} integrable{found}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for files."""
        rows = [{k: str(v) if isinstance(v, sm.Basic) else v for k, v in asdict(c).items()} for c in self.constraints]
        words = ("status", "ideal", "freedom", "dimension", "holonomic", "scleronomic", "catastatic", "combinations")
        integrals = [str(each) for each in self.integrals]
        return {"constraints": rows, "integrals": integrals, **{word: getattr(self, word) for word in words}}

    def __str__(self) -> str:
        table = [c.words for c in self.constraints]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(w.ljust(n) for w, n in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([f"{self.system}: {self.status}", *lines, *([self.ideal] if table else [])])


def classify(system: System) -> Classification:
    """Frobenius' test on every row and on all of them, explicit time, b, and redundancy."""
    s, free = system.stated, system.stated.nonholonomic
    freedom = len(s.q) - len(system.statement.constraints)
    alone = integrable_rows(s, free)
    dimension = _dimension(system, alone)
    together = dimension == freedom if dimension is not None else integrable_together(s, free)
    back = {plain: original for original, plain in s.to_plain.items()}
    names = system.reaction_names
    stated = (*system.nonholonomic_constraints, *system.holonomic_constraints)
    own = {p: alias.removeprefix("p_") for alias, p in system.reaction_aliases.items()}
    found = []
    for k, expression in enumerate(stated):
        pair = integral_of(s, k) if k < free and alone[k] else None
        integral, factor = (each.xreplace(back) for each in pair) if pair else (None, None)
        if k >= free:
            integral, factor = expression, sm.Integer(1)
        still = s.constraints[k].xreplace(dict.fromkeys(s.v, sm.Integer(0)))
        holonomic, catastatic = k >= free or bool(alone[k]) or together, identical(still, sm.S.Zero)
        timed = s.time in (s.positions[k - free] if k >= free else s.constraints[k]).free_symbols
        found.append(
            ConstraintClass(
                reaction=names[k],
                expression=expression,
                holonomic=holonomic,
                integral=integral,
                factor=factor,
                scleronomic=not (timed or (holonomic and not catastatic)),  # with b dt the integral of a row has time
                catastatic=catastatic,
                redundant=k in system.redundant,
                name=own.get(names[k], ""),
                note=_note(k < free, bool(k < free and alone[k]), together, integral, factor),
            )
        )
    known = sum(c.holonomic for c in found if not c.redundant)
    if dimension is None or dimension > len(s.q) - known:
        dimension = len(s.q) - known
    combinations = len(s.q) - known - dimension
    rows = [k for k in range(free) if not found[k].holonomic and not found[k].redundant]
    integrals = [each.xreplace(back) for each in combined_integrals(s, rows)] if combinations else []
    return Classification(system.name, tuple(found), freedom, dimension, combinations, tuple(integrals))


def _dimension(system: System, alone: list[bool]) -> int | None:
    """The dimension of the configurations that can be reached, or None where no point of the constraints is found."""
    s, rows = system.stated, list(system.kept)
    if len(rows) < 2 or all(alone):
        return None  # Frobenius' test of the rows has settled it
    for trial in trials(s, system.parameters):
        x, holds = trial.zero
        if holds:
            return closure(s, rows, [*trial.sizes * x, trial.time], [*trial.sizes, trial.time], trial.parameters) - 1
    return None


def _note(velocity: bool, alone: bool, together: bool, integral: sm.Expr | None, factor: sm.Expr | None) -> str:
    if not velocity:
        return ""
    if integral is not None:
        divisor = f" after division by {factor}" if factor != 1 else ""
        return f"integrable (Frobenius): {integral} is constant{divisor}"
    if alone:
        return "integrable (Frobenius), no integral found"
    return "integrable together with the others (Frobenius)" if together else ""
