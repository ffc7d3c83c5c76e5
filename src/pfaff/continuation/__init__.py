"""Following a curve: steps along it, points in order, and where it may not go on."""
