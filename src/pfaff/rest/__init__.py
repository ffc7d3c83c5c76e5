"""Rest: equilibria of systems, plain flows and assemblies, and steady motions, followed along a load.

``protocol`` says what can rest and be followed. ``mechanical`` finds where the ``balance`` of a system holds
(``many_starts`` from everywhere), ``states`` rests of a plain flow, ``steady_motions`` those at speed, ``assemblies``
those of a large system; ``path`` follows systems, ``flow_paths`` flows. ``small_motions`` linearises about them,
``reduction`` divides out what is zero by structure, and a ``spectrum`` is what is left. Knows where something rests,
not at which load it no longer stays there.
"""
