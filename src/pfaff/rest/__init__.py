"""Rest: equilibria of systems, plain flows and assemblies, and steady motions, followed along a load.

Read ``protocol`` (what can rest and be followed). Equilibria: ``mechanical`` finds where the ``balance`` of a system
holds, ``many_starts`` all that random starts reach, ``deflation`` all within bounds, by curves of rest (``fronts``);
``states`` finds those of a plain flow (``sparse_states`` of a large one), ``steady_motions`` those at speed, with
``steady_families`` and ``steady_starts``.

Paths: ``path`` follows systems from ``path_starts``, ``flow_paths`` flows, ``assemblies`` large systems; ``outward`` is
a path by the distance from its origin, ``reached`` the rest at its end.

Small motions: ``small_motions`` linearises, ``reduction`` divides out structural zeros, which ``soft`` tells from soft
directions beside stiff ones, a ``spectrum`` is what is left (``fed_energy`` tells dissipation of the wrong sign);
``verified_rests`` is what all of these verify of themselves; ``field`` is the vector field that normal forms need.
Knows where something rests, not at which load it no longer stays there.
"""
