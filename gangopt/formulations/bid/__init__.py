"""Formulations of the problem `bid` as Pyomo models."""
