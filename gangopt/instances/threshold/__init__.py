"""Instances, solutions and files of the problem `threshold`."""
