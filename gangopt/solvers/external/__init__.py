"""Solvers other than HiGHS."""
