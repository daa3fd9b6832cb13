"""What a method is given beside the instance, and what an exact method gives back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Controls", "Outcome", "ProgressEvent", "SolutionStatus", "Termination"]

Termination = Literal["optimal", "completed", "infeasible", "unbounded", "time_limit", "interrupted", "error"]
"""Why a method stopped; `completed` is a heuristic that ran to its end and claims nothing."""
SolutionStatus = Literal["optimal", "feasible", "none"]


@dataclass(frozen=True)
class ProgressEvent:
    """What is known at one moment of a solve.

    Attributes
    ----------
    seconds : wall time since the call
    objective : of the incumbent, None before the first
    bound : proven bound, None before the first
    """

    seconds: float
    objective: float | None
    bound: float | None


@dataclass(frozen=True)
class Controls:
    """Settings of one call of `solve`, handed to exact methods.

    Attributes
    ----------
    time_limit : wall seconds for the whole call, None for no limit
    rel_gap : relative gap at which a solve may stop; 0 asks for a proven optimum
    threads : threads of the solver
    seed : seed of every random choice
    start : a Solution to start from, or None
    form : the form that was asked for, None to let the method choose
    solver : name of the solver
    on_progress : called with every new incumbent or bound
    started : `time.perf_counter()` at the start of the call
    """

    time_limit: float | None = None
    rel_gap: float = 0.0
    threads: int = 1
    seed: int = 0
    start: Any = None
    form: str | None = None
    solver: str = "highs"
    on_progress: Callable[[ProgressEvent], None] | None = None
    started: float = field(default_factory=time.perf_counter)

    def elapsed(self) -> float:
        """Return the wall seconds since the start of the call."""
        return time.perf_counter() - self.started

    def remaining(self) -> float | None:
        """Return the wall seconds left, at least 0, or None without a limit."""
        return None if self.time_limit is None else max(0.0, self.time_limit - self.elapsed())


@dataclass(frozen=True)
class Outcome:
    """What an exact method found and proved; `solve` judges it and makes the Result.

    Attributes
    ----------
    termination : why it stopped
    solution : the best Solution, or None
    bound : proven bound on the objective in the decision's sense, or None
    form : form that was used, or the name of the combinatorial method
    build_seconds : wall time to build models
    solve_seconds : wall time inside solvers and algorithms
    trajectory : (seconds, objective, bound) at every change
    solver : solver used, as `highs`
    version : its version
    options : options given to it
    metrics : named figures of the method, beside those of the judge
    reason : one line on why there is no solution, or why it stopped early
    """

    termination: Termination
    solution: Any
    bound: float | None
    form: str | None = None
    build_seconds: float = 0.0
    solve_seconds: float = 0.0
    trajectory: tuple[tuple[float, float | None, float | None], ...] = ()
    solver: str = ""
    version: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
