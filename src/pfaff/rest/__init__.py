"""Rest: equilibria of systems, plain flows and assemblies, followed along a load, and small motions about them.

``mechanical`` finds where the ``balance`` of a system holds (``many_starts`` from everywhere), ``states`` rests of a
plain flow, ``assemblies`` those of a large system; ``path`` follows them; ``small_motions`` linearises about them, and
``reduction`` divides out what is zero by structure. Knows where something rests, not whether it stays there.
"""
