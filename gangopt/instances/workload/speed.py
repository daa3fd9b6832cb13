"""Fitted speeds of jobs, as text in the column `speed` of a workload."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gangopt.base.errors import InputError
from gangopt.instances.allocation.speed_functions import THETA_COUNT, speed
from gangopt.instances.workload.shown import shown

__all__ = ["FittedSpeed"]


@dataclass(frozen=True)
class FittedSpeed:
    """Fitted speed f(p, w) in steps/s as a function of parameter servers and workers.

    Attributes
    ----------
    mode : str
        `async` (Optimus, eqn 3) or `sync` (eqn 4).
    theta : tuple of float
        The four or five coefficients in s, at least 0.
    batch : float
        M, samples in the global batch of a `sync` job, above 0; 0 for `async`.
    """

    mode: str
    theta: tuple[float, ...]
    batch: float = 0.0

    def __post_init__(self) -> None:
        if self.mode not in {"async", "sync"}:
            raise InputError(f"mode must be async or sync (got {shown(self.mode)})")
        count = THETA_COUNT[self.mode]
        fits = len(self.theta) == count and all(math.isfinite(value) and value >= 0 for value in self.theta)
        if not fits or not any(self.theta):
            raise InputError(
                f"theta must have {count} finite coefficients >= 0, not all 0, in mode {self.mode} (got {self.theta})"
            )
        if self.mode == "sync" and not (math.isfinite(self.batch) and self.batch > 0):
            raise InputError(f"batch must be a finite number > 0 in mode sync (got {self.batch})")

    @classmethod
    def parse(cls, text: str) -> FittedSpeed:
        """Parse a text `async t0 t1 t2 t3` or `sync M t0 t1 t2 t3 t4`.

        Raises
        ------
        InputError
            If the text has another format.
        """
        mode, *numbers = text.split() or [""]
        try:
            values = tuple(float(number) for number in numbers)
        except ValueError:
            values = ()
        try:
            return cls(mode, values[1:], values[0] if values else 0.0) if mode == "sync" else cls(mode, values)
        except InputError as error:
            raise InputError(f"speed {shown(text)}: {error}") from None

    def text(self) -> str:
        """Return the text from which `parse` restores the function."""
        numbers: Sequence[float] = (self.batch, *self.theta) if self.mode == "sync" else self.theta
        return " ".join((self.mode, *(f"{float(number)!r}" for number in numbers)))

    def steps_a_second(self, ps: int, workers: int) -> float:
        """Return f(p, w) in steps/s, infinite if all coefficients that contribute are 0."""
        return speed(self.mode, self.theta, ps, workers, self.batch)
