"""Formulations of the problem `fair_share` as Pyomo models."""
