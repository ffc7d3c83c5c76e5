"""Normal forms of special points of equilibria: what happens there, by its coefficient and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff import doors
from pfaff.algebra.bordering import balanced
from pfaff.algebra.structural_zeros import Deflation
from pfaff.algebra.tolerances import EPS
from pfaff.bifurcation.equilibria.eigenvalues import axis_pairs, imaginary, met
from pfaff.bifurcation.equilibria.full_balance import full_balance
from pfaff.bifurcation.equilibria.many_states.sparse_equations import SparseRestEquations
from pfaff.bifurcation.equilibria.zero_forms import fold_coefficient
from pfaff.continuation.dense import Spot
from pfaff.continuation.kinds import MULTIPLE, Kind, kind_of
from pfaff.errors import PfaffError

if TYPE_CHECKING:
    from pfaff.bifurcation.equilibria.rest_equations import RestEquations
    from pfaff.bifurcation.hopf.hopf import Hopf

NAN = float("nan")
MEET = "two frequencies meet and leave the imaginary axis"
UNSURE = 1e-7  # error of a load by rounding, relative to its range, that is told
EDGE = 1e-5  # coefficients of velocities that are solved for, relative to others, below which there is no normal form
ZERO = 1e-6  # eigenvalues below this, relative to the largest, are zero at a fold


@dataclass(frozen=True, eq=False)
class SpecialForm:
    """The normal form of a special point: its coefficient, its frequency, the Hopf point as ``case.hopf`` gives it, and
    a note."""

    coefficient: float = NAN
    omega: float = NAN
    hopf: Hopf | None = None
    note: str = ""


def form_of(problem: Any, spot: Spot, kind: str, many: int) -> SpecialForm:
    """The normal form of a special point of a kind, at which ``many`` eigenvalues or pairs cross."""
    if kind_of(kind)[1]:
        return _multiple(spot, kind, many)
    if kind == Kind.FOLD:
        return _fold(problem, spot)
    if kind == Kind.HOPF:
        return _hopf(problem, spot)
    if kind == Kind.ZERO_HOPF:
        pair = imaginary(spot.facts.eigenvalues, problem.undamped, spot.facts.slopes) or 0j
        return SpecialForm(omega=pair.imag, note="an eigenvalue passes zero with the pair, so that there is no l1")
    if kind == Kind.COALESCENCE:
        return SpecialForm(omega=float(met(spot.facts.eigenvalues).min(initial=np.inf)), note=MEET)
    if kind == Kind.BOGDANOV_TAKENS:
        return SpecialForm(omega=0.0, note="two eigenvalues are zero together, so that there is no l1")
    return SpecialForm()


def _fold(problem: Any, spot: Spot) -> SpecialForm:
    values = spot.facts.eigenvalues
    if problem.equations.k and not np.abs(values).min() < ZERO * np.abs(values).max():
        return SpecialForm(note="the branch turns on its family of equilibria, no eigenvalue passes zero")
    s = problem.equations
    whole = None if isinstance(s, SparseRestEquations) else full_balance(s, [spot.z])
    if whole is not None and whole.margin(s.flow.dependent, s.case.system.coordinate_names) < EDGE:
        solved = ", ".join(s.flow.dependent)
        return SpecialForm(note=f"the constraints do not determine {solved} here, so that there is no coefficient")
    null = problem.equations.across(spot.z)
    note = "" if null.overlap else "nothing damps it, ẅ = a w²"
    try:
        return SpecialForm(fold_coefficient(null, problem.equations.form(spot.z)), note=note)
    except np.linalg.LinAlgError:
        return SpecialForm(note="more than one eigenvalue is zero here, so that there is no coefficient")


def _hopf(problem: Any, spot: Spot) -> SpecialForm:
    pair = imaginary(spot.facts.eigenvalues, problem.undamped, spot.facts.slopes) or 0j
    try:
        if not problem.equations.parameters:
            return SpecialForm(omega=pair.imag, note=_on_family(problem, spot, pair.imag))
        found = hopf_on(problem, spot, pair)
    except PfaffError as why:
        return SpecialForm(omega=pair.imag, note=str(why))
    doubt = _doubt(problem.equations, spot, found)
    return SpecialForm(found.l1, found.omega, found, f"{found.criticality}{doubt}")


def _doubt(s: RestEquations, spot: Spot, hopf: Hopf) -> str:
    """How well the load of a Hopf point is known, in words: nothing if rounding of the matrix hardly moves it."""
    J, crossing = s.state_jacobian(spot.z), abs(hopf.crossing.real)
    matrix, units = balanced(J) if isinstance(J, np.ndarray) else (J.data, 1.0)  # as LAPACK takes it
    condition = float(np.linalg.norm(hopf.p * units) * np.linalg.norm(hopf.q / units))
    error = EPS * float(np.linalg.norm(matrix)) * condition / crossing if crossing else np.inf
    if not UNSURE * s.sizes[-1] < error < np.inf:
        return ""
    return f"; rounding leaves {hopf.load} uncertain by {error:.0e}, as modes are nearly parallel, and may hide others"


def _multiple(spot: Spot, kind: str, many: int) -> SpecialForm:
    """The form where several eigenvalues cross together: l1 and a are coefficients of a single pair or eigenvalue."""
    if kind == MULTIPLE + Kind.COALESCENCE:
        rates = ", ".join(f"{omega:.8g}" for omega in met(spot.facts.eigenvalues)[::2])
        return SpecialForm(note=f"{2 * many} frequencies meet in pairs and leave the imaginary axis (ω = {rates})")
    if kind != MULTIPLE + Kind.HOPF:
        return SpecialForm(note=f"{many} eigenvalues pass zero together")
    pairs = axis_pairs(spot.facts.eigenvalues, 2 * many)
    rates = ", ".join(f"{omega:.8g}" for omega in pairs)
    note = f"{many} pairs cross together (ω = {rates}) and their oscillations interact, so that there is no l1"
    return SpecialForm(omega=float(pairs[0]), note=note)


def _on_family(problem: Any, spot: Spot, omega: float) -> str:
    """What happens at the Hopf point of a family of equilibria, in words (Fiedler, Liebscher and Alexander 2000)."""
    s = problem.equations
    _, third = doors.extended.normal_form_at(s.field(spot.z), s.x(spot.z), problem.value(spot), omega)
    return doors.verdicts.criticality_of(third)


def hopf_on(problem: Any, spot: Spot, pair: complex) -> Hopf:
    """The Hopf point near a spot, as ``case.hopf`` would give it."""
    s = problem.equations
    if isinstance(s, SparseRestEquations):
        return doors.sparse_hopf.sparse_hopf(s, spot.z, pair.imag)
    around, border, load = s.field(spot.z), s.border(spot.z), problem.value(spot)

    def spectrum(x: np.ndarray, load: float) -> np.ndarray:
        J = around.jacobian(x, load)
        return np.linalg.eigvals(Deflation.about(J, s.zeros)(J))

    origin = float(s.case.numbers[s.case.system.parameter_names.index(around.load)])
    asked = {"load": around.load, "near": load}
    x, load, omega = doors.extended.hopf_near(around, border, s.x(spot.z), load, 1j * pair.imag)
    return doors.extended.hopf_of(s.case_at(spot.z), around, border, x, load, omega, spectrum, origin, asked)
