"""A motion: what was computed, with its reactions, its energies and how well they balance."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pfaff.errors import ParameterError, nearest

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from pfaff.case import Case


@dataclass(frozen=True)
class Energy:
    """Energies along a motion: kinetic, potential, their Jacobi sum, and what was dissipated and supplied so far."""

    kinetic: np.ndarray
    potential: np.ndarray
    total: np.ndarray
    dissipated: np.ndarray
    supplied: np.ndarray

    @property
    def balance(self) -> np.ndarray:
        """Stored plus dissipated minus supplied, since the start: zero but for the error of the integration."""
        return self.total - self.total[0] + self.dissipated - self.supplied

    @property
    def drift(self) -> float:
        """The largest imbalance, relative to the largest energy that takes part."""
        sizes = (self.kinetic, self.potential, self.dissipated, self.supplied)
        scale = max(np.abs(each).max(initial=0.0) for each in sizes)
        return float(np.abs(self.balance).max(initial=0.0) / scale) if scale else 0.0


@dataclass(frozen=True, eq=False)
class Motion:
    """Times ``t``, states ``y`` (coordinates, then velocities, one column for each time), reactions ``p``.

    ``motion["theta1"]`` is a coordinate, ``motion["theta1_dot"]`` its velocity, ``motion["p"]`` a reaction;
    ``motion(t)`` evaluates the state at any time. ``residual`` holds what is left of every constraint.
    """

    t: np.ndarray
    y: np.ndarray
    p: np.ndarray
    energy: Energy
    residual: np.ndarray
    names: tuple[str, ...]
    reaction_names: tuple[str, ...]
    status: str
    method: str
    changes: Mapping[str, float]
    system: str
    values: Mapping[str, str]
    case: Case | None = field(default=None, repr=False)
    dense: Callable[[Any], np.ndarray] | None = field(default=None, repr=False)

    @property
    def states(self) -> tuple[str, ...]:
        return (*self.names, *(f"{name}_dot" for name in self.names))

    @property
    def reaction(self) -> np.ndarray:
        """The reaction of a single constraint, or one row for each of several."""
        return self.p[0] if len(self.p) == 1 else self.p

    @property
    def finished(self) -> bool:
        return self.status == "finished"

    def __getitem__(self, name: str) -> np.ndarray:
        known = dict(zip((*self.states, *self.reaction_names), (*self.y, *self.p), strict=True))
        if name not in known:
            raise ParameterError(f"no coordinate, velocity or reaction {name!r}: {nearest(name, known)}")
        return known[name]

    def __call__(self, t: Any) -> np.ndarray:
        """The state at a time, or one column for each of several: the integrator's own polynomials."""
        times = np.asarray(t, dtype=float)
        low, high = sorted((self.t[0], self.t[-1]))
        if np.any(times < low) or np.any(times > high):
            raise ParameterError(f"t={t} lies outside the motion, which runs from {low:g} to {high:g}")
        if self.dense is not None:
            return self.dense(times) if times.ndim else self.dense(times[None])[:, 0]
        return self._interpolated(times)

    def _interpolated(self, times: np.ndarray) -> np.ndarray:
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.t, self.y, axis=1)(times)

    def to_xarray(self) -> xarray.Dataset:
        """Everything by name along the dimension ``t``."""
        import xarray

        columns = {name: ("t", self[name]) for name in (*self.states, *self.reaction_names)}
        parts = ("kinetic", "potential", "total", "dissipated", "supplied")
        columns |= {f"energy_{part}": ("t", getattr(self.energy, part)) for part in parts}
        columns |= {f"residual{k + 1}": ("t", row) for k, row in enumerate(self.residual)}
        about = {"names": self.names, "reactions": self.reaction_names, "changes": dict(self.changes)}
        notes = {"status": self.status, "method": self.method, "system": self.system}
        return xarray.Dataset(
            columns, {"t": self.t}, notes | {"values": json.dumps(dict(self.values)), "about": json.dumps(about)}
        )

    def save(self, path: str | Path) -> Path:
        """Write a netCDF file; ``pfaff.load_motion`` reads it again."""
        path = Path(path)
        try:
            self.to_xarray().to_netcdf(path, engine="scipy")
        except OSError as problem:
            raise ParameterError(f"cannot write {path}: {problem}") from problem
        return path

    def plot(self) -> Figure:
        """Time histories, phase portraits, reactions, energies and, if the system has a drawing, paths in the plane."""
        from pfaff.draw.motion import draw_motion

        return draw_motion(self)

    def film(self, frames: int = 8, *, times: Sequence[float] | None = None) -> Figure:
        """Successive configurations, evenly spaced or at the given times, with the path of the traced points so far."""
        from pfaff.draw.film import draw_film

        return draw_film(self, frames, times)

    def animate(
        self,
        path: str | Path,
        *,
        seconds: float = 10.0,
        fps: float = 25.0,
        span: tuple[float, float] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Path:
        """Write a moving picture: ``.gif``, ``.html`` (one file, needs no network) or ``.mp4`` (by ffmpeg).

        The motion, or the part of it from ``span[0]`` to ``span[1]``, takes so many seconds to watch, in fps pictures
        a second; ``progress(done, all)`` is called after each.
        """
        from pfaff.draw.animation import animate

        return animate(self, path, seconds=seconds, fps=fps, span=span, progress=progress)


def load_motion(path: str | Path, case: Case | None = None) -> Motion:
    """A motion that was saved; between its samples it is interpolated. Its case, if given, lets it be drawn again."""
    import xarray

    try:
        with xarray.open_dataset(path, engine="scipy") as stored:
            data = stored.load()
    except (OSError, ValueError, TypeError) as problem:
        raise ParameterError(f"cannot read a motion from {path}: {problem}") from problem
    about = json.loads(data.attrs["about"])
    names, reactions = tuple(about["names"]), tuple(about["reactions"])
    states = [*names, *(f"{name}_dot" for name in names)]
    parts = ("kinetic", "potential", "total", "dissipated", "supplied")
    left = [name for name in data.data_vars if str(name).startswith("residual")]
    size = data.sizes["t"]
    return Motion(
        t=data["t"].to_numpy(),
        y=np.array([data[name].to_numpy() for name in states]),
        p=np.array([data[name].to_numpy() for name in reactions]).reshape(len(reactions), size),
        energy=Energy(*(data[f"energy_{part}"].to_numpy() for part in parts)),
        residual=np.array([data[name].to_numpy() for name in left]).reshape(len(left), size),
        names=names,
        reaction_names=reactions,
        status=data.attrs["status"],
        method=data.attrs["method"],
        changes=about["changes"],
        system=data.attrs["system"],
        values=json.loads(data.attrs["values"]),
        case=case,
    )
