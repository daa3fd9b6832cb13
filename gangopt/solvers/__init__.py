"""Exact methods, bounds, heuristics and their comparison; the only layer that runs solvers.

`solve` runs one method on one instance, `compare` runs many methods on many instances.
"""
