"""Exact methods and heuristics of the problem `fair_share`."""
