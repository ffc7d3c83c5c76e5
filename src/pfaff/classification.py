"""What kind of constraints a system has: holonomic or not, scleronomic or rheonomic, catastatic, redundant.

Real displacements obey A dq + b dt = 0, virtual ones A δq = 0: they are the same where b = 0 (catastatic constraints,
Pars 1965). All constraints stated are ideal: their reactions do no work in virtual displacements. What is not ideal,
such as friction, belongs to ``forces`` or ``dissipation``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import sympy as sm

from pfaff.integrability import integrable_rows, integrable_together, integral_of

if TYPE_CHECKING:
    from pfaff.system import System

IDEAL = "ideal: reactions do no work in virtual displacements (friction would be a force or a dissipation)"


@dataclass(frozen=True)
class ConstraintClass:
    """One constraint: ``factor`` times its integral's differential is the row, where both were found."""

    reaction: str
    expression: sm.Expr
    holonomic: bool
    integral: sm.Expr | None
    factor: sm.Expr | None
    scleronomic: bool
    catastatic: bool
    redundant: bool
    note: str

    @property
    def kind(self) -> str:
        return "holonomic" if self.holonomic else "nonholonomic"

    @property
    def words(self) -> tuple[str, ...]:
        """Reaction, kind, dependence on time, displacements and what else is to be said."""
        time = "scleronomic" if self.scleronomic else "rheonomic"
        same = "virtual = real" if self.catastatic else "virtual ≠ real"
        said = [self.note] * bool(self.note) + ["redundant"] * self.redundant
        return self.reaction, self.kind, time, same, "; ".join(said)


@dataclass(frozen=True)
class Classification:
    """All constraints of a system, in the order of its reactions.

    ``freedom`` counts the independent velocities, ``dimension`` is that of the configuration space: the coordinates
    less the independent holonomic constraints.
    """

    system: str
    constraints: tuple[ConstraintClass, ...]
    freedom: int
    dimension: int

    @property
    def holonomic(self) -> bool:
        """Whether every constraint is."""
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
            f"configuration space of dimension {self.dimension}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for files."""
        rows = [{k: str(v) if isinstance(v, sm.Basic) else v for k, v in asdict(c).items()} for c in self.constraints]
        words = ("status", "ideal", "freedom", "dimension", "holonomic", "scleronomic", "catastatic")
        return {"constraints": rows, **{word: getattr(self, word) for word in words}}

    def __str__(self) -> str:
        table = [c.words for c in self.constraints]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(w.ljust(n) for w, n in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([f"{self.system}: {self.status}", *lines, *([self.ideal] if table else [])])


def classify(system: System) -> Classification:
    """Frobenius' test on every row, explicit time, b, and redundancy."""
    s, free = system.statement, len(system.nonholonomic_constraints)
    alone = integrable_rows(s, free)
    together = integrable_together(s, free)
    back = {plain: original for original, plain in s.to_plain.items()}
    names = system.reaction_names
    stated = (*system.nonholonomic_constraints, *system.holonomic_constraints)
    found = []
    for k, expression in enumerate(stated):
        pair = integral_of(s, k) if k < free and alone[k] else None
        integral, factor = (each.xreplace(back) for each in pair) if pair else (None, None)
        if k >= free:
            integral, factor = expression, sm.Integer(1)
        still = s.constraints[k].xreplace(dict.fromkeys(s.v, sm.Integer(0)))
        found.append(
            ConstraintClass(
                reaction=names[k],
                expression=expression,
                holonomic=k >= free or bool(alone[k]) or together,
                integral=integral,
                factor=factor,
                scleronomic=s.time not in (s.positions[k - free] if k >= free else s.constraints[k]).free_symbols,
                catastatic=sm.simplify(still) == 0,
                redundant=k in system.redundant,
                note=_note(k < free, bool(k < free and alone[k]), together, integral, factor),
            )
        )
    independent = [c for c in found if not c.redundant]
    freedom = len(s.q) - len(independent)
    return Classification(system.name, tuple(found), freedom, len(s.q) - sum(c.holonomic for c in independent))


def _note(velocity: bool, alone: bool, together: bool, integral: sm.Expr | None, factor: sm.Expr | None) -> str:
    if not velocity:
        return ""
    if integral is not None:
        divisor = f" after division by {factor}" if factor != 1 else ""
        return f"integrable (Frobenius): {integral} is constant{divisor}"
    if alone:
        return "integrable (Frobenius), no integral found"
    return "integrable together with the others (Frobenius)" if together else ""
