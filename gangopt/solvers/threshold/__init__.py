"""Exact methods and heuristics of the problem `threshold`."""
