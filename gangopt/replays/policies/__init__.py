"""Policies of the papers and the baselines that they are measured against."""
