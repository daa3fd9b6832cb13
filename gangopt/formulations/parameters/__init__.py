"""Formulations of the problem `parameters` as Pyomo models."""
