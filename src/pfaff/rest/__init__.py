"""Rest: equilibria of systems, plain flows and assemblies, and steady motions, followed along a load.

``protocol`` says what can rest and be followed. ``mechanical`` finds where the ``balance`` of a system holds
(``many_starts`` from everywhere), ``states`` rests of a plain flow (``sparse_states`` of a large one),
``steady_motions`` those at speed, ``assemblies`` those of a large system; ``path`` follows systems, ``flow_paths``
flows. ``small_motions`` linearises about them, and ``reduction`` divides out what is zero by structure. Knows where
something rests, not whether it stays there.
"""
