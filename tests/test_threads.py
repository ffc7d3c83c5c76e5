"""Threads that share systems, cases and results get what one thread alone gets, to the last bit."""

from __future__ import annotations

import gc
import io
import os
import re
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from time import thread_time
from types import ModuleType, SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import dynamicsymbols

import pfaff
from pfaff.algebra.one_thread import one_thread
from pfaff.atlas.chain import column_assembly
from pfaff.flow.compiled import Compiled
from pfaff.flow.jets import jets_of
from pfaff.progress import bar
from pfaff.statement.evaluation import Digits, evaluated
from pfaff.statement.values import number_from, numbers_from
from pfaff.threads import Once, Own, cached_property, known_property, once

THREADS = 8
PATIENCE = 120.0  # seconds, after which threads that wait for each other would wait for ever
XI = {"d": "1/2", "M_L": 15, "I_L": 15, "k1": 50}


@pytest.fixture(autouse=True)
def _restless() -> Iterator[None]:
    """Threads take turns as often as Python allows; mpmath's digits are as they were, whatever a test finds."""
    usual, digits = sys.getswitchinterval(), mpmath.mp.prec
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)
    mpmath.mp.prec = digits


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """What tasks return that start at the same time, in a thread each."""
    found: list[Any] = [None] * len(tasks)
    start = threading.Barrier(len(tasks))

    def run(k: int) -> None:
        start.wait()
        try:
            found[k] = tasks[k]()
        except BaseException as problem:
            found[k] = problem

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the threads wait for each other"
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return found


def bits(value: Any) -> Any:
    """A value whose equality is that of all bits."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, float | complex):
        return np.asarray(value).tobytes()
    if isinstance(value, dict):
        return {name: bits(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [bits(each) for each in value]
    return value


def in_threads(tasks: list[Callable[[], Any]]) -> list[Any]:
    """The bits of what each task gives; eight threads do them again and again, and must all find the same."""
    shared = [*tasks, *tasks * THREADS][: max(THREADS, len(tasks))]
    found = together(*(lambda task=task: bits(task()) for task in shared))
    for k, each in enumerate(found):
        assert each == found[k % len(tasks)]
    return found[: len(tasks)]


# What is asked for: systems, two cases of each, and one number or more of every analysis


def brusselator() -> pfaff.Ode:
    x, y = dynamicsymbols("x y")
    A, B = sm.symbols("A B", positive=True)
    equations = {x: A + x**2 * y - (B + 1) * x, y: B * x - x**2 * y}
    return pfaff.ode(equations, parameters={A: 1, B: "3/2"}, load=B, name="brusselator")


def damped(system: Any) -> list[Any]:
    return [system.at(**XI, c_i=1.5), system.at(**XI, c_i=0.8)]


def undamped(system: Any) -> list[Any]:
    return [system.at(**XI), system.at(**{**XI, "k1": 60})]


def as_stated(system: Any) -> list[Any]:
    return [system.at()]


def hopf(case: Any) -> Any:
    found = case.hopf()
    return found.value, found.omega, found.l1, found.V3, found.l2, found.crossing_speed


def critical(case: Any) -> Any:
    found = case.critical()
    return float(found.flutter), found.flutter.frequency, float(found.divergence)


def spectrum(case: Any) -> Any:
    found = case.spectrum(F=80)
    return found.values, found.vectors


def motion(case: Any, **options: Any) -> Any:
    found = case.at(F=80).simulate(4, samples=21, theta1_dot=0.01, **options)
    return moved(found)


def moved(found: Any) -> Any:
    parts = ("kinetic", "potential", "total", "dissipated", "supplied")
    return found.y, found.p, found.residual, [getattr(found.energy, part) for part in parts], found.status


def with_events(case: Any) -> Any:
    event = pfaff.Event("theta1", direction=1)
    return case.at(F=80).simulate(20, samples=11, theta1_dot=0.01, events={"up": event}).events["up"].t


def driven(case: Any) -> Any:
    return moved(case.simulate(2, samples=21, theta1_dot=0.01, prescribed={"F": "70 + sin(t)"}))


def stiff(case: Any) -> Any:
    return [motion(case, method=method, tolerance=1e-5) for method in ("implicit", "radau")]


def augmented(case: Any) -> Any:
    return motion(case, method="augmented", tolerance=1e-3)


def ensemble(case: Any) -> Any:
    return case.ensemble(5, samples=6, F=np.linspace(70, 90, 9), theta1_dot=0.01).y


def orbits(case: Any) -> Any:
    hopf = case.hopf()
    return followed(hopf.orbits(to=hopf.value + 2, points=4))


def followed(branch: Any) -> Any:
    return [(each.value, each.period, each.multipliers, each.point.cycle.x) for each in branch], branch.ended


def branch(case: Any) -> Any:
    found = case.branch("F", to=85)
    return [each.value for each in found], [(each.kind, each.value) for each in found.special]


def curve(case: Any) -> Any:
    return [(each["F"], each["k1"]) for each in case.hopf().curve("k1", to=52, points=3)]


def steady(case: Any) -> Any:
    found = case.steady(phi_dot=12, theta=0.3)
    return found.x, found.spectrum().values


def paradox(case: Any) -> Any:
    found = case.paradox({"c_e": 1})
    return found.limit, found.undamped


def equilibria(case: Any) -> Any:
    return [each.q for each in case.at(F=60).equilibria(starts=30)]


def flutter_map(case: Any) -> Any:
    return case.flutter_map(c_i=np.linspace(0.5, 2, 3), c_e=np.linspace(0, 1, 2)).values


def plain(case: Any) -> Any:
    """All that a plain ODE is asked for."""
    hopf = case.hopf(x=1, y=1)
    followed_on = followed(hopf.orbits(to=hopf.value + 0.3, points=4))
    return hopf.value, hopf.l1, hopf.l2, followed_on, case.at(B=3).simulate(5, samples=11, x=1, y=1).y


def chained(assembly: Any) -> Any:
    found = assembly.flutter()
    return float(found), found.mode, assembly.simulate(0.3, 0.5, samples=4, start={2: 1e-2}, tolerance=1e-4).y


def exported(case: Any) -> Any:
    programs = ("auto", "matcont", "bifurcationkit", "c", "numpy", "latex")
    return [sorted(case.export(to).files.items()) for to in programs]


def compared(case: Any) -> Any:
    timed = ("derivation", "evaluation")
    rows = case.system.compare(states=4).rows
    return [{name: value for name, value in vars(row).items() if name not in timed} for row in rows]


def classified(case: Any) -> Any:
    system = case.system
    return str(system.classification), system.equations("lagrange").latex(), system.equations("appell").latex()


def exact(case: Any) -> Any:
    return str(case.flutter(exact=True).value)


ANALYSES: dict[str, tuple[Callable[[], Any], Callable[[Any], list[Any]], list[Callable[[Any], Any]]]] = {
    "linear": (lambda: pfaff.atlas.column(2, "skate"), damped, [critical, spectrum, flutter_map]),
    "normal forms": (lambda: pfaff.atlas.column(2, "skate"), damped, [hopf]),
    "orbits": (lambda: pfaff.atlas.column(2, "skate"), damped, [orbits]),
    "branches": (lambda: pfaff.atlas.column(2, "skate"), damped, [branch, curve]),
    "motions": (lambda: pfaff.atlas.column(2, "skate"), damped, [motion, with_events, driven]),
    "other methods": (lambda: pfaff.atlas.column(2, "skate"), damped, [stiff, augmented, ensemble]),
    "equilibria": (lambda: pfaff.atlas.column(2, "bow"), damped, [equilibria]),
    "limits": (lambda: pfaff.atlas.column(2, "skate"), undamped, [paradox]),
    "steady motions": (pfaff.atlas.rolling_disc, lambda disc: [disc.at(), disc.at(m=2)], [steady]),
    "plain ODEs": (brusselator, lambda ode: [ode.at(), ode.at(A="5/4")], [plain]),
    "symbols": (pfaff.atlas.knife_edge, as_stated, [classified, compared]),
    "exact": (lambda: pfaff.atlas.column(1, "bow"), as_stated, [exact]),
    "exports": (brusselator, as_stated, [exported]),
}
SLOW = ("orbits", "branches", "motions", "linear", "limits", "symbols", "normal forms")


def fresh(name: str) -> Any:
    """A system that nobody has used yet."""
    return replace(ANALYSES[name][0]())


def analyses(name: str, system: Any) -> list[Callable[[], Any]]:
    _, cases, asked = ANALYSES[name]
    bound = cases(system)
    return [lambda case=case, analysis=analysis: analysis(case) for analysis in asked for case in bound]


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in ANALYSES])
def test_threads_find_what_one_thread_finds(name: str) -> None:
    alone = [bits(task()) for task in analyses(name, fresh(name))]
    system = fresh(name)
    tasks = analyses(name, system)
    assert in_threads(tasks) == alone, "cold: they derive and compile together"
    assert in_threads(tasks) == alone, "warm: they use together what is compiled"
    left = weakref.ref(system)
    del system, tasks
    gc.collect()
    assert left() is None, "a system that nobody holds is gone, with megabytes that were compiled for it"


@pytest.mark.slow
def test_threads_may_analyse_different_systems() -> None:
    names = ("normal forms", "plain ODEs", "steady motions", "equilibria")

    def tasks() -> list[Callable[[], Any]]:
        chains = [column_assembly(n, k=float(n), k1=2.0 * n, c_i=0.1) for n in (12, 15)]
        return [task for name in names for task in analyses(name, fresh(name))] + [
            lambda c=chain: chained(c) for chain in chains
        ]

    assert in_threads(tasks()) == [bits(task()) for task in tasks()]


# Results that threads share


def test_threads_share_the_derivatives_of_a_flow(skate: pfaff.System) -> None:
    case = skate.at(**XI, c_i=1.5)
    hopf = case.hopf()
    jets, numbers = jets_of(hopf.around.flow), hopf.around.numbers(hopf.value)
    vectors = np.random.default_rng(0).normal(size=(THREADS, 3, len(hopf.x)))
    tasks = [lambda v=v: [jets.form(hopf.x, numbers, *v) for _ in range(20)] for v in vectors]
    assert in_threads(tasks) == [bits(task()) for task in tasks]


def test_threads_share_functions(skate: pfaff.System) -> None:
    flow, case = skate.shape, skate.at(**XI, c_i=1.5)
    function = Compiled(flow.expressions, flow.variables)
    states = np.random.default_rng(0).normal(size=(THREADS, len(flow.states), 50))
    tasks = [lambda x=x: [function(x, case.numbers) for _ in range(50)] for x in states]
    assert in_threads(tasks) == [bits(task()) for task in tasks]


def test_threads_share_a_branch_of_orbits() -> None:
    hopf = brusselator().at().hopf(x=1, y=1)
    branch = hopf.orbits(to=2.6)
    values = np.linspace(2.1, 2.5, THREADS)
    between = [lambda value=value: followed_at(branch, value) for value in values]
    beyond = [lambda k=k: followed(branch[k].orbits(to=2.8, points=3)) for k in range(1, 5)]
    further = [lambda to=to: followed(branch.extend(to, points=3)) for to in (2.7, 2.8)]
    tasks = [*between, *beyond, *further]
    alone = [bits(task()) for task in tasks]
    for _ in range(10):
        assert in_threads(tasks) == alone


def followed_at(branch: Any, value: float) -> Any:
    return [(each.period, each.multipliers, each.point.cycle.x) for each in branch.at(value)]


def test_threads_share_a_motion(skate: pfaff.System) -> None:
    case, times = skate.at(**XI, c_i=1.5, F=80), np.linspace(0, 4, 33)

    def asked(motion: Any) -> Any:
        return moved(motion), motion(times), motion.reactions(times)

    alone, shared = (case.simulate(4, samples=21, theta1_dot=0.01) for _ in range(2))
    assert in_threads([lambda: asked(shared)]) == [bits(asked(alone))]


def test_limits_do_not_depend_on_which_is_asked_for_first(skate: pfaff.System) -> None:
    case = skate.at(**XI)
    alone, shared, reverse = (case.paradox({"c_e": 1}, among=["c_i", "c_e", "c_t"]) for _ in range(3))
    expected = bits([alone.singles, alone.maximum, alone.status])
    assert reverse.maximum == alone.maximum
    assert bits([reverse.singles, reverse.maximum, reverse.status]) == expected
    assert in_threads([lambda: shared.singles, lambda: shared.maximum, lambda: shared.status]) == expected


def test_the_time_of_a_derivation_is_that_of_its_thread() -> None:
    system, over = replace(pfaff.atlas.knife_edge()), threading.Event()

    def busy() -> None:
        while not over.is_set():
            sum(range(100))

    others = [threading.Thread(target=busy, daemon=True) for _ in range(3)]
    for other in others:
        other.start()
    try:
        began = thread_time()
        found = system.compare(states=2)
        spent = thread_time() - began
    finally:
        over.set()
    assert 0 < sum(row.derivation for row in found.rows) <= spent


# Digits


def integrable() -> str:
    """Frobenius' test in many digits: the message that refuses x sin φ for a nonholonomic constraint."""
    x, y, phi = dynamicsymbols("x y phi")
    t = dynamicsymbols._t
    form = sm.diff(x * sm.sin(phi), t) + y.diff(t)
    with pytest.raises(pfaff.errors.ConstraintError) as refused:
        pfaff.System([x, y, phi], x.diff(t) ** 2 + y.diff(t) ** 2 + phi.diff(t) ** 2, nonholonomic_constraints=[form])
    return str(refused.value)


def test_digits_of_mpmath_stay_as_they_are() -> None:
    before = mpmath.mp.prec
    assert set(together(*[integrable] * THREADS)) == {integrable()}
    assert mpmath.mp.prec == before


def test_digits_that_others_set_do_not_matter() -> None:
    """Another thread may set those of mpmath's common context whenever it likes."""
    alone, over = [integrable(), str(pfaff.atlas.knife_edge().classification)], threading.Event()

    def unsteady() -> None:
        while not over.is_set():
            mpmath.mp.dps = 5
            mpmath.mp.dps = 15

    other = threading.Thread(target=unsteady, daemon=True)
    other.start()
    try:
        found = [[integrable(), str(replace(pfaff.atlas.knife_edge()).classification)] for _ in range(3)]
    finally:
        over.set()
        other.join()
    assert found == [alone] * 3


def test_functions_of_numbers_have_the_digits_that_are_asked_for() -> None:
    """SymPy would evaluate them in the common context, which another thread may use for something else."""
    digits, tenth = Digits(60), sm.Rational(1, 10)
    mpmath.mp.dps = 5
    (found,) = evaluated([sm.acos(tenth) + sm.tan(1) * sm.Symbol("x")], {sm.Symbol("x"): digits.mp.mpf(2)}, digits)
    mpmath.mp.dps = 80
    assert abs(found - mpmath.acos(mpmath.mpf(1) / 10) - 2 * mpmath.tan(1)) < mpmath.mpf(10) ** -58


def test_fractions_leave_the_digits_of_mpmath_alone() -> None:
    from pfaff.stability.exact import exact_value

    before, symbol = mpmath.mp.prec, sm.Symbol("x")
    numbers = [k / 7 for k in range(1, 40)]
    tasks = [lambda: [str(exact_value(number, symbol)) for number in numbers]]
    assert in_threads(tasks) == [[str(sm.Rational(k, 7)) for k in range(1, 40)]]
    assert mpmath.mp.prec == before


# The mechanism


def test_threads_that_ask_together_get_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled twice."""
    import pfaff.flow.flow

    made: list[Any] = []

    class Counted(pfaff.flow.flow.Compiled):  # type: ignore[name-defined,misc]
        def __init__(self, *given: Any, **options: Any) -> None:
            made.append(given)
            super().__init__(*given, **options)

    case = damped(replace(pfaff.atlas.column(2, "skate")))[0]
    case.system.shape, case.numbers  # noqa: B018 the chart compiles a function of its own
    monkeypatch.setattr(pfaff.flow.flow, "Compiled", Counted)
    x = np.zeros(len(case.system.shape.states))
    flow = case.system.shape
    flows = together(*[lambda: (flow.rhs(x, case), flow.jacobian(x, case), case.system.shape)[2]] * THREADS)
    assert len(made) == 2, "the right-hand side and its Jacobian"
    assert len(set(map(id, flows))) == 1


def test_what_is_made_once_is_made_by_one_thread() -> None:
    made: list[int] = []

    @once(most=2)
    def thing(key: int) -> object:
        made.append(key)
        return object()

    assert len(set(map(id, together(*[lambda: thing(1)] * THREADS)))) == 1
    thing(2), thing(1), thing(3)  # forgets the second
    assert made == [1, 2, 3]
    thing(1), thing(2)
    assert made == [1, 2, 3, 2]


def test_what_is_made_of_a_thing_goes_with_it() -> None:
    class Thing:
        pass

    @once(most=2)
    def part(of: Thing, number: int) -> list[Any]:
        return [of, number]

    things = [Thing() for _ in range(9)]
    parts = [part(thing, k) for thing in things for k in (1, 2)]
    assert all(part(thing, k) is parts[2 * n + k - 1] for n, thing in enumerate(things) for k in (1, 2))
    assert part(of=things[0], number=1) == part(things[0], 1), "however it is asked for"
    left = [weakref.ref(thing) for thing in things]
    things.clear(), parts.clear()
    gc.collect()
    assert not any(each() for each in left), "also where the part knows its thing"


def test_a_busy_machine_changes_no_digit_of_a_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples were taken in another way after a tenth of a second."""
    case = pfaff.atlas.column(2).at(d="1/2", M_L=15, I_L=15, k1=50, c_i=1.5, F=30)
    quick = case.simulate(600, samples=40, theta1_dot=0.01)
    late = count()
    monkeypatch.setattr("pfaff.motion.propagation.time", SimpleNamespace(perf_counter=lambda: float(next(late))))
    slow = case.simulate(600, samples=40, theta1_dot=0.01)
    assert "steps" in quick.method
    assert int(re.findall(r"(\d+) steps", quick.method)[0]) > 200, "more than one look at the clock"
    assert (quick.y == slow.y).all()


def test_properties_without_a_lock_are_the_same_for_all_threads() -> None:
    class Thing:
        @known_property
        def known(self) -> object:
            return object()

    for _ in range(20):
        thing = Thing()
        assert len(set(map(id, together(*[lambda thing=thing: thing.known] * THREADS)))) == 1


def test_properties_are_cached_by_our_own_means() -> None:
    """Those of functools have a lock for all objects together, or none."""
    source = Path(pfaff.__file__).parent
    others = [path for path in source.rglob("*.py") if path.name != "threads.py"]
    assert len(others) > 100
    assert not [path.name for path in others if re.search(r"functools.*\bcached_property", path.read_text("utf-8"))]


def test_making_one_thing_does_not_delay_another() -> None:
    """Each of two threads ends only when the other has begun: neither may wait for a common lock."""
    things: Once[int, int] = Once()
    both = threading.Barrier(2)

    class Thing:
        @cached_property
        def number(self) -> int:
            return both.wait(PATIENCE)

    assert sorted(together(*(lambda k=k: things.get(k, lambda: both.wait(PATIENCE)) for k in range(2)))) == [0, 1]
    assert sorted(together(*(lambda: Thing().number for _ in range(2)))) == [0, 1]


def test_a_failure_is_not_remembered() -> None:
    attempts: list[int] = []

    class Thing:
        @cached_property
        def number(self) -> int:
            attempts.append(1)
            if len(attempts) == 1:
                raise ValueError("not yet")
            return 7

    thing = Thing()
    with pytest.raises(ValueError, match="not yet") as problem:
        Once[int, int]().get(0, lambda: thing.number)
    assert problem.value.__context__ is None, "a user sees the failure alone"
    assert together(*[lambda: thing.number] * THREADS) == [7] * THREADS
    assert len(attempts) == 2


def test_every_thread_has_its_own() -> None:
    lists: Own[list[int]] = Own(list)

    def filled() -> list[int]:
        for k in range(200):
            lists.own.append(k)
        return lists.own

    assert all(each == list(range(200)) for each in together(*[filled] * THREADS))


def test_one_bar_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with bar("first") as first, bar("second") as second:
        first(0.5)
        second(0.5)
    with bar("third") as third:
        third(0.5)
    assert "first" in screen.getvalue()
    assert "third" in screen.getvalue()
    assert "second" not in screen.getvalue()


def test_a_room_of_numpy_that_another_thread_is_entering_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    assert number_from("x", 1.5) == 1.5
    assert numbers_from("x", [1.5]).tolist() == [1.5]


def test_linear_algebra_gets_its_threads_back() -> None:
    """Branches in two threads: whoever ends last puts back what the first one found."""
    from threadpoolctl import threadpool_info

    def threads() -> list[int]:
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before, meanwhile, inside, go = threads(), [], threading.Barrier(2), threading.Event()

    def other() -> None:
        with one_thread:
            inside.wait()
            go.wait()
            meanwhile.extend(threads())

    thread = threading.Thread(target=other)
    with one_thread:
        assert set(threads()) == {1}
        thread.start()
        inside.wait()
    go.set()
    thread.join()
    assert set(meanwhile) == {1}
    assert threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_others_set_threads_does_not_wait_for_them() -> None:
    with one_thread._lock:
        child = os.fork()
        if not child:
            signal.alarm(5)
            with one_thread:
                os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
