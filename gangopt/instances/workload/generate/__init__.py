"""Workloads generated from their names."""
