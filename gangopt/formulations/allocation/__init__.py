"""Formulations of the problem `allocation` as Pyomo models."""
