"""Settings and outcome of a solve, shared by HiGHS and all other solvers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Literal

from gangopt.base.errors import InputError
from gangopt.base.types import Floats

__all__ = ["LARGEST_THREADS", "Progress", "SolutionStatus", "SolveSettings", "SolverOutcome", "Termination"]

Termination = Literal["optimal", "infeasible", "unbounded", "time_limit", "interrupted", "error"]
SolutionStatus = Literal["optimal", "feasible", "none"]
_LARGEST_SEED = 2**31 - 1
LARGEST_THREADS = 1024
"""Maximum threads: HiGHS starts as many as requested, and the process dies if the system has no more."""


@dataclass(frozen=True)
class Progress:
    """One step of a running solve.

    Attributes
    ----------
    seconds : float
        Wall time since the solve began.
    incumbent : float or None
        Objective of the best solution so far, None before the first.
    bound : float or None
        Proven bound so far, None before the first.
    """

    seconds: float
    incumbent: float | None
    bound: float | None


@dataclass(frozen=True)
class SolveSettings:
    """Settings of a solve.

    Attributes
    ----------
    time_limit : float or None
        Wall seconds, None for no limit.
    rel_gap : float
        Stop when (objective - bound) / abs(bound) is at most this; 0 requests a proven optimum.
    abs_gap : float
        Stop when abs(objective - bound) is at most this, in the objective's unit.
    threads : int
        Threads of the solver, from 1 to 1024.
    seed : int
        Seed of the solver's own random choices.
    options : mapping of str to object
        Further options of the solver, by its own names.
    on_progress : callable or None
        Called in the calling thread with each new incumbent or bound.
    log : callable or None
        Called in the calling thread with each line of the solver's log.
    explain : bool
        Whether to search for conflicting components if a model is infeasible.
    """

    time_limit: float | None = None
    rel_gap: float = 0.0
    abs_gap: float = 0.0
    threads: int = 1
    seed: int = 0
    options: Mapping[str, object] = field(default_factory=dict)
    on_progress: Callable[[Progress], None] | None = None
    log: Callable[[str], None] | None = None
    explain: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.options, Mapping) or not all(isinstance(name, str) for name in self.options):
            raise InputError(f"options must be a mapping from option names to values (got {self.options!r})")
        for name in ("on_progress", "log"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise InputError(f"{name} must be a function or None (got {getattr(self, name)!r})")
        if self.time_limit is not None and not (_real(self.time_limit) and self.time_limit >= 0):
            raise InputError(f"time_limit must be >= 0 seconds or None (got {self.time_limit!r})")
        for name in ("rel_gap", "abs_gap"):
            value = getattr(self, name)
            if not (_real(value) and value >= 0 and math.isfinite(value)):
                raise InputError(f"{name} must be finite and >= 0 (got {value!r})")
        if not _whole(self.threads) or not 1 <= self.threads <= LARGEST_THREADS:
            raise InputError(f"threads must be an integer from 1 to {LARGEST_THREADS} (got {self.threads!r})")
        if not _whole(self.seed) or not 0 <= self.seed <= _LARGEST_SEED:
            raise InputError(f"seed must be an integer from 0 to {_LARGEST_SEED} (got {self.seed!r})")


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class SolverOutcome:
    """Solution and bound of a solver.

    Attributes
    ----------
    termination : Termination
        Why it stopped.
    solution_status : SolutionStatus
        Status of the solution: `optimal`, `feasible` or `none`.
    objective : float or None
        Objective of `values`, recomputed in the model's sense; None without a solution.
    bound : float or None
        Proven bound on the objective, None if the solver has none.
    values : ndarray of float or None
        One value per column, integers rounded and checked; None without a solution.
    seconds : float
        Wall time inside the solver.
    trajectory : tuple of tuple of float and float or None
        (seconds, incumbent, bound) at each change.
    solver : str
        Name of the solver.
    version : str
        Its version.
    options : dict of str to object
        All options passed to it, by its own names.
    conflict : tuple of str
        Names of conflicting components, if infeasible and the solver found them.
    row_duals : ndarray of float or None
        Dual value of each row, for an LP only.
    reduced_costs : ndarray of float or None
        Reduced cost of each column, for an LP only.
    nodes : int or None
        Branch-and-bound nodes, None for an LP.
    message : str or None
        One line of further remarks, or None.
    """

    termination: Termination
    solution_status: SolutionStatus
    objective: float | None
    bound: float | None
    values: Floats | None
    seconds: float
    trajectory: tuple[tuple[float, float | None, float | None], ...]
    solver: str
    version: str
    options: dict[str, object]
    conflict: tuple[str, ...] = ()
    row_duals: Floats | None = None
    reduced_costs: Floats | None = None
    nodes: int | None = None
    message: str | None = None
