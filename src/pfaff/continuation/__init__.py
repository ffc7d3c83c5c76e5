"""Following a curve: steps along it, special points on it, and why it ends.

Read ``kinds`` (of special points, with marks and codimensions) and ``trail`` (points in order), then what takes the
steps. Knows a problem only by what it is asked: no mechanics, no orbits.
"""
