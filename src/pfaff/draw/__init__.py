"""Pictures: every result draws itself, when ``plot()`` is called, by one of these modules.

Read ``style`` (common to all) and ``labels`` (names as mathematics). Modules are named like the results they draw:
``structure`` (a system as stated), ``configuration``, ``spectrum``, ``stability``, ``hopf``, ``branches``, ``orbits``,
``cascade``, ``connections``, ``response`` (``diagram`` and ``special`` are their lines and marks), ``motion``,
``ensemble``, ``studies``, ``comparison``; ``notebook`` shows results in cells.

A mechanical system as its ``Drawing`` says: ``scene`` (where everything is), ``body``, ``space``, ``view``. Films:
``film`` (a strip), ``animation``, of ``footage``, by the ``player`` in a browser or as ``pictures`` (with a ``ruler``).

Pictures show results and decide nothing. What they compute besides is for the eye: a displaced configuration on its
constraints (``structure``), eigenvalues between the loads of a result (``spectrum``).
"""
# ruff: noqa: F401 what is imported for type checkers is used by them

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

PICTURES = {  # functions that results call, by the module that is imported when the first of them is
    "animation": "animate animate_branch animate_orbit check_suffix",
    "branches": "draw_curve draw_cycle_curve draw_equilibria_branch",
    "cascade": "draw_cascade",
    "comparison": "draw_comparison",
    "configuration": "draw_equilibria",
    "connections": "draw_connection draw_connection_curve",
    "ensemble": "draw_ensemble",
    "film": "draw_cycle draw_film",
    "hopf": "draw_hopf",
    "motion": "draw_friction draw_motion draw_trajectory",
    "notebook": "html_of motion_html ode_markdown system_markdown trajectory_html",
    "orbits": "draw_branch draw_orbit",
    "response": "draw_mode draw_response",
    "scene": "drawing_of",
    "spectrum": "draw_checked_loads draw_critical draw_rest draw_rest_point draw_roots draw_spectrum",
    "stability": "draw_map draw_paradox",
    "structure": "draw_structure",
    "studies": "draw_indices draw_probability draw_study",
}
HOMES = {name: f"pfaff.draw.{module}" for module, names in PICTURES.items() for name in names.split()}

if TYPE_CHECKING:
    from pfaff.draw.animation import animate, animate_branch, animate_orbit, check_suffix
    from pfaff.draw.branches import draw_curve, draw_cycle_curve, draw_equilibria_branch
    from pfaff.draw.cascade import draw_cascade
    from pfaff.draw.comparison import draw_comparison
    from pfaff.draw.configuration import draw_equilibria
    from pfaff.draw.connections import draw_connection, draw_connection_curve
    from pfaff.draw.ensemble import draw_ensemble
    from pfaff.draw.film import draw_cycle, draw_film
    from pfaff.draw.hopf import draw_hopf
    from pfaff.draw.motion import draw_friction, draw_motion, draw_trajectory
    from pfaff.draw.notebook import html_of, motion_html, ode_markdown, system_markdown, trajectory_html
    from pfaff.draw.orbits import draw_branch, draw_orbit
    from pfaff.draw.response import draw_mode, draw_response
    from pfaff.draw.scene import drawing_of
    from pfaff.draw.spectrum import (
        draw_checked_loads,
        draw_critical,
        draw_rest,
        draw_rest_point,
        draw_roots,
        draw_spectrum,
    )
    from pfaff.draw.stability import draw_map, draw_paradox
    from pfaff.draw.structure import draw_structure
    from pfaff.draw.studies import draw_indices, draw_probability, draw_study
else:

    def __getattr__(name: str) -> Any:
        if name not in HOMES:
            raise AttributeError(f"nothing is drawn by {name!r}")
        function = globals()[name] = getattr(import_module(HOMES[name]), name)
        return function
