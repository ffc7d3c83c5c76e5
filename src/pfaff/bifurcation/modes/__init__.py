"""Nonlinear normal modes: ``undamped`` (a system without damping and forcing) → ``families`` (its vibrations)."""
