"""Experiments of the papers' evaluations: each is one function that returns a table, and one that plots it."""
