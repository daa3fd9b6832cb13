"""Time overheads of starting, restarting and spreading jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangopt.base.arguments import unknown
from gangopt.base.checks import number
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
"""Time to write a checkpoint by model, s: Tiresias (NSDI'19), figure 4."""


@dataclass(frozen=True)
class Overheads:
    """Time in which a job holds GPUs without progress, and slowdowns of spread jobs; none by default.

    Every start costs `start`. A start after a preemption or a change of GPUs also costs `restart` and, with `by_model`,
    the time of the checkpoint that the preceding stop wrote.

    Attributes
    ----------
    start : float
        Delay at every start, e.g. to launch containers, s.
    restart : float
        Additional delay at every start of a job except its first, e.g. to load a checkpoint, s.
    by_model : bool
        Whether a restart also costs the checkpoint of the model (Tiresias, figure 4).
    checkpoints : mapping of str to float
        Checkpoint time by model for `by_model`, s.
    slowdowns : mapping of str to float
        Factor on the step time by locality (`machine`, `rack`, `cluster`).
    sensitive_only : bool
        Whether `slowdowns` applies only to network-intensive jobs of the workload.

    Raises
    ------
    InputError
        If a time is negative or not finite, or a slowdown is less than 1.
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
            number(f"overheads: {name}", value, 0, unit="s")
        for level, value in self.slowdowns.items():
            if level not in {"machine", "rack", "cluster"}:
                raise unknown("locality of a slowdown", level, ["machine", "rack", "cluster"])
            number(f"overheads: slowdown at {level}", value, 1)

    def seconds(self, model: str | None, again: bool) -> float:
        """Return the time without progress at a start, in s.

        Parameters
        ----------
        model : str or None
            Network that the job trains, None if unknown.
        again : bool
            Whether the job ran before.

        Raises
        ------
        InputError
            If `by_model` is set and the model has no checkpoint time.
        """
        if not again:
            return self.start
        if not self.by_model:
            return self.start + self.restart
        if model is None or model not in self.checkpoints:
            known = ", ".join(sorted(self.checkpoints))
            raise InputError(f"overheads: unknown checkpoint time of model {model!r}; known: {known}")
        return self.start + self.restart + self.checkpoints[model]

    def slowdown(self, level: str, sensitive: bool) -> float:
        """Return the factor on the step time.

        Parameters
        ----------
        level : str
            Narrowest topology level that holds the job: `machine`, `rack` or `cluster`.
        sensitive : bool
            Whether the job is network-intensive.
        """
        return self.slowdowns.get(level, 1.0) if sensitive or not self.sensitive_only else 1.0
