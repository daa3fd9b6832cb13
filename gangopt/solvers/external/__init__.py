"""Solvers other than HiGHS, through their Pyomo interfaces."""
