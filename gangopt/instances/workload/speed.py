"""The fitted speed of a job as the text that a workload's column `speed` holds."""

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
    """A fitted speed function f(p, w) of parameter servers and workers, in steps/s.

    Attributes
    ----------
    mode : str
        `async` (Optimus, eqn 3) or `sync` (eqn 4).
    theta : tuple of float
        Its four or five coefficients in s, at least 0.
    batch : float
        M, samples in the global batch of a `sync` job, above 0; 0 for `async`.
    """

    mode: str
    theta: tuple[float, ...]
    batch: float = 0.0

    def __post_init__(self) -> None:
        if self.mode not in {"async", "sync"}:
            raise InputError(f"mode {shown(self.mode)}, async or sync is needed")
        count = THETA_COUNT[self.mode]
        fits = len(self.theta) == count and all(math.isfinite(value) and value >= 0 for value in self.theta)
        if not fits or not any(self.theta):
            raise InputError(f"{self.mode} needs {count} finite coefficients from 0, not all 0; given: {self.theta}")
        if self.mode == "sync" and not (math.isfinite(self.batch) and self.batch > 0):
            raise InputError(f"batch {self.batch}, sync needs a finite number above 0")

    @classmethod
    def parse(cls, text: str) -> FittedSpeed:
        """Return the function of a text `async t0 t1 t2 t3` or `sync M t0 t1 t2 t3 t4`.

        Raises
        ------
        InputError
            If the text is another.
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
        """Return the text that `parse` reads back equal."""
        numbers: Sequence[float] = (self.batch, *self.theta) if self.mode == "sync" else self.theta
        return " ".join((self.mode, *(f"{float(number)!r}" for number in numbers)))

    def steps_a_second(self, ps: int, workers: int) -> float:
        """Return f(p, w) in steps/s, infinite where every coefficient that counts is 0."""
        return speed(self.mode, self.theta, ps, workers, self.batch)
