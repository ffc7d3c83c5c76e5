"""The content of a film: the scene of a motion, of a cycle or of a branch of cycles, with its histories and
readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pfaff.draw.labels import groups, letters, moving_most
from pfaff.draw.player import Panel, scene_data
from pfaff.draw.scene import Scene, drawing_of, scene_of, scene_of_motion

if TYPE_CHECKING:
    from pfaff.bifurcation.orbits.orbit_branch import OrbitBranch
    from pfaff.bifurcation.orbits.orbits import OrbitPoint
    from pfaff.motion.result import Motion
    from pfaff.statement.system import System

FRAMES = 1500  # in the player, which moves on between them: enough for a smooth path
CYCLES = 24  # cycles of a branch that are shown one after the other


@dataclass(frozen=True)
class Footage:
    """A scene at evenly spaced instants, the histories beside it, and its title."""

    scene: Scene
    title: str
    text: str
    panels: Sequence[Panel] = ()
    readings: Mapping[str, np.ndarray] = field(default_factory=dict)

    def data(self, seconds: float) -> dict[str, Any]:
        """The data for the player."""
        return scene_data(
            self.scene, title=self.title, text=self.text, seconds=seconds, panels=self.panels, readings=self.readings
        )


def of_motion(motion: Motion, start: float, end: float, count: int) -> Footage:
    """The part of a motion between two times."""
    times = np.linspace(start, end, count)
    scene = scene_of_motion(motion, times)
    y = motion(times)
    rows = dict(zip(motion.names, y, strict=False))
    assert motion.case is not None
    text = f"Film of {motion.system} from t = {start:g} to {end:g}: {motion.status}."
    panels = _panels(motion.case.system, rows)
    speeds = {letters(name): row for name, row in motion.quasi_rows(times, y).items()}
    return Footage(scene, motion.system, text, [*panels, *([("speed", speeds)] if speeds else [])])


def of_orbit(point: OrbitPoint, periods: int, count: int) -> Footage:
    """A periodic orbit, stable or not, over some periods; a travelling system goes on from where it has arrived."""
    drawing_of(point.case)
    name = point.case.system.name
    t, rows = cycle(point, periods)
    times = np.linspace(0.0, t[-1], count)
    shown = {each: np.interp(times, t, row) for each, row in rows.items()}
    scene = scene_of(point.case, np.array(list(shown.values())), times)
    return Footage(scene, name, f"Film of {name}: {point.status}.", _panels(point.case.system, shown))


def of_branch(branch: OrbitBranch, count: int) -> Footage:
    """The cycle as it deforms along its branch: one after the other, each for one period."""
    chosen = np.unique(np.linspace(0, len(branch) - 1, min(CYCLES, len(branch))).round().astype(int))
    drawing_of(branch[0].case)
    parts, loads, times, numbers = [], [], [], []
    now, each = 0.0, max(count // len(chosen), 2)
    for place in chosen:
        point = branch[int(place)]
        t, rows = cycle(point)
        at = np.linspace(0.0, t[-1], each, endpoint=False)
        parts.append(np.array([np.interp(at, t, row) for row in rows.values()]))
        times.append(now + at)
        loads.append(np.full(each, point.value))
        numbers.append(np.repeat(point.case.numbers[:, None], each, axis=1))
        now += t[-1]
    q, value = np.concatenate(parts, axis=1), np.concatenate(loads)
    scene = scene_of(branch[0].case, q, np.concatenate(times), np.concatenate(numbers, axis=1))
    system = _system(branch[0])
    rows = dict(zip(system.coordinate_names, q, strict=True))
    text = f"Film of {system.name}, one cycle after the other along the branch: {branch.status}."
    panels = [*_panels(system, rows), (letters(branch.load), {letters(branch.load): value})]
    return Footage(scene, system.name, text, panels, {letters(branch.load): value})


def _system(point: OrbitPoint) -> System:
    """The mechanical system of an orbit; only such a system has a drawing."""
    return cast("System", point.case.system)


def cycle(point: OrbitPoint, periods: int = 1) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Some periods of all coordinates; ignorable ones start at zero, and go on from where they have arrived."""
    orbit = point.orbit
    names, states = _system(point).coordinate_names, dict(zip(orbit.states, orbit.x, strict=True))
    t = _repeated(orbit.t, periods)
    rows = {name: _repeated(row, periods) for name, row in states.items()}
    if set(names) - set(states):
        carried = [_repeated(row, periods) for row in orbit.carried]
        rows |= orbit.flow.reconstruct(t, np.array([*rows.values(), *carried]), point.case)
    return t, {name: rows[name] for name in names}


def _repeated(row: np.ndarray, periods: int) -> np.ndarray:
    """A row over one period, repeated: shifted each time by its change in a period."""
    further = [row[1:] + k * (row[-1] - row[0]) for k in range(1, periods)]
    return np.concatenate([row, *further])


def _panels(system: Any, rows: Mapping[str, np.ndarray]) -> list[Panel]:
    """Histories of the coordinates that move most, angles and others on axes of their own."""
    found: list[Panel] = []
    for kind, names in groups(system, list(rows)).items():
        shown = moving_most({name: rows[name] for name in names})
        found.append((kind, {letters(name): rows[name] for name in shown}))
    return found
