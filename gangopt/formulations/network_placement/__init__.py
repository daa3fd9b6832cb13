"""Formulations of the problem `network_placement` as Pyomo models."""
