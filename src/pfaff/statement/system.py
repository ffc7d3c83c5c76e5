"""A mechanical system, stated once: coordinates, energies, dissipation, forces, constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, overload

import sympy as sm

from pfaff import doors
from pfaff.errors import StatementError
from pfaff.statement.called import written
from pfaff.statement.characteristic import identical
from pfaff.statement.drawing import Drawing
from pfaff.statement.parameters import Parametrised, with_symbols
from pfaff.statement.particles import Particle
from pfaff.statement.plain_symbols import Statement
from pfaff.statement.quasi_velocities import stated_quasi_velocities
from pfaff.statement.reading import read, titled
from pfaff.statement.values import spelt
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pfaff.case import Case
    from pfaff.flow.flow import Flow
    from pfaff.principles import LagrangeEquations, Principle
    from pfaff.principles.comparison import Comparison
    from pfaff.principles.random_states import States
    from pfaff.statement.classification import Classification
    from pfaff.statement.reading import Relations
    from pfaff.statement.rod_frame import Station
    from pfaff.statement.rods import Rod


@spelt
@dataclass(frozen=True, eq=False)
class System(Parametrised):
    """A mechanical system with Pfaffian constraints.

    coordinates
        Functions of time, such as ``sympy.physics.mechanics.dynamicsymbols`` makes.
    kinetic, potential, dissipation
        T(q, q̇, t), at most quadratic in the velocities; V(q, t); Rayleigh's function D(q, q̇, t).
    forces
        Generalised forces by coordinate, for what has no potential: ``{theta1: -F*sin(...)}``.
    nonholonomic_constraints
        Expressions A(q, t) q̇ + b(q, t) that vanish; by name, ``{"blade": …}``, their reactions are also called
        ``p_blade``.
    holonomic_constraints
        Expressions φ(q, t) that vanish; they may have names, too.
    parameters
        Every other symbol with its default value; ``None`` where the user must give one. A symbol
        declared ``positive`` or ``nonnegative`` keeps that promise in every case.
    load
        The parameter that grows in a stability analysis.
    accept_integrable
        Take an integrable relation among the nonholonomic ones as it stands: its constant of integration
        is then left to the initial state, and equilibria come in families over it.
    accept_redundant
        Without effect: constraints that follow from the others, as those of two wheels on one axle do, are always
        accepted. The independent ones determine the motion, and all of them share the reactions, by least norm.
    rods
        Elastic rods as parts, ``pfaff.Rod``: their amplitudes are further coordinates, and the coordinates of their
        points may be written in every expression. Their energies come with them.
    particles
        Material points, for Newton's law and d'Alembert's principle. The kinetic energy may then be left out: it is
        theirs. Without potential, dissipation and forces the generalised forces are theirs, too; with them,
        the forces on the particles must be the same ones, or be left out.
    meanings
        What parameters, coordinates and quasi-velocities are, in words with their units: ``{F: "dead load [N]"}``.
    quasi_velocities
        Combinations of velocities by name, ``{"v": x.diff(t)*cos(phi) + y.diff(t)*sin(phi)}``: a forward speed that
        motions start from, ``simulate(10, v=1)``, that steady motions are fixed by and that pictures show.

    Expressions are SymPy's, or text in the names of the coordinates, velocities (``x_dot``), parameters and time:
    ``kinetic="m*x_dot**2/2"``. Text is read, never executed; ``pfaff.statement.expressions`` lists the functions it may
    contain.

    The equations are M q̈ + h + Aᵀp = 0 with A q̇ + b = 0: the reaction p multiplies +A on the
    left-hand side.
    """

    coordinates: Sequence[sm.Expr]
    kinetic: Any = None
    potential: Any = 0
    dissipation: Any = 0
    forces: Mapping[sm.Expr, Any] = field(default_factory=dict)
    nonholonomic_constraints: Sequence[Any] = ()
    holonomic_constraints: Sequence[Any] = ()
    parameters: Mapping[sm.Symbol, Any] = field(default_factory=dict)
    load: Any = None
    drawing: Drawing | None = None
    name: str = "system"
    accept_integrable: bool = False
    accept_redundant: bool = False
    particles: Sequence[Particle] = ()
    meanings: Mapping[Any, str] = field(default_factory=dict)
    rods: Sequence[Rod] = ()
    quasi_velocities: Mapping[str, Any] = field(default_factory=dict)
    needs_inertia: ClassVar[bool] = True

    def __post_init__(self) -> None:
        stated = [getattr(self, each.name) for each in fields(self) if each.init and each.name != "parameters"]
        object.__setattr__(self, "parameters", with_symbols(self.parameters, *stated))
        if not isinstance(self.rods, tuple | list) or self.rods:
            stated_quasi_velocities(self, {})
            doors.rod_frame.state_rods(self)
        else:
            read(self)

    stated: Statement = field(init=False, repr=False)  # with all constraints
    statement: Statement = field(init=False, repr=False)  # with those that are independent, as all analyses take it
    quasi_forms: Mapping[str, sm.Expr] = field(init=False, repr=False, default_factory=dict)  # in plain symbols
    redundant: tuple[int, ...] = field(init=False, repr=False)  # rows that follow from the others, counted from zero
    empty: tuple[int, ...] = field(init=False, repr=False)  # of these, rows that vanish identically
    frame: System | None = field(init=False, repr=False, default=None)  # with rods: the statement beside them
    stations: tuple[Station, ...] = field(init=False, repr=False, default=())  # points of rods that the frame uses

    @property
    def time(self) -> sm.Symbol:
        return self.coordinates[0].args[0]

    @cached_property
    def acting(self) -> frozenset[sm.Symbol]:
        """The symbols that energies, forces and constraints depend on."""
        s = self.statement
        stated = (s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints, *s.positions)
        return frozenset().union(*(each.free_symbols for each in stated))

    @cached_property
    def autonomous(self) -> bool:
        """Whether time appears in the coordinates only, or by a uniform motion of the constraints alone."""
        return self.time not in self.acting or bool(self.uniform_motion)

    @cached_property
    def uniform_motion(self) -> tuple[sm.Expr, ...]:
        """Velocities of coordinates in which constraints such as X − v t = 0 rest and time appears nowhere, if there
        are such."""
        return doors.uniform_motion.uniform_motion(self)

    @cached_property
    def demanding(self) -> tuple[bool, ...]:
        """Which constraints demand something of what rests, in coordinates that move along with them if they move."""
        s, w = self.statement, self.uniform_motion
        if not w:
            return s.demanding
        along = {**dict(zip(s.v, w, strict=True)), s.time: sm.S.Zero}
        demands = (not identical(c.xreplace(along), sm.S.Zero) for c in s.constraints)
        return tuple(k < s.nonholonomic and each for k, each in enumerate(demands))

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(q.func.__name__ for q in self.coordinates)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(f"{name}_dot" for name in self.coordinate_names)

    @property
    def state_names(self) -> tuple[str, ...]:
        """Coordinates, then velocities."""
        return (*self.coordinate_names, *self.velocity_names)

    @property
    def moving_names(self) -> tuple[str, ...]:
        """Coordinates, velocities, and quasi-velocities that are stated."""
        return (*self.state_names, *self.quasi_velocities)

    @cached_property
    def words(self) -> dict[str, sm.Expr]:
        """What names in a text stand for: coordinates, velocities (``x_dot``), quasi-velocities, parameters, time."""
        return self._own_words() | dict(self.quasi_velocities)

    def _own_words(self) -> dict[str, sm.Expr]:
        """These words without quasi-velocities, which are stated in them."""
        velocities = zip(self.velocity_names, (q.diff(self.time) for q in self.coordinates), strict=True)
        stated = dict(zip(self.coordinate_names, self.coordinates, strict=True)) | {p.name: p for p in self.parameters}
        return {self.time.name: self.time} | dict(velocities) | stated

    @property
    def reaction_names(self) -> tuple[str, ...]:
        """``p`` for a single constraint, ``p1, p2, …`` for several: nonholonomic ones first."""
        count = len(self.nonholonomic_constraints) + len(self.holonomic_constraints)
        return ("p",) if count == 1 else tuple(f"p{k + 1}" for k in range(count))

    @property
    def constraint_titles(self) -> tuple[str, ...]:
        """Every constraint for a message, by its name or its number: nonholonomic ones first."""
        kinds = ("nonholonomic", "holonomic")
        rows = (
            (kind, k, label) for kind in kinds for k, label in enumerate(getattr(self, f"{kind}_constraints").labels)
        )
        return tuple(titled(*row) for row in rows)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The independent constraints among all that are stated, counted from zero."""
        return tuple(k for k in range(len(self.stated.constraints)) if k not in self.redundant)

    @cached_property
    def independent_reactions(self) -> tuple[str, ...]:
        """The names of the reactions of the independent constraints."""
        return tuple(self.reaction_names[k] for k in self.kept)

    @cached_property
    def reaction_aliases(self) -> dict[str, str]:
        """``p_blade`` for the reaction of a constraint that was given the name blade."""
        labels = [
            label for kind in ("nonholonomic", "holonomic") for label in getattr(self, f"{kind}_constraints").labels
        ]
        return {f"p_{label}": name for label, name in zip(labels, self.reaction_names, strict=True) if label}

    def use_of(self, name: str) -> str:
        given = written(name)
        if name in self.coordinate_names:
            return f"it is a coordinate, from which motions start, simulate(10, {given}), and that equilibria fix"
        if name in self.moving_names:
            what = "quasi-velocity" if name in self.quasi_velocities else "velocity"
            return f"it is a {what}, from which motions start, simulate(10, {given}), and that steady({given}) fixes"
        if name in self.reaction_names or name in self.reaction_aliases:
            return f"it is a reaction, of motions and equilibria, motion[{name!r}], and fixed by equilibrium({given})"
        if f"p_{name}" in self.reaction_aliases:
            return f"it is a constraint, whose reaction is called p_{name}"
        return super().use_of(name)

    def __getattr__(self, name: str) -> Any:
        """Answer names of analyses, which need numbers: they are methods of a case."""
        raise self._unbound(name, doors.case.Case)

    @property
    def states_forces(self) -> bool:
        """Whether potential, dissipation or generalised forces are stated; if not, those of the particles act."""
        return bool(self.potential != 0 or self.dissipation != 0 or self.forces)

    def by_energies(self) -> System:
        """The same system without particles: what they imply is stated as kinetic energy and generalised forces."""
        if not self.particles:
            return self
        stated = {plain: original for original, plain in self.statement.to_plain.items()}
        forces = zip(self.coordinates, self.statement.forces, strict=True)
        return replace(
            self,
            kinetic=self.statement.kinetic.xreplace(stated),
            forces={q: force.xreplace(stated) for q, force in forces if force != 0},
            particles=(),
        )

    def at(self, /, *unnamed: Any, **values: Any) -> Case:
        """This system with numbers for its parameters: an immutable case, ready for analysis."""
        return doors.case.Case(self, self.defaults).at(*unnamed, **values)

    @overload
    def equations(self, principle: Literal["lagrange"] = "lagrange") -> LagrangeEquations: ...
    @overload
    def equations(self, principle: str, quasi_velocities: Mapping[str, Any] | None = None) -> Principle: ...
    def equations(self, principle: str = "lagrange", quasi_velocities: Mapping[str, Any] | None = None) -> Principle:
        """The equations of motion by a principle of mechanics, as SymPy matrices, LaTeX and a flow.

        ``"lagrange"``, ``"appell"``, ``"hamilton"``, and with particles ``"dalembert"`` and ``"newton"``.
        Quasi-velocities may be chosen for Appell's, by name or as a list: expressions linear in the velocities, or the
        names of those that the system states.
        """
        doors.principles.check_principle(principle)
        self.check_written_out()
        if quasi_velocities is None:
            return doors.principles.derive(self, principle)
        if principle != "appell":
            raise StatementError(f"quasi-velocities are for principle 'appell', not {principle!r}: leave them out")
        return doors.principles.derive(self, principle, quasi_velocities=quasi_velocities)

    def compare(self, states: int = 32, seed: int = 0, near: Mapping[str, float] | None = None) -> Comparison:
        """The principles of mechanics side by side: sizes, costs, and agreement at random states, or ``near`` one."""
        self.check_written_out()
        return doors.comparison.compare(self, states, seed, near)

    def random_states(self, states: int = 32, seed: int = 0, near: Mapping[str, float] | None = None) -> States:
        """Seeded random states that obey the constraints, or ``near`` one, with parameters near their defaults."""
        return doors.random_states.random_states(self, states, seed, near)

    @cached_property
    def classification(self) -> Classification:
        """The kind of every constraint: holonomic, scleronomic, catastatic, redundant; ``print`` shows a table."""
        return doors.classification.classify(self)

    @cached_property
    def independent(self) -> System:
        """The same system without its redundant constraints: the same motions, the reactions of the others unique."""
        if not self.redundant:
            return self
        s = self.stated.nonholonomic
        return replace(
            self,
            nonholonomic_constraints=cast("Relations", self.nonholonomic_constraints).without(self.redundant),
            holonomic_constraints=cast("Relations", self.holonomic_constraints).without(
                [k - s for k in self.redundant]
            ),
        )

    def check_written_out(self) -> None:
        """Refuse analyses that need formulas where rods are evaluated by structure."""
        if self.rods:
            raise StatementError(
                f"{self.name} has rods, whose equations are evaluated by structure and not written out: state a chain "
                "of bars, as atlas.column, where formulas are needed"
            )

    @cached_property
    def flow(self) -> Flow:
        """The equations of motion in all coordinates and velocities."""
        return doors.lowering.full_flow(self)

    @cached_property
    def shape(self) -> Flow:
        """The equations of motion on shape space: no ignorable coordinates, no dependent velocities."""
        return doors.lowering.shape_flow(self)

    def _repr_markdown_(self) -> str:
        """In a notebook: energies and constraints as formulas."""
        return doors.draw.system_markdown(self)

    def plot(self) -> Figure:
        """The structure as it is drawn, with its coordinates, loads and constraints; what has no value counts as 1."""
        given = {name: 1 for name, value in self.defaults.items() if value is None}
        load = {self.load.name: 1} if self.load is not None and self.defaults.get(self.load.name) == 0 else {}
        return self.at(**(given | load)).plot()

    def __repr__(self) -> str:
        return (
            f"<System {self.name!r}: coordinates {', '.join(self.coordinate_names)}; "
            f"{len(self.nonholonomic_constraints)} nonholonomic, {len(self.holonomic_constraints)} holonomic "
            f"constraints; parameters {', '.join(self.parameter_names)}>"
        )
