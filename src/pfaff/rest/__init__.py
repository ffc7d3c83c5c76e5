"""Rest: equilibria of systems, plain flows and assemblies, followed along a load, and small motions about them.

``mechanical`` balances a system (``many_starts`` from everywhere), ``states`` a plain flow, ``assemblies`` a large one;
``path`` follows them; ``small_motions`` linearises about them, and ``reduction`` divides out what is zero by structure.
Knows where something rests, not whether it stays there.
"""
