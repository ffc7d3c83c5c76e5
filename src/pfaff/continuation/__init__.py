"""Following a curve: steps along it, special points on it, and why it ends.

Read ``problem`` (what can be followed), ``engine`` (the one that takes the steps), ``gathering`` (its results),
``course`` (the arguments) and ``endings``; ``dense`` and ``sparse`` are its linear algebra. Results: ``trail`` (points
in order; ``walked_points`` are made on demand), ``kinds`` (of special points, with marks and codimensions),
``measuring`` (expressions of a point, and events). Knows a problem only by its interface: no mechanics, no orbits.
"""
