"""Checks of the arguments of workload generators."""

from __future__ import annotations

from gangopt.base import checks

__all__ = ["MAX_JOBS", "check_count", "check_positive", "check_share"]

MAX_JOBS = 5_000_000
"""Largest number of jobs of a generated workload."""


def check_count(generator: str, name: str, value: int, largest: int = MAX_JOBS) -> None:
    """Check that a count is from 1 to `largest`."""
    checks.integer(f"{generator}: {name}", value, 1, largest)


def check_positive(generator: str, name: str, value: float) -> None:
    """Check that a number is > 0 and <= 1e12."""
    checks.number(f"{generator}: {name}", value, above=0, high=1e12)


def check_share(generator: str, name: str, value: float) -> None:
    """Check that a share is from 0 to 1."""
    checks.number(f"{generator}: {name}", value, 0, 1)
