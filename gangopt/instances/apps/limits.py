"""Ranges of values in apps and in the bids made of them."""

__all__ = ["LEAST", "MAX_GPUS", "MOST"]

MAX_GPUS = 100_000
"""Most GPUs of a cluster, an offer or a job."""

LEAST, MOST = 1e-6, 1e9
"""Range of iterations, of seconds per iteration, and of slowdowns."""
