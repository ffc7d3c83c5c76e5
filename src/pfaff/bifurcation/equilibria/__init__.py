"""Branches of equilibria and steady motions, and the special points on them."""
