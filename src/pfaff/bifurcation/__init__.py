"""Bifurcations of equilibria: where they are, and what is born there."""
