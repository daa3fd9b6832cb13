"""Policies of the papers and their baselines."""
