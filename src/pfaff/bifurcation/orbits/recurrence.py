"""How a motion comes back to where it was, and what that says where no orbit is found near it.

A motion that closes is itself an orbit, of a family if none of them is isolated. On a torus it comes back to early
states as near as to recent ones, and motions that start near each other stay so; before it has settled it does not.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pfaff.algebra.cubics import parabola
from pfaff.bifurcation.orbits.cycles import Cycle
from pfaff.bifurcation.orbits.floquet import allowed, multipliers
from pfaff.continuation.endings import Refused
from pfaff.errors import ConvergenceError
from pfaff.kernels.metrics import TURN

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbit_problem import OrbitProblem
    from pfaff.flow.flow import Flow

AGAIN = 0.02  # distance within which a motion that turns over and over repeats itself, relative to its size
ANGULAR = 1e-9  # largest relative change of rates when an angle grows by turns
MOST_ALIKE = 24  # turns of an angle, as of a geared shaft, after which equations repeat themselves
RETURN = 0.1  # distance within which a motion that comes back is close to an orbit, relative to its size
STILL = 1e-3  # least range of a state, relative to its magnitude
RATES = 1_000_000  # most evaluations for one motion
STEPPED = 1e-9  # relative error of an integrated motion
TURNS = 60, 200  # turns of a motion that are examined, at least and at most
SAMPLES, FINER, CLOSER = 60, 15, 4  # samples of a turn; about a return; and number of refinements
CLOSES = 1e-5  # distance within which a motion closes, relative to its size
DOUBLE = 0.05  # distance of two multipliers from 1 in a family of orbits, on a motion that is sampled
APART = 10.0  # ratio to their first distance of motions that do not stay together
GROWN = 0.02  # change of the range of a motion, from each third of it to the next, that has not settled

FAMILY, TORUS = "is one of a family of orbits", "is quasi-periodic"
UNSETTLED, IRREGULAR = "has not settled", "does not settle"
TOLD_LONGER = ". Simulate longer, until it is nearly periodic"
TOLD = {
    FAMILY: ", as where energy or a momentum is conserved: two of its multipliers are 1, and none of the family is "
    "alone. Add damping or drive to select one, or follow the orbits from a Hopf point, which keep its level",
    TORUS: ": it stays on a torus and comes back to where it was, by {nearest:.1e} of its size at best, but never "
    "closes. The orbit that the torus is about is on a branch of cycles: where a pair of multipliers has left the unit "
    "circle or, if energy is conserved, stays on it",
    UNSETTLED: f": its loops still change from one to the next{TOLD_LONGER}",
    IRREGULAR: ": motions near it move away from it, as where it is chaotic. Follow orbits from a Hopf point instead",
}


class Verdict(NamedTuple):
    """What a motion does, if that can be told, and in words."""

    kind: str
    text: str


class Returns(NamedTuple):
    """Times at which a motion was nearest to its end before, and the distances, relative to its size."""

    times: np.ndarray
    distances: np.ndarray


def extent(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The range of every state in the second half of a motion; for a constant state, a share of its magnitude."""
    late = x[:, t >= (t[0] + t[-1]) / 2]
    size = np.maximum(np.ptp(late, axis=1), STILL * np.abs(late).max(axis=1))
    return np.where(size > 0, size, size.max() or 1.0)


def returns(t: np.ndarray, x: np.ndarray) -> Returns:
    """The returns, by parabolas through the least squares of distances."""
    size = extent(t, x)
    square = (((x - x[:, -1:]) / size[:, None]) ** 2).mean(axis=0)
    k = np.flatnonzero((square[1:-1] <= square[:-2]) & (square[1:-1] < square[2:])) + 1
    times, squares, _ = parabola(*((t[k + by], square[k + by]) for by in (-1, 0, 1)))
    return Returns(times, np.sqrt(np.maximum(squares, 0.0)))


class Loop(NamedTuple):
    """The last loop of a motion, and the whole turns, if any, by which angles grow in it, by name."""

    start: float
    period: float
    turns: dict[str, float]

    def turned(self, flow: Flow) -> np.ndarray:
        """The growth of the states of a flow."""
        return np.array([self.turns.get(name, 0.0) for name in flow.states])


def rotation(problem: OrbitProblem, t: np.ndarray, x: np.ndarray, value: float) -> Loop | None:
    """The last loop of a motion that turns over and over, and comes back to itself up to whole turns."""
    late, states = x[:, t >= (t[0] + t[-1]) / 2], problem.flow.states
    grown = np.flatnonzero(np.abs(late[:, -1] - late[:, 0]) > TURN)
    some = late[:, :: 1 + late.shape[1] // SAMPLES]
    repeats = {int(k): TURN * many for k in grown if (many := _turns_alike(problem, some, int(k), value))}
    if not repeats:
        return None
    angles = list(repeats)
    phases = x[angles] * (TURN / np.array([*repeats.values()])[:, None])
    back = returns(t, np.vstack([np.delete(x, angles, axis=0), np.cos(phases), np.sin(phases)]))
    least = float(back.distances.min(initial=1.0))
    if least > AGAIN:
        where, names = f"at {problem.load} = {value:.10g}", ", ".join(states[k] for k in angles)
        raise ConvergenceError(
            f"the motion turns over and over {where}, in {names}, and does not repeat itself{TOLD_LONGER}"
        )
    start = float(back.times[back.distances <= max(3 * least, RETURN / 50)][-1])
    turns = {states[k]: each * np.round((x[k, -1] - np.interp(start, t, x[k])) / each) for k, each in repeats.items()}
    return Loop(start, float(t[-1]) - start, turns) if any(turns.values()) else None


def _turns_alike(problem: OrbitProblem, states: np.ndarray, k: int, value: float) -> int:
    """After how many whole turns of a state the equations are the same: 0 if it is no angle."""
    turned = states.copy()
    turned[k] -= TURN * np.round(states[k] / TURN)
    rates = problem.collocation.equations.rates(turned.T, value)
    for turns in range(1, MOST_ALIKE + 1):
        turned[k] += TURN
        after = problem.collocation.equations.rates(turned.T, value)
        if (np.abs(after - rates) <= ANGULAR * np.abs(rates).max(axis=1, keepdims=True)).all():
            return turns
    return 0


def solved(problem: OrbitProblem, x0: np.ndarray, duration: float, size: np.ndarray, value: float) -> Any:
    """The motion from a state, integrated; ``size`` are the sizes of the states."""
    from scipy.integrate import solve_ivp

    asked = count(1)

    def rate(time: float, state: np.ndarray) -> np.ndarray:
        if next(asked) > RATES:
            raise ConvergenceError(
                f"a motion near the one that was given takes more than {RATES:g} evaluations until t = {time:.4g}: its "
                "rates jump there, or it is far from any orbit. Give a motion of this case that nearly repeats"
            )
        return problem.collocation.equations.rates(state[None], value)[:, 0]

    return solve_ivp(rate, (0, duration), x0, "LSODA", dense_output=True, rtol=STEPPED, atol=STEPPED * size)


def one_of_many(problem: OrbitProblem, guess: Cycle) -> bool:
    """Whether a second multiplier of a nearly closed orbit is 1, as far as the guess tells: to the root of its
    error."""
    continuation = problem.continuation(1 + abs(guess.value))
    metric = continuation.measure(guess)
    pins = problem.collocation.pins(guess, metric, metric.dual(guess), problem.held, guess)
    try:
        solution = continuation.evaluated(guess, pins, metric)
    except Refused:
        return False
    G, bonds = metric.measured(solution.G), problem.collocation.equations.bonds(guess.x, guess.value)
    values, _ = multipliers(*(allowed(G, guess.signs, bonds / metric.states) if bonds.size else (G, guess.signs)))
    return bool((np.abs(values - 1) < DOUBLE).sum() > 1)


def verdict(problem: OrbitProblem, guess: Cycle, t: np.ndarray, x: np.ndarray) -> Verdict:
    """What a motion does if no orbit is found near its last loop, the guess."""
    turn = float(np.median(np.diff(np.append(returns(t, x).times, t[-1]))))
    turns = np.clip((t[-1] - t[0]) / turn, *TURNS)
    going = solved(problem, x[:, -1], turns * turn, extent(t, x), guess.value)
    if not going.success:
        return Verdict("", "")
    times = np.linspace(0, turns * turn, int(SAMPLES * turns))
    states = going.sol(times)
    nearest = float(_refined(going.sol, times, states).distances.min(initial=1.0))
    if nearest < CLOSES and one_of_many(problem, guess):
        kind = FAMILY
    elif nearest < CLOSES or _changes(states):
        kind = UNSETTLED
    else:
        kind = IRREGULAR if _separates(going.sol, times, states, turn) else TORUS
    text = f"the motion {kind} at {problem.load} = {guess.value:.10g}{TOLD[kind]}"
    return Verdict(kind, text.format(nearest=nearest))


def _refined(sol: Any, t: np.ndarray, x: np.ndarray) -> Returns:
    """Returns examined between the samples of the motion, more closely each time."""
    times, step, size = returns(t, x).times, t[1] - t[0], extent(t, x)
    times = times[(times > t[0] + 2 * step) & (times < t[-1] - 2 * step)]
    square, row = np.full(len(times), np.inf), np.arange(len(times))
    for _ in range(CLOSER):
        near = times[:, None] + np.linspace(-step, step, FINER)
        away = (sol(near.ravel()) - x[:, -1:]) / size[:, None]
        squares = (away**2).mean(axis=0).reshape(near.shape)
        k = squares.argmin(axis=1)
        times, square, step = near[row, k], squares[row, k], 2 * step / (FINER - 1)
    return Returns(times, np.sqrt(square))


def _changes(x: np.ndarray) -> bool:
    """Whether the range of a state grows, or shrinks, from each third of a motion to the next."""
    first, second, third = (np.ptp(part, axis=1) for part in np.array_split(x, 3, axis=1))
    largest = np.maximum(np.maximum(first, second), third)
    shares = np.divide([second - first, third - second], largest, out=np.zeros((2, len(x))), where=largest > 0)
    return bool(((shares > GROWN).all(axis=0) | (shares < -GROWN).all(axis=0)).any())


def _separates(sol: Any, t: np.ndarray, x: np.ndarray, turn: float) -> bool:
    """Whether motions that start near each other do not stay so: from the middle, and from where it was nearest."""
    half = len(t) // 2
    before = returns(t[:half], x[:, :half])
    if not len(before.times):
        return True
    start, near = t[half - 1], before.times[before.distances.argmin()]
    ahead = np.linspace(0, t[-1] - start, half)
    size = extent(t, x)
    apart = (np.abs(sol(start + ahead) - sol(near + ahead)) / size[:, None]).max(axis=0)
    first = apart[ahead <= turn].max()
    return bool(apart.max() > APART * first)
