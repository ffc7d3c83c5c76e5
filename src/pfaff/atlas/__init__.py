"""Ready systems by topic, one function each; ``column_assembly`` and ``rod_assembly`` have very many unknowns.

A new system is one import and one entry in ``TOPICS``; the first line of its docstring says what it is. ``space`` is
what those with bodies in space share.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from pfaff.atlas.andrews_squeezer import andrews_squeezer
from pfaff.atlas.ball import ball_absorber, ball_in_cavity, ball_on_turntable
from pfaff.atlas.bottema import bottema, bottema_general
from pfaff.atlas.column import column, reut, ziegler
from pfaff.atlas.double_four_bar import double_four_bar
from pfaff.atlas.oscillator import oscillator
from pfaff.atlas.particle import nonholonomic_particle
from pfaff.atlas.pendulum import moving_support_pendulum, pendulum
from pfaff.atlas.rattleback import rattleback
from pfaff.atlas.rod import rod
from pfaff.atlas.rolling_disc import rolling_disc, rolling_hoop
from pfaff.atlas.sleigh import chaplygin_sleigh, knife_edge
from pfaff.atlas.slider_crank import slider_crank
from pfaff.atlas.snakeboard import snakeboard
from pfaff.atlas.softening_bar import softening_bar
from pfaff.atlas.towed_wheel import towed_wheel
from pfaff.atlas.trailer import rocking_suitcase, snaking_trailer
from pfaff.atlas.two_bar_frame import two_bar_frame
from pfaff.atlas.whipple_bicycle import whipple_bicycle
from pfaff.statement.told import rightly_asked
from pfaff.threads import once

if TYPE_CHECKING:
    from pfaff.atlas.chain import column_assembly as column_assembly
    from pfaff.atlas.rod_elements import rod_assembly as rod_assembly
    from pfaff.statement import System


def _remembered(make: Callable[..., System]) -> Callable[..., System]:
    """A system that knows by which call it was made, so that other processes can make it again.

    It is derived once: equal calls share it, as long as it is among the last of them.
    """

    @once(most=24)
    @wraps(make)
    def called(*values: Any, **options: Any) -> System:
        system = make(*values, **options)
        asked = inspect.signature(make).bind(*values, **options).arguments
        if all(isinstance(each, str | int | float | bool) for each in asked.values()):
            object.__setattr__(system, "origin", (make.__name__, asked))
        return system

    return rightly_asked(called)


_LISTED: dict[str, tuple[Callable[..., System], ...]] = {
    "Columns of rigid bars": (
        column,
        ziegler,
        reut,
    ),
    "Elastic rods": (rod,),
    "Small vibrations of nonholonomic systems": (
        bottema,
        bottema_general,
    ),
    "Sleighs and particles": (
        chaplygin_sleigh,
        knife_edge,
        nonholonomic_particle,
    ),
    "Rolling balls": (
        ball_on_turntable,
        ball_in_cavity,
        ball_absorber,
    ),
    "Bodies that roll": (
        rolling_disc,
        rolling_hoop,
        rattleback,
    ),
    "What is ridden or towed": (
        whipple_bicycle,
        snakeboard,
        towed_wheel,
        rocking_suitcase,
        snaking_trailer,
    ),
    "Mechanisms with closed loops": (
        slider_crank,
        double_four_bar,
        andrews_squeezer,
    ),
    "One degree of freedom": (
        oscillator,
        two_bar_frame,
        pendulum,
        moving_support_pendulum,
        softening_bar,
    ),
}

TOPICS = {topic: tuple(map(_remembered, makes)) for topic, makes in _LISTED.items()}
SYSTEMS: dict[str, Callable[..., System]] = {make.__name__: make for topic in TOPICS.values() for make in topic}
globals().update(SYSTEMS)


def __getattr__(name: str) -> Any:
    """Sparse assemblies are loaded when they are asked for."""
    if name == "column_assembly":
        from pfaff.atlas.chain import column_assembly

        return column_assembly
    if name == "rod_assembly":
        from pfaff.atlas.rod_elements import rod_assembly

        return rod_assembly
    raise AttributeError(f"module 'pfaff.atlas' has no attribute {name!r}")
