"""Formulations of the problem `threshold` as Pyomo models."""
