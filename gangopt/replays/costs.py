"""What stopping, starting and spreading a job costs in time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gangopt.base.errors import InputError

__all__ = ["CHECKPOINT_SECONDS", "Overheads"]

CHECKPOINT_SECONDS: Mapping[str, float] = {
    "vgg19": 2.7,
    "vgg16": 2.3,
    "vgg11": 1.9,
    "alexnet": 1.3,
    "resnet152": 26.3,
    "resnet101": 17.8,
    "resnet50": 9.4,
    "inception4": 22.2,
    "inception3": 14.1,
    "googlenet": 5.7,
}
"""Seconds to write a checkpoint, by model: Tiresias (NSDI'19), figure 4."""


@dataclass(frozen=True)
class Overheads:
    """Seconds that a job holds its GPUs without progress, and slowdowns of spread jobs; nothing at all by default.

    A start costs `start`; a start after a preemption or a change of GPUs costs `restart` beside it, and with
    `by_model` the checkpoint of the job's model too, which the stop before it wrote.

    Attributes
    ----------
    start : float
        S at every start, as the launch of containers.
    restart : float
        S at every start but a job's first, as loading a checkpoint.
    by_model : bool
        Whether a restart also costs the checkpoint of the model (Tiresias, figure 4).
    checkpoints : mapping of str to float
        S by model, used by `by_model`.
    slowdowns : mapping of str to float
        Factor on the time of a step by locality (`machine`, `rack`, `cluster`) for every job.
    sensitive_only : bool
        Whether `slowdowns` holds for jobs that the workload calls network-intensive alone.

    Raises
    ------
    InputError
        If a time is negative or not finite, or a slowdown is not at least 1.
    """

    start: float = 0.0
    restart: float = 0.0
    by_model: bool = False
    checkpoints: Mapping[str, float] = field(default_factory=lambda: CHECKPOINT_SECONDS)
    slowdowns: Mapping[str, float] = field(default_factory=dict)
    sensitive_only: bool = False

    def __post_init__(self) -> None:
        times = {"start": self.start, "restart": self.restart}
        times |= {f"checkpoint of {name}": value for name, value in self.checkpoints.items()}
        for name, value in times.items():
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"overheads: {name} is {value}; a finite number of seconds from 0 is needed")
        for level, value in self.slowdowns.items():
            if level not in {"machine", "rack", "cluster"}:
                raise InputError(f"overheads: slowdown at {level!r}; localities are machine, rack and cluster")
            if not (math.isfinite(value) and value >= 1):
                raise InputError(f"overheads: slowdown at {level} is {value}; a finite number from 1 is needed")

    def seconds(self, model: str | None, again: bool) -> float:
        """Return the seconds without progress at a start.

        Parameters
        ----------
        model : str or None
            Network that the job trains, None if unknown.
        again : bool
            Whether the job ran before.

        Raises
        ------
        InputError
            If the checkpoint of an unknown model is asked for.
        """
        if not again:
            return self.start
        if not self.by_model:
            return self.start + self.restart
        if model is None or model not in self.checkpoints:
            known = ", ".join(sorted(self.checkpoints))
            raise InputError(f"overheads: no checkpoint time for the model {model!r}; known are {known}")
        return self.start + self.restart + self.checkpoints[model]

    def slowdown(self, level: str, sensitive: bool) -> float:
        """Return the factor on the time of a step.

        Parameters
        ----------
        level : str
            Narrowest level that holds the job: `machine`, `rack` or `cluster`.
        sensitive : bool
            Whether the workload calls the job network-intensive.
        """
        return self.slowdowns.get(level, 1.0) if sensitive or not self.sensitive_only else 1.0
