"""Statements: mechanical systems and plain ODEs, in SymPy or in text, and what follows from the statement alone.

Read ``coordinates``, ``parameters``, ``system`` and ``plain_symbols`` first: a statement is put into plain symbols
once, and checked there (``reading``, ``degrees``, ``quasi_velocities``; ``constraints`` by ``integrability``, with
``integrals``, and ``redundancy`` of ``dependent_rows``, as ``classification`` reports them; ``inertia`` that they
complete; ``descriptions`` of ``particles``). Checks are made at random states (``draws``), in ``characteristic`` sizes
and where ``hidden_terms`` come to light, by ``evaluation``.

Other statements: ``odes``; ``rods`` (``rod_basis``, ``rod_frame``); ``parts`` of assemblies; a ``drawing``.

What users give: text by ``expressions``, the arguments of every room by ``values``, ``names``, and what they are
``called`` by; ``told`` is how objects answer. Nothing here derives equations, solves or integrates: a system knows
later rooms only by the words that open them.
"""

from pfaff.statement.coordinates import TIME, coordinates
from pfaff.statement.drawing import Drawing
from pfaff.statement.odes import Ode, ode
from pfaff.statement.particles import Particle
from pfaff.statement.parts import Part
from pfaff.statement.plain_symbols import Statement
from pfaff.statement.system import System

__all__ = ["TIME", "Drawing", "Ode", "Part", "Particle", "Statement", "System", "coordinates", "ode"]
