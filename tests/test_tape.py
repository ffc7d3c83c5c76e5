"""Tapes: every operation against 50 digits, what is in which part, and that damaged ones are refused."""

import dataclasses
import pickle

import mpmath as mp
import numpy as np
import pytest

from pfaff.errors import PfaffError
from pfaff.flow import graph as ex
from pfaff.flow.graph import CLOCK, expression, par
from pfaff.flow.tape import OPS, Op, Tape, tape_of

x, y = expression("x"), expression("y")
ARGUMENTS = (0.3, -0.7, 1.5, -2.4, 12.0, 1e5, -3e8, 1e150, 1e-9, -1e-160, 5e-324, 0.0, 1.0, -1.0, 1 - 2**-50)
TWO = {"add": mp.fadd, "sub": mp.fsub, "mul": mp.fmul, "div": mp.fdiv, "pow": mp.power, "atan2": mp.atan2}


def every_operation():
    functions = [getattr(ex, name)(x) for name in ex.FUNCTIONS]
    return [*functions, -x, x * x, *(ex.BUILDERS[name](x, y) for name in TWO)]


@pytest.mark.parametrize("name", ex.FUNCTIONS)
def test_functions_have_all_digits(name):
    tape = tape_of([getattr(ex, name)(x)], [x])
    assert [OPS[op] for op in tape.rows[:, 0]] == [name.upper()]
    found = tape.value(np.array([ARGUMENTS]))[0]
    for a, value in zip(ARGUMENTS, found, strict=True):
        with mp.workdps(400 if abs(a) > 1e100 else 50):
            try:
                exact = getattr(mp, name)(mp.mpf(a))
            except (OverflowError, ValueError, ZeroDivisionError):  # poles
                assert not np.isfinite(value)
                continue
            if isinstance(exact, mp.mpc) and exact.imag != 0:
                assert np.isnan(value), a
            else:
                assert value == pytest.approx(float(mp.re(exact)), rel=2**-50, abs=1e-323), a


@pytest.mark.parametrize("name", TWO)
def test_operations_on_two_arguments_have_all_digits(name):
    tape = tape_of([ex.BUILDERS[name](x, y)], [x, y])
    for a in ARGUMENTS:
        for b in ARGUMENTS:
            (value,) = tape.value([a, b])
            with mp.workdps(400):
                if abs(a) > 1e50 and name == "pow":
                    continue
                try:
                    exact = TWO[name](mp.mpf(a), mp.mpf(b))
                except ZeroDivisionError:
                    assert not np.isfinite(value) or name == "pow"
                    continue
                if isinstance(exact, mp.mpc):
                    assert np.isnan(value) or exact.imag == 0
                elif mp.isfinite(exact):
                    assert value == pytest.approx(float(exact), rel=2**-50, abs=1e-323), (a, b)


def test_what_depends_on_parameters_alone_comes_first():
    f = ex.sin(par[0]) * ex.cos(par[0]) * x + par[1] * CLOCK * ex.exp(par[2] + 1)
    tape = tape_of([f, par[0] / par[1], expression(3.0), x, CLOCK], [x])
    prologue = tape.rows[: tape.prologue_rows]
    assert {OPS[op] for op in prologue[:, 0]} == {"SINCOS", "MUL", "ADD", "EXP", "DIV"}
    assert {OPS[op] for op in tape.rows[tape.prologue_rows :, 0]} == {"MUL", "ADD"}
    a, b, c, t = 0.4, 0.7, -0.2, 1.3
    exact = [np.sin(a) * np.cos(a) * 2.5 + b * t * np.exp(c + 1), a / b, 3.0, 2.5, t]
    assert tape.value([2.5], [a, b, c], t) == pytest.approx(exact, rel=1e-15)
    assert tape.timed
    assert not tape_of([x * par[0]], [x]).timed


def test_sines_and_cosines_of_one_argument_are_one_instruction():
    tape = tape_of([ex.sin(x), ex.cos(x), ex.sin(y)], [x, y])
    assert sorted(OPS[op] for op in tape.rows[:, 0]) == ["SIN", "SINCOS"]
    assert tape.value([0.4, 0.5]) == pytest.approx([np.sin(0.4), np.cos(0.4), np.sin(0.5)], rel=1e-15)


def test_runs_gather_equal_operations():
    tape = tape_of([ex.sin(x + k) * (y + k) / (2 + k) + k for k in range(3, 40)], [x, y])
    assert len(tape.runs) == 5 < len(tape.rows) == 6 * 37
    assert (np.diff(tape.runs[:, 1:]) > 0).all()


def test_values_for_many_columns_and_in_the_precision_of_the_state():
    e = tape_of([ex.sqrt(x) * par[0] + y / 3, y], [x, y])
    states = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    many = e.value(states, np.array([0.5]))
    assert np.array_equal(many, np.column_stack([e.value(column, [0.5]) for column in states.T]))
    precise = e.value(states[:, 1].astype(np.longdouble), [0.5])
    assert precise.dtype == np.longdouble
    assert float(abs(precise[0] - np.sqrt(np.longdouble(2)) / 2 - np.longdouble(5) / 3)) < 1e-18
    assert tape_of([], [x]).value([1.0]).shape == (0,)
    assert tape_of([expression(2.0)], []).value([]).tolist() == [2.0]


def test_a_tape_is_kept_as_it_is():
    tape = tape_of(every_operation(), [x, y])
    again = pickle.loads(pickle.dumps(tape))
    assert again.key == tape.key
    assert np.array_equal(again.value([0.3, 0.4]), tape.value([0.3, 0.4]), equal_nan=True)
    assert tape.key != tape_of(every_operation()[::-1], [x, y]).key
    with pytest.raises(ValueError, match="read-only"):
        tape.rows[0] = 0


def test_unknown_variables_are_named():
    with pytest.raises(PfaffError, match="depend on y"):
        tape_of([x + y], [x])


WRONG = [-1, 0, 5, 13, 1000, 2**31 - 1, -(2**31)]


def stated(tape):
    return {each.name: getattr(tape, each.name) for each in dataclasses.fields(tape)}


def test_damaged_tapes_are_refused():
    """Whatever is changed, either the tape is refused, or its readers stay within their registers."""
    f = ex.sin(par[0]) * ex.cos(par[0]) * x + par[1] * CLOCK + 2.5
    tape, draw, refused = tape_of([*every_operation(), f], [x, y]), np.random.default_rng(1), 0
    for _ in range(3000):
        parts = {key: np.copy(each) if np.ndim(each) else each for key, each in stated(tape).items()}
        name = draw.choice(["rows", "rows", *parts])
        if np.ndim(parts[name]) and draw.random() < 0.2:
            parts[name] = parts[name][: draw.integers(len(parts[name]))]
        elif np.ndim(parts[name]):
            parts[name].flat[draw.integers(parts[name].size)] = draw.choice(WRONG)
        else:
            parts[name] = int(parts[name] + draw.choice([-3, -1, 1, 1000, 2**40]))
        try:
            changed = Tape(**parts)
        except PfaffError:
            refused += 1
            continue
        assert changed.value(np.ones(changed.n), np.ones(changed.p)).shape == changed.outputs.shape
        assert changed.size == changed.n + 1 + changed.p + len(changed.numbers) + _written(changed)
    assert refused > 1500


@pytest.mark.parametrize("name", [each.name for each in dataclasses.fields(Tape)])
def test_what_is_no_number_is_damage(name):
    """Of another type, in any place, as a file may hold it."""
    parts = stated(tape_of([ex.sin(x) * x + 2.5], [x]))
    for wrong in ("a", b"", {}, np.array(["a"])):
        with pytest.raises(PfaffError, match="damaged"):
            Tape(**{**parts, name: wrong})


def test_variables_are_gone_through_a_few_times():
    """Not anew for every node."""

    class Counted(list):
        times = 0

        def __iter__(self):
            self.times += 1
            return super().__iter__()

    variables = Counted([expression(f"x{k}") for k in range(100)])
    tape_of([ex.sum_of(ex.sin(each) for each in list.__iter__(variables))], variables)
    assert variables.times < 5


def _written(tape):
    return len(tape.rows) + (tape.rows[:, 0] == Op.SINCOS).sum()
