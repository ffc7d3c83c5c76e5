"""Curves of special orbits in two parameters."""
