"""Ranges that apps and the bids made of them share."""

__all__ = ["LEAST", "MAX_GPUS", "MOST"]

MAX_GPUS = 100_000
"""Most GPUs of a cluster, an offer or a job."""

LEAST, MOST = 1e-6, 1e9
"""Range of iterations, of seconds for one, and of slowdowns."""
