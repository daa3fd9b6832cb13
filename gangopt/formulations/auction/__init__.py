"""Formulations of the problem `auction` as Pyomo models."""
