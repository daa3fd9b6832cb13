"""Explicit optimisation models of GPU-cluster scheduling decisions."""

__version__ = "0.1.0"
