"""Stiff equations by both backends: published end points, the way back, and every way to end early."""

from __future__ import annotations

import numpy as np
import pytest

from pfaff.errors import ParameterError, RankError
from pfaff.motion.implicit_methods import integrate


@pytest.fixture(params=["scipy", "sundials"])
def backend(request):
    if request.param == "sundials":
        pytest.importorskip("sksundae")
    return request.param


def robertson(t, x):
    a, b, c = x
    return np.array([-0.04 * a + 1e4 * b * c, 0.04 * a - 1e4 * b * c - 3e7 * b * b, 3e7 * b * b])


def robertson_jacobian(t, x):
    _, b, c = x
    return np.array([[-0.04, 1e4 * c, 1e4 * b], [0.04, -1e4 * c - 6e7 * b, -1e4 * b], [0, 6e7 * b, 0]])


def van_der_pol(t, x):
    return np.array([x[1], 1000 * (1 - x[0] ** 2) * x[1] - x[0]])


def van_der_pol_jacobian(t, x):
    return np.array([[0, 1], [-2000 * x[0] * x[1] - 1, 1000 * (1 - x[0] ** 2)]])


def decay(t, x):
    return -x


def decay_jacobian(t, x):
    return -np.eye(len(x))


def test_robertson(backend):
    """Mazzia and Magherini (2008), Test Set for IVP Solvers, release 2.4: the solution at t = 1e11."""
    path = integrate(robertson, robertson_jacobian, [1, 0, 0], [0, 1e11], tolerance=1e-12, backend=backend)
    assert path.finished
    reference = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]
    np.testing.assert_allclose(path.x[:, -1], reference, rtol=3e-5)


def test_van_der_pol(backend):
    """The same test set in the original time, μ = 1000: the solution at t = 2000."""
    path = integrate(van_der_pol, van_der_pol_jacobian, [2, 0], [0, 1000, 2000], tolerance=1e-10, backend=backend)
    assert path.finished
    assert path.x[0, -1] == pytest.approx(0.1706167732170469e1, rel=2e-6)
    assert path.x[1, -1] == pytest.approx(-0.8928097010248125e-3, rel=2e-6)


def test_samples_lie_on_the_solution(backend):
    times = np.array([0, 0.01, 0.5, 0.51, 3])
    path = integrate(decay, decay_jacobian, [1, 2], times, tolerance=1e-10, backend=backend)
    np.testing.assert_array_equal(path.t, times)
    np.testing.assert_allclose(path.x, np.exp(-times) * [[1], [2]], rtol=1e-7)


def test_backwards(backend):
    """There and back through a stiff transient of rate 30, which grows e³-fold on the way back."""
    matrix = np.array([[-30.0, 29.0], [0.0, -1.0]])
    there = integrate(lambda t, x: matrix @ x, lambda t, x: matrix, [1, 2], [0, 0.1], tolerance=1e-11, backend=backend)
    end = there.x[:, -1]
    back = integrate(
        lambda t, x: matrix @ x, lambda t, x: matrix, end, [0.1, 0.05, 0], tolerance=1e-11, backend=backend
    )
    assert back.finished
    np.testing.assert_array_equal(back.t, [0.1, 0.05, 0])
    np.testing.assert_allclose(back.x[:, -1], [1, 2], atol=1e-7)


def test_blow_up_is_named_and_keeps_what_was_computed(backend):
    """ẋ = x² has the solution 1/(1 − t)."""
    path = integrate(
        lambda t, x: x**2, lambda t, x: np.diag(2 * x), [1], np.linspace(0, 2, 21), tolerance=1e-9, backend=backend
    )
    assert path.status == "stopped: the step size has collapsed"
    assert path.t[-1] == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(path.x[0, :10], 1 / (1 - path.t[:10]), rtol=1e-5)


def test_what_is_not_finite_is_named(backend):
    """ẋ = −√x reaches zero at t = 2 and has no real continuation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        path = integrate(
            lambda t, x: -np.sqrt(x),
            lambda t, x: np.diag(-0.5 / np.sqrt(x)),
            [1],
            np.linspace(0, 3, 31),
            tolerance=1e-8,
            backend=backend,
        )
    assert path.status == "stopped: the state is no longer finite"
    assert path.t[-1] == pytest.approx(2, abs=1e-3)
    assert np.isfinite(path.x).all()


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (RankError("the constraints lose rank"), "stopped: the constraints lose rank"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_an_error_or_an_interrupt_keeps_what_was_computed(backend, problem, status):
    def rhs(t, x):
        if t > 1:
            raise problem
        return -x

    path = integrate(rhs, decay_jacobian, [1], np.linspace(0, 3, 31), tolerance=1e-9, backend=backend)
    assert path.status == status
    assert 0.9 <= path.t[-1] <= 1
    assert len(path.t) > 9
    np.testing.assert_allclose(path.x[0], np.exp(-path.t), rtol=1e-6)


def test_other_errors_pass(backend):
    def rhs(t, x):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        integrate(rhs, decay_jacobian, [1], [0, 1], tolerance=1e-9, backend=backend)


def test_limit_of_steps_progress_and_method(backend):
    done: list[float] = []
    path = integrate(
        decay, decay_jacobian, [1], [0, 1, 2], tolerance=1e-9, backend=backend, progress=done.append, max_steps=5
    )
    assert path.status == "stopped: the number of steps reached its limit, max_steps"
    assert path.method.endswith(", 5 steps")
    integrate(decay, decay_jacobian, [1], [0, 1, 2], tolerance=1e-9, backend=backend, progress=done.append)
    assert done[-2:] == [0.5, 1.0]


def test_without_sundials_scipy_takes_over(monkeypatch):
    monkeypatch.setattr("pfaff.motion.implicit_methods.find_spec", lambda name: None)
    path = integrate(decay, decay_jacobian, [1], [0, 1], tolerance=1e-6)
    assert path.method.startswith("Radau of SciPy")
    with pytest.raises(ParameterError, match=r"pip install .pfaff\[sundials\]"):
        integrate(decay, decay_jacobian, [1], [0, 1], tolerance=1e-6, backend="sundials")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"times": [0, 1, 1]}, "increasing or decreasing"),
        ({"times": [0]}, "at least two"),
        ({"x0": [np.nan]}, "finite numbers"),
        ({"tolerance": 1e-15}, "from 1e-13"),
        ({"backend": "scipi"}, "scipy"),
    ],
)
def test_bad_input(changes, message):
    given = {"x0": [1], "times": [0, 1], "tolerance": 1e-6} | changes
    with pytest.raises(ParameterError, match=message):
        integrate(decay, decay_jacobian, **given)
