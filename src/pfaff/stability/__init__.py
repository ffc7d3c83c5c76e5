"""Linear stability: critical loads, vanishing damping, maps and closed forms.

Read ``critical`` (what is asked for), then inwards: ``search``, ``candidates`` and ``crossings``, ``stretches``.
Beside it stand ``paradox``, ``maps``, ``exact`` and ``determinant``; ``large`` is for assemblies. Knows the pencil of
small motions along a load, and nothing beyond first order.
"""
