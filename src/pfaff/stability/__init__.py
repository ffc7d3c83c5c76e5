"""Linear stability: spectrum, characteristic polynomial, critical loads, vanishing damping."""
