"""Formulations of the problem `placement` as Pyomo models."""
