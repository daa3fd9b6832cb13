"""Formulations of the problem `interval` as Pyomo models."""
