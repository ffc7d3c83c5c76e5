"""Equations: the functions that all later rooms evaluate again and again.

Read ``graph`` (expressions; made by ``conversion`` from SymPy's, differentiated by ``differentiation``), ``tape``
(expressions as data), ``compiled`` (a tape and its reader), ``lagrangian`` (a statement as
Lagrange's equations), ``flow`` (ẋ = f) and ``lowering`` (on all coordinates or on shape space: ``shape``;
``accelerations``; ``uniform_motion`` where constraints move), then ``statics`` (at rest; ``wide_statics`` with
``more_digits``), ``integrator`` and ``batch_integrator`` (Taylor's method: ``recurrences`` of coefficients, with
``slopes`` of functions; ``sign_changes`` for events), ``jets`` (derivatives of any order, with ``polarisation``),
``collected`` (for integration) and ``initial`` (states that obey the constraints; ``positions``, the
``nearest_positions`` by their ``coordinate_sizes``; ``completion`` of what is not given); ``verified_accelerations``
puts what was solved for back into the equations.

Symmetries: ``symmetries`` finds them by ``probing``, ``slice`` divides them out by ``freezing`` coordinates,
``moving_frames`` where no coordinate measures them (``alike`` is whether they hold along a motion); in the
``relative`` flow steady motions rest, whose states have ``motion_sizes``. Other states:
``all_velocities`` (no chart), ``in_quasi_velocities``,
``forcing`` (time as an oscillator). ``program`` and ``cancellation`` are equations step by step, for export and for
rounding, ``stated_equations`` those by which others are verified.

Rods: ``rod_nodes`` (one rod in numbers), ``placed`` (a system with rods; ``compiled_frame``), ``rod_rates``;
derivatives of any order by ``series``: ``frame_mechanics``, ``rod_mechanics``, ``rod_series``. ``structured`` is their
flow, in ``structured_states``, seen by ``structured_views``; ``forced_rods``, ``translations``.

Large systems: ``assembly`` (with ``assembly_statement``), ``patterns`` and ``sparse_pencil`` at rest, ``part_dynamics``
and ``assembly_equations`` in motion; ``sparse_jacobian`` for plain ODEs. Knows equations; stability is a question for
later rooms.
"""
