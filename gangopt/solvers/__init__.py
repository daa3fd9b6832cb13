"""Exact methods, bounds, heuristics and their comparison; the one layer that runs solvers.

`solve` runs one method on one instance, `compare` many methods on many instances.
"""
