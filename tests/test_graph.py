"""The graph of expressions: what it simplifies, derivatives against 50 digits, SymPy and heyoka, equal tapes."""

import gc
import math
import os
import pickle
import random
import subprocess
import sys
import threading

import mpmath as mp
import numpy as np
import pytest
import sympy as sm

from pfaff.errors import StatementError
from pfaff.flow import graph as ex
from pfaff.flow.conversion import convert
from pfaff.flow.differentiation import derivatives, gradient, jacobian
from pfaff.flow.graph import CLOCK, ONE, ZERO, Expression, expression, par, subs, sum_of
from pfaff.flow.tape import tape_of

x, y, z = (expression(name) for name in "xyz")
SLOPES = {
    **{
        "sqrt": lambda a: 1 / (2 * mp.sqrt(a)),
        "sin": mp.cos,
        "cos": lambda a: -mp.sin(a),
        "tan": lambda a: mp.sec(a) ** 2,
    },
    **{"asin": lambda a: 1 / mp.sqrt(1 - a * a), "acos": lambda a: -1 / mp.sqrt(1 - a * a)},
    **{"atan": lambda a: 1 / (1 + a * a), "sinh": mp.cosh, "cosh": mp.sinh, "tanh": lambda a: mp.sech(a) ** 2},
    **{
        "asinh": lambda a: 1 / mp.sqrt(1 + a * a),
        "acosh": lambda a: 1 / (mp.sqrt(a - 1) * mp.sqrt(a + 1)) if a > 1 else mp.nan,
    },
    **{"atanh": lambda a: 1 / (1 - a * a), "exp": mp.exp, "log": lambda a: 1 / a},
    "erf": lambda a: 2 / mp.sqrt(mp.pi) * mp.exp(-a * a),
    "erfc": lambda a: -2 / mp.sqrt(mp.pi) * mp.exp(-a * a),
}
ORDINARY, HUGE, TINY = (0.3, -0.7, 1.5, -2.4, 12.0), (1e5, -3e8, 1e150), (1e-9, -1e-160, 5e-324)
NEAR_ONE = (1 - 2**-50, -1 + 2**-52, 1 + 2**-50)


def values(expressions, at, variables=(x, y, z)):
    return tape_of(list(expressions), variables).value(np.array(at, dtype=float))


@pytest.mark.parametrize("name", ex.FUNCTIONS)
def test_slopes_of_functions_have_all_digits(name):
    (slope,) = gradient(getattr(ex, name)(x), [x])
    for a in (*ORDINARY, *HUGE, *TINY, *NEAR_ONE):
        (found,) = values([slope], [a], [x])
        with mp.workdps(50):
            exact = SLOPES[name](mp.mpf(a))
        if isinstance(exact, mp.mpf) and math.isfinite(float(exact)):
            limit = 8 * (1 + a * a) if name.startswith("erf") and abs(a) < 30 else 8  # exp multiplies the error of a²
            limit = 8 * max(1, abs(a)) if name in ("sinh", "cosh", "exp") else limit
            assert float(abs(found - exact)) <= limit * 2.0**-53 * float(abs(exact)) + 1e-307, a


@pytest.mark.parametrize("a", [0.3, 1.7, 1e-80, 1e80])
@pytest.mark.parametrize("b", [2.0, 3.0, -1.0, 0.5, -1.5, 0.3, -2.7])
def test_powers_and_their_slopes(a, b):
    with mp.workdps(50):
        exact = [mp.mpf(a) ** b, b * mp.mpf(a) ** (mp.mpf(b) - 1), mp.mpf(a) ** b * mp.log(a)]
    limit = 1e-13  # for exponents that are rounded
    power = ex.power(x, expression(b))
    assert values([power, *gradient(power, [x])], [a], [x]) == pytest.approx([float(e) for e in exact[:2]], rel=limit)
    both = ex.power(x, y)
    assert values([both, *gradient(both, [x, y])], [a, b], [x, y]) == pytest.approx(
        [float(e) for e in exact], rel=limit
    )


@pytest.mark.parametrize(("b", "a"), [(0.3, 0.7), (-0.3, 0.7), (0.3, -0.7), (-2.0, 0.0), (0.0, -3.0), (1e-100, 1e90)])
def test_angles_of_directions_and_their_slopes(b, a):
    angle = ex.atan2(y, x)
    with mp.workdps(50):
        u, v = mp.mpf(a), mp.mpf(b)
        exact = [float(e) for e in (mp.atan2(v, u), -v / (u * u + v * v), u / (u * u + v * v))]
    assert values([angle, *gradient(angle, [x, y])], [a, b], [x, y]) == pytest.approx(exact, rel=1e-15, abs=1e-300)


def test_numbers_are_folded_where_their_product_has_all_digits():
    for k, a in ((1e-160, 1e200), (-1e-160, 1e200), (1e160, 1e-200)):
        (found,) = values([expression(k) * (expression(k) * x)], [a], [x])
        assert found == k * (k * a)
    assert expression(1e-150) * (expression(1e-150) * x) is expression(1e-150 * 1e-150) * x


def test_what_is_built_is_simple():
    p, q = par[0], par[1]
    assert x + 0 is x is 0 + x is x - 0 is 1 * x is x / 1 is x**1 is -(x * -1)
    assert x * 0 is ZERO is x - x is 0 / x
    assert x / x is ONE is x**0
    assert x + x is 2 * x
    assert x + -y is x - y is -(y - x)
    assert (-x) * (-y) is x * y
    assert (-x) / y is -(x / y)
    assert ex.sin(-x) is -ex.sin(x)
    assert ex.cos(-x) is ex.cos(x)
    assert 2 * (3 * x) is 6 * x is (x * 2) * 3
    assert p * (x * q) is (q * p) * x is q * (p * x)
    assert (p * x) * (q * y) is (p * q) * (x * y)
    assert x**3 is x * x * x is (x * x) * x
    assert x**-1.5 is 1 / (x * ex.sqrt(x))
    assert x / 4 is 0.25 * x
    assert ex.cos(ZERO) is ONE is ex.exp(ZERO)
    assert ex.sqrt(expression(2)) is expression(math.sqrt(2))
    assert expression(-0.0) is ZERO
    assert expression(math.nan) is expression(-math.nan)
    assert (1e200 * (1e200 * x)).args[1] is 1e200 * x  # no overflow that was not there
    assert sum_of([]) is ZERO
    assert [x + y, x] != [x, x + y]
    assert str(2 * x - ex.sin(par[3] / CLOCK)) == "((2.0*x) - sin((par[3]/t)))"


def test_singular_numbers_stay_singular():
    """Substituted into 0/0, zeros give NaN, whatever vanishes beside it."""
    v, u = expression("v"), expression("u")
    for rubbing in (v * v / ex.sqrt(v * v + u * u), ex.atan2(v, u), v * ex.log(u), v * ex.power(u, expression(-0.3))):
        slopes = subs([*gradient(rubbing, [v, u]), rubbing], {v: ZERO, u: ZERO})
        assert np.isnan(values(slopes, [0.0], [x])).any()
    found = values([1 / ZERO, -2 / ZERO, ZERO / ZERO, ex.log(ZERO), ex.sqrt(expression(-1)), x / ZERO], [1.0], [x])
    np.testing.assert_array_equal(found, [math.inf, -math.inf, math.nan, -math.inf, math.nan, math.inf])


def test_what_is_not_rounded_correctly_is_left_to_the_readers():
    assert ex.sin(expression(2.0)).op == "sin"
    assert values([ex.sin(expression(2.0)) * x], [1.0], [x]) == pytest.approx(math.sin(2.0), rel=1e-15)


def random_expression(draw, leaves, operations):
    """A smooth expression for variables between 0.2 and 0.8."""
    pool = list(leaves)
    for _ in range(operations):
        a, b = draw.choice(pool), draw.choice(pool)
        pool.append(
            draw.choice(
                [
                    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (2 + b * b),
                    lambda a, b: sin(a), lambda a, b: cos(a), lambda a, b: exp(-a * a), lambda a, b: sqrt(1 + a * a),
                    lambda a, b: tanh(a - b), lambda a, b: atan2(a, 2 + b * b), lambda a, b: (1 + a * a) ** b,
                    lambda a, b: -a * 3, lambda a, b: log(2 + a * a),
                ]
            )(a, b)
        )  # fmt: skip
    return pool[-1]


sin, cos, exp, sqrt, tanh, atan2, log = sm.sin, sm.cos, sm.exp, sm.sqrt, sm.tanh, sm.atan2, sm.log
SYMBOLS = sm.symbols("x y z p t", real=True)
KNOWN = dict(zip(SYMBOLS, (x, y, z, par[0], CLOCK), strict=True))
AT = (0.31, 0.52, 0.73, 1.3, 0.4)


@pytest.mark.parametrize("seed", range(12))
def test_derivatives_agree_with_those_of_sympy(seed):
    draw = random.Random(seed)
    functions = [random_expression(draw, SYMBOLS, 9) for _ in range(3)]
    ours = [convert(f, KNOWN) for f in functions]
    by = list(KNOWN.values())
    first = [e for row in jacobian(ours, by) for e in row]
    second = list(derivatives(ours[:1], by, 2))
    third = list(derivatives(ours[:1], by[:2], 3))
    found = tape_of([*ours, *first, *(e for _, e in second), *(e for _, e in third)], [x, y, z]).value(
        AT[:3], AT[3:4], AT[4]
    )
    theirs = [*functions, *(f.diff(s) for f in functions for s in SYMBOLS)]
    theirs += [functions[0].diff(SYMBOLS[i], SYMBOLS[j]) for (_, i, j), _ in second]
    theirs += [functions[0].diff(*(SYMBOLS[i] for i in index[1:])) for index, _ in third]
    exact = [float(e.subs(dict(zip(SYMBOLS, AT, strict=True))).evalf(30)) for e in theirs]
    assert found == pytest.approx(exact, rel=1e-12, abs=1e-13)
    assert [index for index, _ in third] == [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 1)]


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_agree_with_those_of_heyoka(seed):
    hy = pytest.importorskip("heyoka")
    functions = [random_expression(random.Random(100 * seed + k), SYMBOLS, 25) for k in range(4)]
    variables = [hy.expression(name) for name in "xyz"]
    known = dict(zip(SYMBOLS, (*variables, hy.par[0], hy.time), strict=True))
    theirs = [hy.from_sympy(f, known) for f in functions]
    ours = [convert(f, KNOWN) for f in functions]
    rows = hy.diff_tensors(theirs, [*variables, hy.par[0]], diff_order=1).jacobian.ravel()
    exact = hy.cfunc([*theirs, *rows], variables)(np.array(AT[:3]), pars=np.array(AT[3:4]), time=AT[4])
    by = [x, y, z, par[0]]
    columns = [[e for (e,) in jacobian(ours, [v])] for v in by]  # upwards from leaves
    for rows in (jacobian(ours, by), zip(*columns, strict=True)):
        entries = [e for row in rows for e in row]
        found = tape_of([*ours, *entries], [x, y, z]).value(AT[:3], AT[3:4], AT[4])
        assert found == pytest.approx(exact, rel=1e-12, abs=1e-13)


def test_substitution_is_made_at_once_and_of_whole_terms():
    assert subs([x + ex.sin(y), y], {x: y, y: x}) == [y + ex.sin(x), x]
    assert subs([ex.cos(x * y) + x], {ex.cos(x * y): z}) == [z + x]
    assert subs([x * y, par[0] * CLOCK], {x: 0.0, par[0]: 2.0}) == [ZERO, 2 * CLOCK]


def test_only_what_has_a_real_value_and_a_reader_is_converted():
    a, b = sm.symbols("a b")
    known = {a: x, b: y}
    assert convert(a / 3 - a / b**2, known) is x * (1 / 3) - x / (y * y)
    assert convert(sm.sqrt(2) * sm.pi, known) is expression(float(sm.sqrt(2) * sm.pi))
    assert convert(a ** sm.Rational(-3, 2) * sm.exp(-b), known) is ex.exp(-y) / (x * ex.sqrt(x))
    for wrong, words in {
        a + sm.I: "I is no finite real number",
        sm.zoo * a: "zoo is no finite",
        a + sm.Integer(10) ** 400: "no finite",
        sm.Abs(a): "Abs.a. cannot be evaluated: write it by sums, .*, tanh",
        sm.Function("f")(a): "f.a. cannot",
        sm.Symbol("c") + a: "c is neither a coordinate",
    }.items():
        with pytest.raises(StatementError, match=words):
            convert(wrong, {a: x})


def test_numbers_are_rounded_once_wherever_they_stand():
    """So that c cos a − c vanishes at a = 0."""
    a = sm.Symbol("a")
    for c in (3 * sm.sqrt(3) / 20, sm.pi * sm.sqrt(7) / 3, sm.sqrt(2) / sm.Integer(7) ** sm.Rational(1, 3)):
        (left,) = values([convert(c * sm.cos(a) - c, {a: x})], [0.0], [x])
        assert left == 0.0
        assert convert(c, {}).value == float(c.evalf(40))


def test_numbers_may_stand_apart():
    """To be given with more digits than a graph holds."""
    a = sm.Symbol("a")
    third = {sm.Rational(1, 3): par[0], sm.pi: par[1]}
    assert convert(a / 3 + sm.pi * sm.cos(sm.Rational(1, 3)), {a: x, **third}) is x * par[0] + par[1] * ex.cos(par[0])


def test_deep_expressions_need_no_deep_stack():
    e = x
    for _ in range(50_000):
        e = ex.sin(e + 0.5)
    (slope,) = gradient(e, [x])
    assert pickle.loads(pickle.dumps(e)) is e
    assert subs([e], {x: y})[0] is not e
    assert len(str(slope)) < 100_000
    assert np.isfinite(tape_of([e, slope], [x]).value([0.2])).all()


def test_nothing_is_kept_that_nobody_holds():
    gc.collect()
    before = len(ex.KNOWN)
    held = [ex.sin(x * k + y) / (k + z) for k in range(2, 500)]
    assert len(ex.KNOWN) > before + 1000
    del held
    assert len(ex.KNOWN) == before


def test_threads_that_build_the_same_get_the_same():
    found: list[list[Expression]] = []

    def build():
        found.append([ex.cos(ex.sin(x * k) + k * y) for k in range(2000)])

    threads = [threading.Thread(target=build) for _ in range(8)]
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(old)
    assert all(a is b for other in found[1:] for a, b in zip(found[0], other, strict=True))


MADE = """
import sys
import pfaff
from pfaff.flow.graph import expression, sin
from pfaff.flow.tape import tape_of
if int(sys.argv[1]):
    kept = [sin(expression(name) * k) + expression(name) for name in ("theta_2", "theta_1", "F") for k in range(50)]
    other = pfaff.atlas.column(3, constraint="bow", load="spring").shape
flow = pfaff.atlas.column(2, constraint="skate", load="dead").shape
rows = flow.derivatives(flow.variables)
print(tape_of([*flow.expressions, *(e for row in rows for e in row)], flow.variables).key)
"""


def test_equal_statements_make_equal_tapes_in_every_process():
    keys = set()
    for seed in ("0", "1", "12345"):
        run = subprocess.run(
            [sys.executable, "-c", MADE, seed],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert run.returncode == 0, run.stderr
        keys.add(run.stdout)
    assert len(keys) == 1
