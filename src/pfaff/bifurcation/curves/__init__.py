"""Curves of folds and of Hopf points in two parameters."""
