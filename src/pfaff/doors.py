"""Doors to later rooms: each module that a method opens only when it is called, by its name.

``doors.births.born_at(hopf, …)`` imports ``bifurcation.hopf.births`` when it is first reached: importing pfaff costs
nothing, and a result reaches what follows from it without waiting for it. Module names are unique, so that a name is
enough; ``doors.draw`` opens its modules by the names of their functions. Which room may open which is written in
``docs/rooms.toml``.
"""
# ruff: noqa: F401 what is imported for type checkers is used by them

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

ROOMS = {
    "pfaff": "atlas case draw errors export papers principles studio",
    "pfaff.archive": "stored",
    "pfaff.bifurcation.connections": "connection_archive connection_curves first_arcs",
    "pfaff.bifurcation.curves": "curves rest_archive switching",
    "pfaff.bifurcation.equilibria": "branches eigenvalue_paths starts",
    "pfaff.bifurcation.equilibria.many_states": "assembled_archive assembled_branches",
    "pfaff.bifurcation.hopf": "births extended finding generalised growth sparse_hopf verdicts",
    "pfaff.bifurcation.modes": "families vibrations",
    "pfaff.bifurcation.orbit_curves": "codimension_two crossing_curves cycle_archive cycle_curves",
    "pfaff.bifurcation.orbits": (
        "cascade cycle_forms from_motions loops orbit_archive orbit_branch orbit_switching orbits"
    ),
    "pfaff.bifurcation.response": "response response_archive",
    "pfaff.export": "reduced_equations",
    "pfaff.flow": (
        "all_velocities assembly completion coordinate_sizes forcing freezing initial lowering relative shape "
        "statics structured_states structured_views symmetries translations uniform_motion"
    ),
    "pfaff.motion": (
        "augmented ensemble events locomotion motion_archive outcomes result rod_motion simulate trajectory "
        "verification"
    ),
    "pfaff.motion.large": "simulation",
    "pfaff.principles": "appell_flow comparison formulation hamilton_flow particle_flows random_states typeset",
    "pfaff.rest": (
        "assemblies balance deflation flow_paths many_starts mechanical reached small_motions sparse_states "
        "spectrum states steady_motions verified_rests"
    ),
    "pfaff.stability": "dampings determinant exact first large paradox rod_characteristic settled",
    "pfaff.statement": "classification descriptions expressions odes rod_frame system values",
    "pfaff.studies": "catalogue cluster flutter_maps lazy_numbers many_points recipe sweep uncertainty",
    "pfaff.studio": "downloads server tasks widget",
}
HOMES = {name: f"{room}.{name}" for room, names in ROOMS.items() for name in names.split()}

if TYPE_CHECKING:  # once more, for readers and type checkers
    from pfaff import atlas, case, draw, errors, export, papers, principles, studio
    from pfaff.archive import stored
    from pfaff.bifurcation.connections import connection_archive, connection_curves, first_arcs
    from pfaff.bifurcation.curves import curves, rest_archive, switching
    from pfaff.bifurcation.equilibria import branches, eigenvalue_paths, starts
    from pfaff.bifurcation.equilibria.many_states import assembled_archive, assembled_branches
    from pfaff.bifurcation.hopf import births, extended, finding, generalised, growth, sparse_hopf, verdicts
    from pfaff.bifurcation.modes import families, vibrations
    from pfaff.bifurcation.orbit_curves import codimension_two, crossing_curves, cycle_archive, cycle_curves
    from pfaff.bifurcation.orbits import (
        cascade,
        cycle_forms,
        from_motions,
        loops,
        orbit_archive,
        orbit_branch,
        orbit_switching,
        orbits,
    )
    from pfaff.bifurcation.response import response, response_archive
    from pfaff.export import reduced_equations
    from pfaff.flow import (
        all_velocities,
        assembly,
        completion,
        coordinate_sizes,
        forcing,
        freezing,
        initial,
        lowering,
        relative,
        shape,
        statics,
        structured_states,
        structured_views,
        symmetries,
        translations,
        uniform_motion,
    )
    from pfaff.motion import (
        augmented,
        ensemble,
        events,
        locomotion,
        motion_archive,
        outcomes,
        result,
        rod_motion,
        simulate,
        trajectory,
        verification,
    )
    from pfaff.motion.large import simulation
    from pfaff.principles import (
        appell_flow,
        comparison,
        formulation,
        hamilton_flow,
        particle_flows,
        random_states,
        typeset,
    )
    from pfaff.rest import (
        assemblies,
        balance,
        deflation,
        flow_paths,
        many_starts,
        mechanical,
        reached,
        small_motions,
        sparse_states,
        spectrum,
        states,
        steady_motions,
        verified_rests,
    )
    from pfaff.stability import dampings, determinant, exact, first, large, paradox, rod_characteristic, settled
    from pfaff.statement import classification, descriptions, expressions, odes, rod_frame, system, values
    from pfaff.studies import catalogue, cluster, flutter_maps, lazy_numbers, many_points, recipe, sweep, uncertainty
    from pfaff.studio import downloads, server, tasks, widget
else:

    def __getattr__(name: str) -> Any:
        if name not in HOMES:
            raise AttributeError(f"no door is called {name!r}: write it into pfaff.doors")
        module = globals()[name] = import_module(HOMES[name])
        return module
