"""Exact methods and heuristics of the problem `network_placement`."""
