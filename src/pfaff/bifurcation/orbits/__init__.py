"""Periodic orbits: collocation, Floquet multipliers, branches and the special points on them."""
