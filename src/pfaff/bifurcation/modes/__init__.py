"""Nonlinear normal modes: ``undamped`` (without damping and forcing) → ``vibrations`` (one of them) →
``first_vibrations`` (where a mode begins) → ``families``."""
