"""Instances, solutions and files of the problem `fair_share`."""
