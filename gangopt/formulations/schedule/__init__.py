"""Formulations of the problem `schedule` as Pyomo models."""
