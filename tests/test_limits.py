"""Whatever is asked for, an answer or a refusal comes soon: counts have limits, files are known by their checksum."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

import pfaff
from pfaff.errors import ConvergenceError, ParameterError, PfaffError, StatementError

column = pfaff.atlas.column


@pytest.fixture(scope="module")
def motion():
    return column(2).at(F=1).simulate(2, samples=20, theta1=0.1)


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        (lambda: column(999_999_999_999), StatementError, "bars=999999999999 is more than"),
        (lambda: column(10**400), StatementError, "bars=10\\^400 is more than"),
        (lambda: pfaff.atlas.column_assembly(10**400), StatementError, "bars=10\\^400"),
        (lambda: pfaff.atlas.bottema_general(10**9, 2), StatementError, "n=1000000000 is more than"),
        (lambda: column(2).at(k=5e-324), ParameterError, "k=5e-324 has no finite inverse"),
        (lambda: column(2).at(F=1).simulate(1, samples=10**12), ParameterError, "samples=1000000000000 is more than"),
        (lambda: column(2).at(F=1).simulate(1, samples=10**400), ParameterError, "samples=10\\^400"),
        (lambda: column(2).at(F=1).ensemble(1, theta1=[0.1], samples=10**12), ParameterError, "more memory"),
        (lambda: column(2).at(F=1).simulate(1, max_steps=0), ParameterError, "max_steps=0"),
        (lambda: column(2).at(F=1).equilibria(starts=10**12), ParameterError, "starts=1000000000000 is more than"),
        (lambda: column(2).at(F=1).equilibria(box=1e300), ParameterError, "box=1e\\+300"),
        (lambda: column(1).compare(states=10**9), ParameterError, "states=1000000000 is more than"),
        (lambda: column(2).at(F=1).ensemble(1, F=np.broadcast_to(1.0, (10**6, 10**6))), ParameterError, "values of F"),
        (
            lambda: column(2).at().flutter_map(c_i=np.ones(10**6), c_e=np.ones(10**6)),
            ParameterError,
            "number of points",
        ),
        (lambda: column(2).shape.tensor(99, np.zeros(4), column(2).at()), ParameterError, "order=99 is more than"),
    ],
)
def test_what_would_take_hours_is_refused_at_once(request_, error, words):
    with pytest.raises(error, match=words):
        request_()


def test_pictures_have_a_limit(motion, tmp_path):
    with pytest.raises(ParameterError, match=r"frames=1000000 is more than 100.*animate"):
        motion.film(10**6)
    with pytest.raises(ParameterError, match="pictures, which take hours"):
        motion.animate(tmp_path / "motion.gif", seconds=1e9)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-150, 1e150, 1e300])
def test_numbers_of_any_size_have_an_answer(size):
    """Loads and stiffnesses near the ends of double precision: a verdict, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert column(2).at(F=size).spectrum().status
        if size > 1e-300:
            assert column(2).at(k1=size).flutter().status


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [{"c_i": 1e200}, {"c_i": 1e308}, {"k1": 1e308}, {"F": 1e200, "beta0": 0.03}])
@pytest.mark.parametrize("analysis", ["spectrum", "flutter"])
def test_numbers_too_large_for_double_precision_are_told(values, analysis):
    """What overflows is no verdict: a load of 1e200 on a bent column was "in balance to 7e-4", and stable."""
    case = column(2, "bow").at(**{"d": 0.5, "M_L": 15, "I_L": 15, "k1": 50, **values})
    if analysis == "flutter" and "F" in values:
        assert case.flutter().value < 100  # the load of the case does not matter to it
        return
    with pytest.raises(ConvergenceError, match=r"use other units|no continuation"):
        getattr(case, analysis)()


@pytest.fixture(scope="module")
def saved(motion, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    hopf = column(2).at(c_i=0.1).hopf()
    branch = hopf.orbits(to=1.02 * hopf.value, points=3)
    return {
        "motion": (motion.save(folder / "motion.nc"), pfaff.load_motion),
        "branch": (branch.save(folder / "branch.nc"), lambda path: pfaff.load_branch(path, branch.problem.case)),
    }


@pytest.mark.parametrize("kind", ["motion", "branch"])
@pytest.mark.parametrize("seed", range(8))
def test_damaged_files_are_told(saved, kind, seed, tmp_path):
    """A byte that means nothing, as between two variables, may change; what is read then is what was written."""
    path, load = saved[kind]
    whole = load(path)
    content = bytearray(path.read_bytes())
    draw = random.Random(seed)
    top = len(content) if seed % 2 else 800
    content[draw.randrange(top)] ^= 1 << draw.randrange(8)
    damaged = tmp_path / "damaged.nc"
    damaged.write_bytes(content)
    try:
        again = load(damaged)
    except ParameterError as told:
        assert str(damaged) in str(told)  # noqa: PT017
    else:
        assert whole.status == again.status
        assert (whole.y == again.y).all() if kind == "motion" else whole[-1].value == again[-1].value
    damaged.write_bytes(path.read_bytes()[: draw.randrange(len(content))])
    with pytest.raises(PfaffError):
        load(damaged)


@pytest.mark.parametrize("analysis", ["flutter", "divergence", "buckling", "critical"])
@pytest.mark.parametrize(("to", "remedy"), [(1e308, "a nearer"), (5e-324, "a farther")])
def test_ends_beyond_all_loads_are_refused(analysis, to, remedy):
    with pytest.raises(ParameterError, match=f"give {remedy} end"):
        getattr(pfaff.atlas.column(2).at(k1=50), analysis)(to=to)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("to", "remedy"), [(1e308, "a nearer"), (-1e200, "a nearer"), (1e-308, "a farther")])
def test_ends_whose_powers_are_no_numbers_are_not_followed_to(to, remedy):
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5)
    hopf = case.hopf()
    for follow in (case.branch, case.hopf, hopf.orbits):
        with pytest.raises(ParameterError, match=f"give {remedy} end, or use other units"):
            follow(to=to)
