"""Hopf points: their normal forms, and the first orbits of the branches that are born there."""
