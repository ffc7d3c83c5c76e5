"""What compiled loops know of a problem, by name; Python passes it as plain tuples, which numba takes faster."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pfaff.bifurcation.equilibria.walking.eigenframes import Frame
from pfaff.bifurcation.machine_code.addresses import call
from pfaff.bifurcation.machine_code.linking import called


class Function(NamedTuple):
    """The equations of a system by their address, with a room for them."""

    address: int
    room: np.ndarray
    numbers: np.ndarray  # values of all parameters
    places: np.ndarray  # indices of the free ones among them


class LoopSystem(NamedTuple):
    """A branch or a curve, with the addresses of LAPACK's ``routines``."""

    kind: int
    function: Function
    routines: np.ndarray
    b: np.ndarray  # borders, as rows
    c: np.ndarray
    units: np.ndarray  # units of z
    frame: Frame


class Room(NamedTuple):
    """Workspace at a point: its Jacobian, null vectors or bases of critical planes, and factors of a matrix."""

    J: np.ndarray
    right: np.ndarray
    left: np.ndarray
    factors: np.ndarray
    pivots: np.ndarray
    sizes: np.ndarray  # sizes of rows before they were factorised


class Spectra(NamedTuple):
    """Workspace for eigenvalues at several points, those at both ends of a step first, and their derivatives along the
    branch."""

    values: np.ndarray
    slopes: np.ndarray
    others: np.ndarray  # at both ends, the matrices that bound the unwatched ones


@called
def function_of(parts: Any) -> Function:
    address, room, numbers, places = parts
    return Function(address, room.copy(), numbers.copy(), places)


@called
def system_of(parts: Any) -> LoopSystem:
    """A ``LoopSystem`` from plain tuples, with copies of what loops change; the frame is shared with the next loop."""
    kind, function, routines, b, c, units, frame = parts
    many, basis, dual, values, blocks = frame
    return LoopSystem(
        kind, function_of(function), routines, b.copy(), c.copy(), units.copy(),
        Frame(many, basis, dual, values, blocks),
    )  # fmt: skip


@called
def room_for(system: LoopSystem) -> Room:
    N = len(system.units)
    return Room(
        np.empty((N - 1, N)), np.empty_like(system.b), np.empty_like(system.b), np.empty((N, N)),
        np.empty(N, dtype=np.int32), np.empty(N),
    )  # fmt: skip


@called
def spectra_for(n: int) -> Spectra:
    """Workspace for both ends of a step."""
    values, slopes = np.empty((2, n), dtype=np.complex128), np.empty((2, n), dtype=np.complex128)
    return Spectra(values, slopes, np.empty((2, 2, n, n)))


@called
def rates(function: Function, z: np.ndarray, values: np.ndarray) -> None:
    """Evaluate f, ∂f/∂x and ∂f/∂λ into the columns of ``values``."""
    n, numbers = len(values), function.numbers
    for j in range(len(function.places)):
        numbers[function.places[j]] = z[n + j]
    time = numbers.ctypes.data  # nothing depends on time
    call(
        function.address,
        (values.ctypes.data, z.ctypes.data, numbers.ctypes.data, time, function.room.ctypes.data),
    )


@called
def state_jacobian(J: np.ndarray, n: int) -> np.ndarray:
    """∂f/∂x: the first rows and columns of a larger Jacobian."""
    A = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            A[i, j] = J[i, j]
    return A
