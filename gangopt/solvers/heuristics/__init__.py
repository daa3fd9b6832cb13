"""Heuristics: the papers' algorithms and plain baselines, one module a decision, as functions of the instance."""
