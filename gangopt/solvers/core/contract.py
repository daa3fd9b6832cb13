"""Inputs of a method besides the instance, and the output of an exact method."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Controls", "Outcome", "ProgressEvent", "SolutionStatus", "Termination", "Trajectory"]

Termination = Literal["optimal", "completed", "infeasible", "unbounded", "time_limit", "interrupted", "error"]
"""Why a method stopped; `completed` means that a heuristic ran to its end and claims nothing."""
SolutionStatus = Literal["optimal", "feasible", "none"]
Trajectory = list[tuple[float, float | None, float | None]]
"""(seconds, objective, bound) at every change."""


@dataclass(frozen=True)
class ProgressEvent:
    """State of a running solve.

    Attributes
    ----------
    seconds : float
        Wall time since the start of the call.
    objective : float or None
        Objective of the incumbent, None before the first.
    bound : float or None
        Proven bound, None before the first.
    """

    seconds: float
    objective: float | None
    bound: float | None


@dataclass(frozen=True)
class Controls:
    """Settings of one call of `solve`, passed to exact methods.

    Attributes
    ----------
    time_limit : float or None
        Wall seconds for the whole call, None for no limit.
    rel_gap : float
        Relative gap at which a solve may stop; 0 requests a proven optimum.
    threads : int
        Threads of the solver.
    seed : int
        Seed of every random choice.
    start : object
        A Solution to start from, or None.
    form : str or None
        The requested formulation, None to let the method choose.
    solver : str
        Name of the solver.
    on_progress : callable or None
        Called with every new incumbent or bound.
    started : float
        `time.perf_counter()` at the start of the call.
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

    def note(self, trajectory: Trajectory, objective: float | None, bound: float | None) -> None:
        """Append the present objective and bound to a trajectory and report them.

        Parameters
        ----------
        trajectory : list of tuple
            (seconds, objective, bound) at every change so far.
        objective : float or None
            Objective of the incumbent, None before the first.
        bound : float or None
            Proven bound, None before the first.
        """
        trajectory.append((self.elapsed(), objective, bound))
        if self.on_progress is not None:
            self.on_progress(ProgressEvent(*trajectory[-1]))

    def remaining(self) -> float | None:
        """Return the wall seconds left, at least 0, or None without a limit."""
        return None if self.time_limit is None else max(0.0, self.time_limit - self.elapsed())


@dataclass(frozen=True)
class Outcome:
    """Solution and bound of an exact method; `solve` checks it and builds the Result.

    Attributes
    ----------
    termination : Termination
        Why it stopped.
    solution : object
        The best Solution, or None.
    bound : float or None
        Proven bound on the objective in the problem's sense, or None.
    form : str or None
        Formulation that was used, or the name of the combinatorial method.
    build_seconds : float
        Wall time to build models.
    solve_seconds : float
        Wall time inside solvers and algorithms.
    trajectory : tuple of tuple of float and float or None
        (seconds, objective, bound) at every change.
    solver : str
        Solver used, e.g. `highs`.
    version : str
        Its version.
    options : mapping of str to object
        Options passed to it.
    metrics : mapping of str to object
        Named figures of the method, in addition to those of the checker.
    reason : str or None
        One line that says why there is no solution, or why it stopped early.
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
