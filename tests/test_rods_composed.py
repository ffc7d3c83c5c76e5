"""Rods of varying section among other parts, against a beam of Hermite's elements that is written out here."""

import numpy as np
import pytest
import sympy as sm
from numpy.polynomial import Polynomial, legendre
from scipy.optimize import brentq

import pfaff
from pfaff.draw.scene import scene_of_motion
from pfaff.errors import ParameterError
from pfaff.statement import TIME as t
from pfaff.statement import coordinates

POINTS, WEIGHTS = legendre.leggauss(6)


class Beam:
    """Small motions of a beam along x, clamped at 0, by deflections and rotations of nodes: M, C, K and the thrust."""

    def __init__(self, elements, bending, mass, rotary, eta, drag, skate):
        n, h = 2 * (elements + 1), 1 / elements
        self.M, self.C, self.K, self.G = np.zeros((4, n, n))
        shapes = [Polynomial(c) for c in ([1, 0, -3, 2], [0, h, -2 * h, h], [0, 0, 3, -2], [0, 0, -h, h])]
        for e in range(elements):
            at = np.ix_(range(2 * e, 2 * e + 4), range(2 * e, 2 * e + 4))
            for u, w in zip((1 + POINTS) / 2, WEIGHTS / 2 * h, strict=True):
                s = (e + u) * h
                value, slope, bend = (np.array([p.deriv(k)(u) / h**k for p in shapes]) for k in (0, 1, 2))
                bent = w * bending(s) * np.outer(bend, bend)
                self.K[at] += bent
                self.M[at] += w * (mass(s) * np.outer(value, value) + rotary(s) * np.outer(slope, slope))
                self.C[at] += eta(s) * bent + w * drag(s) * np.outer(value, value)
                self.G[at] -= w * (s < skate) * np.outer(slope, slope)  # the skate bears the thrust
        joint = round(skate * elements)
        self.G[2 * joint, 2 * joint + 1] += 1.0  # and follows the tangent

    def eigenvalues(self, F):
        M, C, K = (each[2:, 2:] for each in (self.M, self.C, self.K + F * self.G))
        velocities = np.hstack([np.zeros_like(M), np.eye(len(M))])
        return np.linalg.eigvals(np.vstack([velocities, -np.linalg.solve(M, np.hstack([K, C]))]))

    def load(self, near):
        return brentq(lambda F: self.eigenvalues(F).real.max(), 0.99 * near, 1.01 * near, xtol=1e-11)


def extrapolated(near, attach=lambda beam: None, skate=1.0, **section):
    """Of order four in the length of elements."""
    loads = []
    for elements in (8, 16):
        beam = Beam(elements, skate=skate, **section)
        attach(beam)
        loads.append(beam.load(near))
    return loads[1] + (loads[1] - loads[0]) / 15


def skated(rods, end, X, parts=(), **more):
    """A skate at a point, behind a block under the load F; other parts have kinetic and potential energies."""
    F = sm.Symbol("F")
    vx, vy = end.x.diff(t), end.y.diff(t)
    return pfaff.System(
        coordinates=[X],
        rods=rods,
        kinetic=sm.Add(*(T for T, _ in parts)),
        potential=-F * X + sm.Add(*(V for _, V in parts)),
        nonholonomic_constraints=[vx * sm.cos(end.theta) + vy * sm.sin(end.theta)],
        parameters={F: 0},
        load=F,
        **more,
    )


def square(x, y):
    return x.diff(t) ** 2 + y.diff(t) ** 2


SECTION = {
    "bending": lambda s: (1 - s / 3) ** 3,
    "mass": lambda s: 1 - s / 3,
    "rotary": lambda s: 0.01 * (1 + s),
    "drag": lambda s: 0.3 * s,
}


def test_a_tapered_rod_among_masses_and_springs():
    """A mass on an arm beyond the end, a spring against its deflection, drag and rotary inertia that vary."""
    (X,) = coordinates("X")
    rod = pfaff.Rod(**SECTION, retardation=0.02, modes=12, base=(X, 0, 0))
    end, arm, mass, stiff = rod.end, 0.2, 0.4, 3.0
    tip = end.x + arm * sm.cos(end.theta), end.y + arm * sm.sin(end.theta)
    system = skated([rod], end, X, [(mass * square(*tip) / 2, stiff * end.y**2 / 2)])
    found = system.at().flutter().value

    def attach(beam):
        beam.M[-2:, -2:] += mass * np.array([[1, arm], [arm, arm**2]])
        beam.K[-2, -2] += stiff

    assert extrapolated(found, attach, eta=lambda s: 0.02, **SECTION) == pytest.approx(found, rel=1e-6)


def test_two_rods_with_a_skate_between_them():
    """The second hangs on behind the skate without thrust; its section and its damping are others."""
    (X,) = coordinates("X")
    first = pfaff.Rod(0.5, retardation=0.02, modes=9, base=(X, 0, 0), name="u")
    joint = first.end
    second = pfaff.Rod(
        0.5, 0.5, lambda s: 1 - s, retardation=0.01, modes=9, base=(joint.x, joint.y, joint.theta), name="w"
    )
    found = skated([first, second], joint, X).at().flutter().value
    section = {
        "bending": lambda s: 1.0 if s < 0.5 else 0.5,
        "mass": lambda s: 1.0 if s < 0.5 else 1 - (s - 0.5),
        "eta": lambda s: 0.02 if s < 0.5 else 0.01,
        "rotary": lambda s: 0.0,
        "drag": lambda s: 0.0,
    }
    assert extrapolated(found, skate=0.5, **section) == pytest.approx(found, rel=1e-6)


def test_a_hinged_bar_at_the_end_of_a_rod():
    """On a spring and a damper, with the skate at its tip: F δX = F (∫w'δw' − φ δw_L)."""
    X, phi = coordinates("X phi")
    rod = pfaff.Rod(retardation=0.02, modes=10, base=(X, 0, 0))
    end = rod.end
    tip = end.x + sm.cos(phi), end.y + sm.sin(phi)
    F, (vx, vy) = sm.Symbol("F"), (each.diff(t) for each in tip)
    system = pfaff.System(
        coordinates=[X, phi],
        rods=[rod],
        kinetic=square(*tip) / 2,
        potential=-F * X + (phi - end.theta) ** 2,
        dissipation=0.05 * (phi.diff(t) - end.theta.diff(t)) ** 2,
        nonholonomic_constraints=[vx * sm.cos(phi) + vy * sm.sin(phi)],
        parameters={F: 0},
        load=F,
    )
    found = system.at().flutter().value
    even = dict.fromkeys(("bending", "mass"), lambda s: 1.0) | dict.fromkeys(("rotary", "drag"), lambda s: 0.0)

    def attach(beam):
        w, turn, bar = -3, -2, -1
        beam.G[-2, -1] -= 1.0  # the skate is at the tip of the bar instead
        beam.M, beam.C, beam.K, beam.G = (np.pad(each, (0, 1)) for each in (beam.M, beam.C, beam.K, beam.G))
        beam.G[w, bar] = 1.0
        beam.M[np.ix_([w, bar], [w, bar])] += 1.0
        spring = np.array([[2.0, -2.0], [-2.0, 2.0]])
        beam.K[np.ix_([turn, bar], [turn, bar])] += spring
        beam.C[np.ix_([turn, bar], [turn, bar])] += 0.05 * spring

    assert extrapolated(found, attach, eta=lambda s: 0.02, **even) == pytest.approx(found, rel=1e-6)


def test_a_moment_at_the_end_forces_a_rod():
    """Small, as the linear equations say; large, as a long motion ends, with a second harmonic in the potential."""
    (X,) = coordinates("X")
    F, P, Q, Omega = sm.symbols("F P Q Omega")
    rod = pfaff.Rod(retardation=0.05, drag=1, modes=3, base=(X, 0, 0))
    end = rod.end
    vx, vy = end.x.diff(t), end.y.diff(t)
    system = pfaff.System(
        coordinates=[X],
        rods=[rod],
        potential=-F * X - Q * sm.sin(2 * Omega * t + 1) * end.y,
        forces={end.theta: P * sm.cos(Omega * t)},
        nonholonomic_constraints=[vx * sm.cos(end.theta) + vy * sm.sin(end.theta)],
        parameters={F: 2, P: 1e-3, Q: 0, Omega: 3},
        load=F,
    )
    small = system.at()
    J = system.shape.jacobian(np.zeros(6), small.numbers, 0.0)
    linear = np.linalg.solve(3j * np.eye(6) - J, system.shape.rhs(np.zeros(6), small.numbers, 0.0))[0]
    point = small.response("Omega", to=3.1, points=2)[0]
    assert point.amplitude["rod1"] == pytest.approx(abs(linear), rel=1e-5)
    assert point.phase["rod1"] == pytest.approx(np.angle(linear), rel=1e-5)
    large = system.at(P=0.8, Q=0.6)
    point = large.response("Omega", to=3.1, points=2)[0]
    period = 2 * np.pi / 3
    motion = large.simulate(9 * period, samples=9 * 100 + 1)
    assert point.amplitude["rod1"] > 0.05
    assert np.ptp(motion["rod1"][-101:]) / 2 == pytest.approx(point.amplitude["rod1"], rel=2e-3)
    assert (motion["X"][-1] - motion["X"][-101]) / period == pytest.approx(point.mean["X_dot"], rel=1e-3)


def test_a_tilted_rod_responds_from_its_rest():
    """It rests straight but for rounding, which is no measure of how exactly that is known."""
    (X,) = coordinates("X")
    F, P, Omega = sm.symbols("F P Omega")
    responses = []
    for tilt in (0.1, 0.0):
        rod = pfaff.Rod(retardation=0.05, drag=0.3, modes=2, base=(X, 0, tilt))
        end = rod.end
        vx, vy = end.x.diff(t), end.y.diff(t)
        system = pfaff.System(
            coordinates=[X],
            rods=[rod],
            potential=-F * (X * sm.cos(tilt)),
            forces={end.theta: P * sm.cos(Omega * t)},
            nonholonomic_constraints=[vx * sm.cos(end.theta) + vy * sm.sin(end.theta)],
            parameters={F: 2, P: 1e-4, Omega: 3},
            load=F,
        )
        responses.append(system.at().response("Omega", to=3.1, points=2))
        assert responses[-1].found == "grown from rest with its forcing"
    tilted, straight = (each[0].amplitude["rod1"] for each in responses)
    assert tilted == pytest.approx(straight, rel=1e-6)


def test_what_forces_a_rod_otherwise_is_refused():
    (X,) = coordinates("X")
    Omega = sm.Symbol("Omega")
    rod = pfaff.Rod(modes=2, base=(X, 0, 0))
    system = pfaff.System(
        coordinates=[X],
        rods=[rod],
        nonholonomic_constraints=[X.diff(t) - sm.cos(Omega * t)],
        parameters={Omega: 3},
        accept_integrable=True,
    )
    with pytest.raises(ParameterError, match="in forces and potentials; simulate it"):
        system.at().response("Omega", to=4)


def test_a_rod_of_two_modes_has_cycles():
    """Fewer states than kinds of them are numbered."""
    hopf = pfaff.atlas.rod("skate", modes=2).at(M_L=1, eta=0.001, c_e=10).hopf()
    (first, *_) = hopf.orbits(to=hopf.value + 0.1)
    assert first.period == pytest.approx(2 * np.pi / hopf.omega, rel=0.05)


def test_amplitudes_begin_at_the_hopf_point():
    """Of a rod, whose first orbit is wide."""
    hopf = pfaff.atlas.rod("skate", modes=3).at(M_L=2, eta=0.002, c_e=8).hopf()
    branch = hopf.orbits(to=hopf.value + 0.1)
    lines = [line.get_xydata() for line in branch.plot().axes[1].lines if len(line.get_xydata()) > 1]
    (birth,) = [line for line in lines if line[0] == pytest.approx([hopf.value, 0])]
    assert birth[-1] == pytest.approx([branch[0].value, branch[0].amplitude["a1"]])


def test_rods_without_a_drawing_are_drawn_as_curves(tmp_path):
    """The points drawn are where the rods are: bent, they keep their lengths, and one begins where the other ends."""
    (X,) = coordinates("X")
    first = pfaff.Rod(2, modes=3, base=(X, 0, 0), name="u")
    end = first.end
    second = pfaff.Rod(1, modes=3, base=(end.x, end.y, end.theta + sm.pi / 2), name="w")
    system = pfaff.System(coordinates=[X], rods=[first, second], parameters={})
    assert system.plot().axes[0].lines
    motion = system.at().simulate(0.1, u1=0.5, w2=0.3, samples=2)
    points = scene_of_motion(motion, motion.t).points
    curves = [np.array([points[name][0, :2] for name in names]) for names in system.drawing.curves]
    lengths = [np.linalg.norm(np.diff(curve, axis=0), axis=1).sum() for curve in curves]
    assert lengths == pytest.approx([2, 1], rel=1e-3)
    assert curves[1][0] == pytest.approx(curves[0][-1], abs=1e-12)
    assert motion.animate(tmp_path / "two.html").exists()
