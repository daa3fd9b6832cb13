"""Instances, solutions and files of the problem `network_placement`."""
