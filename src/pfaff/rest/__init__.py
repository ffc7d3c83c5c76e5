"""Rest: equilibria of systems, plain flows and assemblies, and small motions about them.

Read ``mechanical`` (equilibria with reactions, in families) and ``small_motions`` (their matrices, spectrum and
structural zeros), then ``path`` (followed as a load grows); ``states`` are those of plain flows, ``assemblies`` those
of large systems. Knows where something rests, not whether it stays there.
"""
