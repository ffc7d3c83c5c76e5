"""A small model of an assembly on its lowest modes, which predicts the load at which Newton's method starts."""

from __future__ import annotations

import numpy as np

from pfaff.errors import ParameterError
from pfaff.flow.sparse_pencil import SparseLinearisation
from pfaff.rest.assemblies import AssemblyPath
from pfaff.stability.large_views import MARGIN, Crossing, Damped, Reversible

UNCOUPLED = 1e-9  # share of the geometric stiffness on the lowest modes that counts as zero
SCAN = 1.08  # ratio of successive loads scanned with the small model
STACK = 16  # loads scanned at once


class Model:
    """A Galerkin model on a few shapes: cheap enough to scan hundreds of loads for the first growing oscillation."""

    def __init__(self, path: AssemblyPath, view: Reversible | Damped, shapes: np.ndarray) -> None:
        self.path, self.view, self.shapes = path, view, shapes
        self.base = self._project(path.linearise(0.0))
        self.tilt = (self._project(path.linearise(path.probe)) - self.base) / path.probe
        self._check_coupling()

    def matrices(self, loads: np.ndarray) -> np.ndarray:
        """M, C and K on the shapes, for each of several loads."""
        if self.path.affine:
            return self.base[:, None] + self.tilt[:, None] * loads[:, None, None]
        return np.stack([self._project(self.path.linearise(load)) for load in loads], axis=1)

    @property
    def scale(self) -> float:
        """The smallest load at which some entry of the geometric stiffness is as large as the elastic one."""
        stiffness = np.sqrt(np.abs(np.diag(self.base[2])))
        with np.errstate(divide="ignore"):
            return float((np.outer(stiffness, stiffness) / np.abs(self.tilt[2])).min(initial=np.inf))

    @property
    def reach(self) -> float:
        """Four times the load whose geometric stiffness equals the elastic one on these shapes."""
        slope = np.linalg.norm(self.tilt[2], 2)
        return float(4 * np.linalg.norm(self.base[2], 2) / slope)

    def first(self, to: float) -> Crossing | None:
        """The first load at which the model shows a growing oscillation, to a thousandth."""
        least = min(self.scale, to) / 20
        loads = np.geomspace(least, to, int(np.log(to / least) / np.log(SCAN)) + 2)
        low = 0.0
        for some in np.array_split(loads, -(-len(loads) // STACK)):
            k = self._first_growing(some)
            if k is not None:
                break
            low = some[-1]
        else:
            return None
        low, high = (some[k - 1] if k else low), some[k]
        while high - low > MARGIN * high:
            inner = np.linspace(low, high, STACK + 2)
            k = self._first_growing(inner[1:])
            low, high = inner[-2:] if k is None else inner[k : k + 2]
        return self.oscillation(float(high))

    def oscillation(self, load: float) -> Crossing:
        """The oscillation of the model that grows most or decays least, in all coordinates."""
        values, vectors = np.linalg.eig(self.view.operator(*self.matrices(np.array([load])))[0])
        k = self.view.critical(values)
        omega = complex(self.view.omega(values)[k])
        return Crossing(load, omega, self.shapes @ vectors[: self.shapes.shape[1], k], np.nan)

    def _first_growing(self, loads: np.ndarray) -> int | None:
        values = np.linalg.eigvals(self.view.operator(*self.matrices(loads)))
        growing = self.view.growing(values)[0].any(axis=-1)
        return int(growing.argmax()) if growing.any() else None

    def _check_coupling(self) -> None:
        """Raise unless the load acts among these shapes: otherwise whatever flutters, they do not."""
        assembly, probe = self.path.assembly, self.path.probe
        change = self.path.linearise(probe).stiffness - self.path.linearise(0.0).stiffness
        whole = change @ self.shapes / probe
        if np.linalg.norm(self.tilt[2]) > UNCOUPLED * np.linalg.norm(whole):
            return
        raise ParameterError(
            f"the load {assembly.load!r} of {assembly.name} does not change the stiffness of the "
            f"{self.shapes.shape[1]} lowest modes: ask for more modes, or check which parts carry the load"
        )

    def _project(self, lin: SparseLinearisation) -> np.ndarray:
        return np.array([self.shapes.T @ (matrix @ self.shapes) for matrix in (lin.M, lin.C, lin.stiffness)])
