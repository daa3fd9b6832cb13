"""Checks of the arguments of workload generators."""

from __future__ import annotations

import math

from gangopt.base.errors import InputError

__all__ = ["MAX_JOBS", "check_count", "check_positive", "check_share"]

MAX_JOBS = 5_000_000
"""Largest number of jobs that a generator makes."""


def check_count(generator: str, name: str, value: int, largest: int = MAX_JOBS) -> None:
    """Refuse a count that is not from 1 to `largest`."""
    if not 1 <= value <= largest:
        raise InputError(f"{generator}: {name}={value}, 1 to {largest:,} is allowed")


def check_positive(generator: str, name: str, value: float) -> None:
    """Refuse a number that is not finite and above 0."""
    if not (math.isfinite(value) and 0 < value <= 1e12):
        raise InputError(f"{generator}: {name}={value:g}, above 0 and at most 1e12 is allowed")


def check_share(generator: str, name: str, value: float) -> None:
    """Refuse a share that is not from 0 to 1."""
    if not 0 <= value <= 1:
        raise InputError(f"{generator}: {name}={value:g}, 0 to 1 is allowed")
