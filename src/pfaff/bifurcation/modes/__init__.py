"""Nonlinear normal modes: ``undamped`` (without damping and forcing) → ``vibrations`` (one of them) → ``families``."""
