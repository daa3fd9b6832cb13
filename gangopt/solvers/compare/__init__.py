"""Comparison of many methods on many instances in one table."""
