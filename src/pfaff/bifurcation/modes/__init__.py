"""Nonlinear normal modes: ``undamped`` (the system without damping and forcing) → ``families`` (its free vibrations)."""
