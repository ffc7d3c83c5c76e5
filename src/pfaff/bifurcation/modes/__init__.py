"""Nonlinear normal modes: ``undamped`` (without damping and forcing) → ``vibrations`` (one of them) → ``family`` (their
multipliers and special points) → ``first_vibrations`` (where a mode begins) → ``families``."""
