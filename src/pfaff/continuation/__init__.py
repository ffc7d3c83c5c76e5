"""Following a curve: steps along it, special points on it, and why it ends.

Read ``kinds`` (of special points, with marks and codimensions), ``trail`` (points in order; ``walked_points`` are those
that are made when they are asked for), then what takes the steps. Knows a problem only by what it is asked: no
mechanics, no orbits.
"""
