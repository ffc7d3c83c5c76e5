"""A mechanical system, stated once: coordinates, energies, dissipation, forces, constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
import sympy as sm

from pfaff.errors import ConstraintError, RankError, StatementError
from pfaff.statement.characteristic import characteristic
from pfaff.statement.evaluation import evaluated
from pfaff.statement.expressions import expressed
from pfaff.statement.integrability import first_integrable, integrable_together
from pfaff.statement.names import checked_name, checked_title
from pfaff.statement.parameters import Parametrised, check_symbols, checked_load, checked_parameters, scalar
from pfaff.statement.particles import Particle, checked_particles, generalised_forces, kinetic_energy, plain_particle
from pfaff.statement.redundancy import dependence
from pfaff.statement.rods import Rod, Station, state_rods
from pfaff.statement.values import by_name, listed, one_of, shown, truth
from pfaff.threads import cached_property

if TYPE_CHECKING:
    from pfaff.case import Case
    from pfaff.flow.flow import Flow
    from pfaff.principles import LagrangeEquations, Principle
    from pfaff.principles.comparison import Comparison
    from pfaff.statement.classification import Classification


TIME = sm.Symbol("t")
ENERGIES = {"kinetic": "the kinetic energy", "potential": "the potential", "dissipation": "the dissipation"}
ROUNDING = 1e-9  # of the differences of a polynomial, relative to its values


def coordinates(names: str) -> list[sm.Expr]:
    """Functions of time for coordinates, ``coordinates("x y phi")``.

    The same objects as SymPy's ``dynamicsymbols`` makes, without loading its mechanics package.
    """
    if not isinstance(names, str):
        raise StatementError(f"coordinates({shown(names)}): write their names in one text, coordinates('x y phi')")
    words = [checked_name(name, "coordinate") for name in names.replace(",", " ").split()]
    return [sm.Function(name)(TIME) for name in words]


MARKS = ("block", "hinge", "wheel", "bow", "contact", "cylinder", "mass", "ground", "wall")


@dataclass(frozen=True)
class Drawing:
    """How to draw a system: named points, links between them, and marks on points.

    Points are pairs of expressions in the coordinates, parameters and time; ``links`` join them as rigid bars,
    ``springs`` as springs. Marks name a symbol for a point: ``"block"`` (slides on the ground), ``"ground"`` (a
    fixed hinge), ``"wall"``, ``"hinge"``, ``"mass"``, ``"wheel"`` (its axle along the angle), ``"bow"`` (the head of a
    T whose stem has the angle, long enough to reach a ``"contact"``) or ``"cylinder"`` (its axis along the
    angle, rolled by the bow). The angle of a mark, if not zero, is in ``angles``.

    ``circles`` are round bodies about points, by their radii, drawn to scale; ``outlines`` are closed curves through
    points, such as the rim of a wheel in space. ``arrows`` are forces at points, pairs of expressions too. Of the
    points in ``traced`` the path is shown; if there is none, of the last point.
    """

    points: Mapping[str, Any]
    links: Sequence[tuple[str, str]] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    angles: Mapping[str, Any] = field(default_factory=dict)
    springs: Sequence[tuple[str, str]] = ()
    circles: Mapping[str, Any] = field(default_factory=dict)
    outlines: Sequence[Sequence[str]] = ()
    arrows: Mapping[str, Any] = field(default_factory=dict)
    traced: Sequence[str] = ()

    def __post_init__(self) -> None:
        for kind in ("points", "marks", "angles", "circles", "arrows"):
            by_name(kind, getattr(self, kind), "{'end': …}", StatementError)
        if not self.points:
            raise StatementError("a drawing needs at least one point, such as points={'end': (x, y)}")
        for kind in ("links", "springs", "outlines"):
            for group in listed(kind, getattr(self, kind), "[('base', 'end')]", StatementError):
                listed(f"each of {kind}", group, "('base', 'end')", StatementError)
        listed("traced", self.traced, "['end']", StatementError)
        ends = (name for group in (*self.links, *self.springs, *self.outlines) for name in group)
        for name in (*ends, *self.marks, *self.angles, *self.circles, *self.arrows, *self.traced):
            one_of(self.points, name, "the drawing has no point", StatementError)
        for mark in self.marks.values():
            one_of(MARKS, mark, "unknown mark", StatementError)
        for name in self.points:
            checked_title(name, "point of a drawing")
        if not self.traced:
            object.__setattr__(self, "traced", (list(self.points)[-1],))

    def read(self, known: Mapping[str, sm.Expr]) -> Drawing:
        """The same drawing with its texts read in known names."""

        def spelled(given: Any, name: str) -> Any:
            if isinstance(given, str):
                return expressed(given, known, f"the drawing of {name!r}")
            return tuple(spelled(each, name) for each in given) if isinstance(given, list | tuple) else given

        def all_of(group: Mapping[str, Any]) -> dict[str, Any]:
            return {name: spelled(given, name) for name, given in group.items()}

        points, angles, circles, arrows = map(all_of, (self.points, self.angles, self.circles, self.arrows))
        return replace(self, points=points, angles=angles, circles=circles, arrows=arrows)


@dataclass(frozen=True)
class Statement:
    """A system in plain symbols: q for coordinates, v for velocities, time as itself.

    ``constraints`` are velocity-level expressions c(q, v, t) = A v + b: the nonholonomic ones
    first, then the time derivatives of the holonomic ``positions`` φ(q, t). Energies and forces that were left out
    are those of the ``particles``.
    """

    q: tuple[sm.Symbol, ...]
    v: tuple[sm.Symbol, ...]
    time: sm.Symbol
    kinetic: sm.Expr
    potential: sm.Expr
    dissipation: sm.Expr
    forces: tuple[sm.Expr, ...]
    constraints: tuple[sm.Expr, ...]
    positions: tuple[sm.Expr, ...]
    particles: tuple[Particle, ...]
    to_plain: Mapping[sm.Basic, sm.Basic]

    @property
    def demanding(self) -> tuple[bool, ...]:
        """Which constraints A v + b have a b, and demand something where nothing moves."""
        rest = dict.fromkeys(self.v, sm.S.Zero)
        return tuple(constraint.xreplace(rest) != 0 for constraint in self.constraints)


@dataclass(frozen=True)
class RodStatement(Statement):
    """Of a system with rods: formulas in the coordinates of its frame, energies of the rods by name only."""

    frame: Statement

    @property
    def demanding(self) -> tuple[bool, ...]:
        return self.frame.demanding


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
        Expressions A(q, t) q̇ + b(q, t) that vanish.
    holonomic_constraints
        Expressions φ(q, t) that vanish.
    parameters
        Every other symbol with its default value; ``None`` where the user must give one. A symbol
        declared ``positive`` or ``nonnegative`` keeps that promise in every case.
    load
        The parameter that grows in a stability analysis.
    accept_integrable
        Take an integrable relation among the nonholonomic ones as it stands: its constant of integration
        is then left to the initial state, and equilibria come in families over it.
    accept_redundant
        Keep constraints that follow from the others. Their reactions are then not unique: ``simulate`` uses the
        augmented Lagrangian and gives those of least norm, other analyses ask for ``system.independent``.
    rods
        Elastic rods as parts, ``pfaff.Rod``: their amplitudes are further coordinates, and the coordinates of their
        points may be written in every expression. Their energies come with them.
    particles
        Material points, for Newton's law and d'Alembert's principle. The kinetic energy may then be left out: it is
        theirs. Without potential, dissipation and forces the generalised forces are theirs, too; with them,
        the forces on the particles must be the same ones, or be left out.

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
    rods: Sequence[Rod] = ()
    needs_inertia: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.rods:
            state_rods(self)
            return
        normalise = object.__setattr__
        normalise(self, "name", checked_title(self.name, "name of a system"))
        normalise(self, "coordinates", _coordinates(self.coordinates))
        normalise(self, "parameters", _parameters(self))
        normalise(self, "nonholonomic_constraints", _relations(self, "nonholonomic"))
        normalise(self, "holonomic_constraints", _relations(self, "holonomic"))
        normalise(self, "particles", checked_particles(self.particles, self.words))
        _check_names(self)
        if self.kinetic is None and not self.particles:
            if self.needs_inertia:
                raise StatementError(
                    "the system has no inertia: state the kinetic energy, or particles to derive it from"
                )
            normalise(self, "kinetic", sm.S.Zero)
        for energy, where in ENERGIES.items():
            if getattr(self, energy) is not None:
                normalise(self, energy, expressed(getattr(self, energy), self.words, where))
        normalise(self, "forces", _forces(self))
        truth("accept_integrable", self.accept_integrable)
        truth("accept_redundant", self.accept_redundant)
        if self.drawing is not None and not isinstance(self.drawing, Drawing):
            raise StatementError(f"drawing={shown(self.drawing)}: give a pfaff.Drawing, or leave it out")
        if self.drawing is not None:
            normalise(self, "drawing", self.drawing.read(self.words))
        normalise(self, "load", checked_load(self.load, self.parameters))
        normalise(self, "statement", _statement(self))
        _check_degrees(self)
        normalise(self, "redundant", _redundant_constraints(self))
        _check_integrability(self)
        if self.particles:
            from pfaff.statement.descriptions import check_descriptions

            check_descriptions(self)

    statement: Statement = field(init=False, repr=False)
    redundant: tuple[int, ...] = field(init=False, repr=False)  # rows that follow from the others, from zero
    frame: System | None = field(init=False, repr=False, default=None)  # of a system with rods, beside them
    stations: tuple[Station, ...] = field(init=False, repr=False, default=())  # points of rods that the frame knows

    @property
    def time(self) -> sm.Symbol:
        return self.coordinates[0].args[0]

    @cached_property
    def autonomous(self) -> bool:
        """Whether time appears in nothing but the coordinates."""
        s = self.statement
        stated = (s.kinetic, s.potential, s.dissipation, *s.forces, *s.constraints)
        return not any(self.time in each.free_symbols for each in stated)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(q.func.__name__ for q in self.coordinates)

    @cached_property
    def words(self) -> dict[str, sm.Expr]:
        """What names in a text stand for: coordinates, velocities (``x_dot``), parameters and the time."""
        velocities = {f"{q.func.__name__}_dot": q.diff(self.time) for q in self.coordinates}
        stated = {q.func.__name__: q for q in self.coordinates} | {p.name: p for p in self.parameters}
        return {self.time.name: self.time} | velocities | stated

    @property
    def reaction_names(self) -> tuple[str, ...]:
        """``p`` for a single constraint, ``p1, p2, …`` for several: nonholonomic ones first."""
        count = len(self.nonholonomic_constraints) + len(self.holonomic_constraints)
        return ("p",) if count == 1 else tuple(f"p{k + 1}" for k in range(count))

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

    def at(self, /, **values: Any) -> Case:
        """This system with numbers for its parameters: an immutable case, ready for analysis."""
        from pfaff.case import Case

        return Case(self, self.defaults).at(**values)

    @overload
    def equations(self, principle: Literal["lagrange"] = "lagrange") -> LagrangeEquations: ...
    @overload
    def equations(self, principle: str, quasi_velocities: Mapping[str, Any] | None = None) -> Principle: ...
    def equations(self, principle: str = "lagrange", quasi_velocities: Mapping[str, Any] | None = None) -> Principle:
        """The equations of motion by a principle of mechanics, as SymPy matrices, LaTeX and a compiled flow.

        ``"lagrange"``, ``"appell"``, ``"hamilton"``, and with particles ``"dalembert"`` and ``"newton"``.
        Quasi-velocities may be chosen for Appell's, by name: expressions linear in the velocities.
        """
        from pfaff.principles import PRINCIPLES, derive

        one_of(PRINCIPLES, principle, "unknown principle", StatementError)
        self.check_written_out()
        self.check_independent()
        if quasi_velocities is None:
            return derive(self, principle)
        if principle != "appell":
            raise StatementError(f"quasi-velocities are for principle 'appell', not {principle!r}: leave them out")
        return derive(self, principle, quasi_velocities=quasi_velocities)

    def compare(self, states: int = 32, seed: int = 0, near: Mapping[str, float] | None = None) -> Comparison:
        """The principles of mechanics side by side: sizes, costs, and agreement at random states, or ``near`` one."""
        from pfaff.principles.comparison import compare

        self.check_written_out()
        return compare(self, states, seed, near)

    @cached_property
    def classification(self) -> Classification:
        """The kind of every constraint: holonomic, scleronomic, catastatic, redundant; ``print`` shows a table."""
        from pfaff.statement.classification import classify

        return classify(self)

    @cached_property
    def independent(self) -> System:
        """The same system without its redundant constraints: the same motions, the reactions of the others unique."""
        if not self.redundant:
            return self
        s = len(self.nonholonomic_constraints)
        kept = [c for k, c in enumerate(self.nonholonomic_constraints) if k not in self.redundant]
        held = [c for k, c in enumerate(self.holonomic_constraints, start=s) if k not in self.redundant]
        return replace(self, nonholonomic_constraints=kept, holonomic_constraints=held, accept_redundant=False)

    def check_written_out(self) -> None:
        """Refuse what needs formulas where rods are evaluated by structure."""
        if self.rods:
            raise StatementError(
                f"{self.name} has rods, whose equations are evaluated by structure and not written out: state a chain "
                "of bars, as atlas.column, where formulas are needed"
            )

    def check_independent(self) -> None:
        """Refuse what needs unique reactions where constraints are redundant."""
        if self.redundant:
            be, these = ("is", "it") if len(self.redundant) == 1 else ("are", "them")
            raise RankError(
                f"{_rows(self.redundant)} of {self.name} {be} redundant, so that the reactions are not unique: analyse "
                f"system.independent, without {these}, or simulate with method='augmented'"
            )

    @cached_property
    def flow(self) -> Flow:
        """The compiled equations of motion in all coordinates and velocities."""
        from pfaff.flow.flow import full_flow

        return full_flow(self)

    @cached_property
    def shape(self) -> Flow:
        """The compiled equations of motion on shape space: no ignorable coordinates, no dependent velocities."""
        from pfaff.flow.flow import shape_flow

        return shape_flow(self)

    def __repr__(self) -> str:
        return (
            f"<System {self.name!r}: coordinates {', '.join(self.coordinate_names)}; "
            f"{len(self.nonholonomic_constraints)} nonholonomic, {len(self.holonomic_constraints)} holonomic "
            f"constraints; parameters {', '.join(self.parameter_names)}>"
        )


class Frame(System):
    """What a system with rods states beside them, in its own coordinates and those of points of rods."""

    needs_inertia = False


def _coordinates(given: Sequence[sm.Expr]) -> tuple[sm.Expr, ...]:
    coordinates = listed("coordinates", given, "dynamicsymbols('x y')", StatementError)
    if not coordinates:
        raise StatementError("a system needs at least one coordinate, such as dynamicsymbols('theta')")
    for q in coordinates:
        if not (isinstance(q, sm.core.function.AppliedUndef) and len(q.args) == 1):
            name = q if isinstance(q, str | sm.Symbol) and str(q).isidentifier() else "x"
            raise StatementError(
                f"coordinate {shown(q)} is not a function of time: make it with dynamicsymbols('{name}')"
            )
    if len({q.args[0] for q in coordinates}) > 1:
        raise StatementError("the coordinates depend on different times: use one time symbol for all")
    checked_name(str(coordinates[0].args[0]), "time")
    names = [checked_name(q.func.__name__, "coordinate") for q in coordinates]
    for name in names:
        if name.removesuffix("_dot") in names and name.endswith("_dot"):
            raise StatementError(f"coordinate {name!r} has the name of a velocity: rename it")
        if names.count(name) > 1:
            raise StatementError(f"coordinate {name!r} is listed twice: give each coordinate its own name")
    return coordinates


def _parameters(system: System) -> dict[sm.Symbol, Any]:
    names = system.coordinate_names
    taken = {*names, *(f"{name}_dot" for name in names)}
    parameters = checked_parameters(system.parameters, taken, "a coordinate or velocity")
    if system.time in parameters:
        raise StatementError(f"parameter {system.time.name!r} is the time: rename it")
    return parameters


def _forces(system: System) -> dict[sm.Expr, sm.Expr]:
    if not isinstance(system.forces, Mapping):
        raise StatementError("forces must be given by coordinate: forces={theta: -F*sin(theta)}")
    return {q: expressed(force, system.words, f"the force on {shown(q)}") for q, force in system.forces.items()}


def _relations(system: System, kind: str) -> tuple[sm.Expr, ...]:
    """Expressions that vanish; an equation counts as left side minus right side."""
    given = getattr(system, f"{kind}_constraints")
    given = listed(f"{kind}_constraints", given, "[expression]", StatementError)
    relations = [expressed(each, system.words, f"{kind} constraint {k + 1}") for k, each in enumerate(given)]
    return tuple(each.lhs - each.rhs if isinstance(each, sm.Equality) else each for each in relations)


def _check_names(system: System) -> None:
    """Reactions are called p, or p1, p2, …: nothing else may be, where there are constraints."""
    if not (system.nonholonomic_constraints or system.holonomic_constraints):
        return
    for name in (*system.coordinate_names, *system.parameter_names):
        if name in system.reaction_names:
            raise StatementError(f"{name!r} is the name of a reaction: rename the coordinate or parameter")


def _statement(system: System) -> Statement:
    t = system.time
    plain_q = tuple(sm.Symbol(name, real=True) for name in system.coordinate_names)
    plain_v = tuple(sm.Symbol(f"{name}_dot", real=True) for name in system.coordinate_names)
    velocities = {sm.Derivative(q, t): v for q, v in zip(system.coordinates, plain_v, strict=True)}
    positions = dict(zip(system.coordinates, plain_q, strict=True))
    known = {*plain_q, *plain_v, *system.parameters, t}

    def plain(expression: Any, where: str) -> sm.Expr:
        expression = scalar(expression, where)
        if any(d not in velocities for d in expression.atoms(sm.Derivative)):
            expression = expression.doit()
        expression = expression.xreplace(velocities).xreplace(positions)
        for leftover in sorted(expression.atoms(sm.Derivative, sm.core.function.AppliedUndef), key=str):
            raise StatementError(
                f"{where} contains {leftover}, which is neither a coordinate nor a velocity of this system: "
                "add it to the coordinates, or write it as an expression in time"
            )
        check_symbols(expression, known, system.parameters, where)
        return expression

    for coordinate in system.forces:
        if coordinate not in system.coordinates:
            names = ", ".join(system.coordinate_names)
            raise StatementError(
                f"forces names {shown(coordinate)}, which is not a coordinate; the coordinates are {names}"
            )
    phi = tuple(plain(c, f"holonomic constraint {k + 1}") for k, c in enumerate(system.holonomic_constraints))
    for k, expression in enumerate(phi):
        if expression.free_symbols & set(plain_v):
            raise ConstraintError(
                f"holonomic constraint {k + 1} contains velocities: move it to nonholonomic_constraints"
            )
        if not expression.free_symbols & set(plain_q):
            raise ConstraintError(f"holonomic constraint {k + 1}, {expression}, contains no coordinate: remove it")
    rates = tuple(sum((sm.diff(f, q) * v for q, v in zip(plain_q, plain_v, strict=True)), sm.diff(f, t)) for f in phi)
    pfaffian = tuple(
        plain(c, f"nonholonomic constraint {k + 1}") for k, c in enumerate(system.nonholonomic_constraints)
    )
    moving = {*plain_q, *plain_v, t}
    particles = tuple(plain_particle(k + 1, p, plain, moving, set(plain_v)) for k, p in enumerate(system.particles))
    derived = system.kinetic is None
    kinetic = kinetic_energy(particles, plain_q, plain_v, t) if derived else plain(system.kinetic, "the kinetic energy")
    stated_forces = tuple(
        plain(system.forces.get(q, 0), f"the force on {name}")
        for q, name in zip(system.coordinates, system.coordinate_names, strict=True)
    )
    return Statement(
        q=plain_q,
        v=plain_v,
        time=t,
        kinetic=kinetic,
        potential=plain(system.potential, "the potential"),
        dissipation=plain(system.dissipation, "the dissipation"),
        forces=stated_forces if system.states_forces else generalised_forces(particles, plain_q),
        constraints=pfaffian + rates,
        positions=phi,
        particles=particles,
        to_plain={**velocities, **positions},
    )


def polynomial_degree(expression: sm.Expr, variables: Iterable[sm.Symbol]) -> float:
    """The degree of an expression in some variables, read off its tree; infinite if not polynomial."""
    wanted = frozenset(variables)

    def degree(e: sm.Basic) -> float:
        if not (e.free_symbols & wanted):
            return 0
        if e in wanted:
            return 1
        if isinstance(e, sm.Add):
            return max(map(degree, e.args))
        if isinstance(e, sm.Mul):
            return sum(map(degree, e.args))
        if isinstance(e, sm.Pow) and e.exp.is_Integer and e.exp > 0:
            return int(e.exp) * degree(e.base)
        return float("inf")

    return degree(expression)


def _true_degree(expression: sm.Expr, variables: tuple[sm.Symbol, ...], allowed: int) -> float:
    """The degree; where the tree alone says too much, seen in numbers: differences beyond it vanish along any line."""
    degree = polynomial_degree(expression, variables)
    if degree <= allowed:
        return degree
    symbols = sorted(expression.free_symbols, key=str)
    sizes, generator = characteristic([expression], symbols, {}).usual, np.random.default_rng(1949)
    steps, vanishing = np.arange(allowed + 2), set(range(allowed + 1))
    seen = False
    for size in (1.4, 0.7, 0.3, 0.1):
        x, along = sizes * generator.uniform(0.2 * size, size, (2, len(symbols)))
        at = {e: x[k] + along[k] * steps * (e in variables) for k, e in enumerate(symbols)}
        (values,) = evaluated([expression], at)
        if np.isfinite(values).all():
            seen, least = True, ROUNDING * np.abs(values).max()
            vanishing = {d for d in vanishing if np.abs(np.diff(values, d + 1)).max() <= least}
    return min(vanishing, default=float("inf")) if seen else degree


def _check_degrees(system: System) -> None:
    s = system.statement
    if _true_degree(s.kinetic, s.v, 2) > 2:
        raise StatementError("the kinetic energy is not quadratic in the velocities: check its terms in q̇")
    if system.needs_inertia and polynomial_degree(s.kinetic, s.v) < 1:
        raise StatementError("the kinetic energy contains no velocity: write it with coordinate.diff(t)")
    if s.potential.free_symbols & set(s.v):
        raise StatementError("the potential contains velocities: put velocity-dependent terms in forces or dissipation")
    for k, constraint in enumerate(s.constraints[: len(system.nonholonomic_constraints)]):
        degree = _true_degree(constraint, s.v, 1)
        if degree > 1:
            raise ConstraintError(
                f"nonholonomic constraint {k + 1} is not linear in the velocities: only Pfaffian constraints "
                "A(q, t) q̇ + b(q, t) = 0 are ideal in the sense of d'Alembert"
            )
        if degree == 0:
            raise ConstraintError(
                f"nonholonomic constraint {k + 1} contains no velocity: move it to holonomic_constraints"
            )


def _redundant_constraints(system: System) -> tuple[int, ...]:
    s = system.statement
    n, m = len(s.q), len(s.constraints)
    found = dependence(s, system.parameters)
    if found.contradictory:
        raise ConstraintError(
            f"{_rows(found.contradictory)} contradict each other, no motion obeys them all: remove or correct one"
        )
    if not found.redundant or system.accept_redundant:
        return found.redundant
    keep = "set accept_redundant=True to keep it (simulated by method='augmented', reactions not unique)"
    if m > n:
        raise ConstraintError(
            f"{m} constraints on {n} coordinates: at most {n} can be independent, remove {m - n} or more of "
            f"{_rows(found.redundant)}, or {keep}"
        )
    raise ConstraintError(
        f"{_rows(found.redundant)} is a combination of the others wherever they hold: remove it, or {keep}"
    )


def _rows(rows: Sequence[int]) -> str:
    return f"constraint{'s' if len(rows) > 1 else ''} {', '.join(str(row + 1) for row in rows)}"


def _check_integrability(system: System) -> None:
    s = system.statement
    if system.accept_integrable:
        return
    if integrable_together(s, len(system.nonholonomic_constraints)):
        raise ConstraintError(
            "the nonholonomic constraints are integrable together (Frobenius), hence holonomic: state their integrals "
            "in holonomic_constraints, or set accept_integrable=True to leave the constants of integration free"
        )
    found = first_integrable(s, len(system.nonholonomic_constraints))
    if found is not None:
        row, integral = found
        back = {plain: original for original, plain in s.to_plain.items()}
        form = f"holonomic_constraints=[{integral.xreplace(back)}]" if integral is not None else "its integrated form"
        raise ConstraintError(
            f"nonholonomic constraint {row + 1} is integrable (Frobenius), hence holonomic: "
            f"state it as {form}, up to a constant, or set accept_integrable=True to leave that constant free"
        )
