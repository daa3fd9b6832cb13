"""Result type and gap formula shared by all methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gangopt.base.errors import NoSolutionError
from gangopt.base.presented import Presented
from gangopt.base.types import Sense
from gangopt.registry.records import problems
from gangopt.solvers.core.contract import SolutionStatus, Termination

__all__ = [
    "PROVEN_GAP",
    "Result",
    "Seconds",
    "absolute_gap",
    "is_contradicted",
    "is_proven",
    "proof_gap",
    "relative_gap",
]

PROVEN_GAP = 1e-9
"""Relative gap up to which objective and bound count as equal: the rounding error of sums in double precision."""


def proof_gap(*, whole: bool) -> float:
    """Return the relative gap up to which a bound proves an objective.

    Parameters
    ----------
    whole : bool
        Whether the problem's objectives are integers, without rounding error.

    Returns
    -------
    float
        0 for integer objectives, `PROVEN_GAP` otherwise; a ratio.
    """
    return 0.0 if whole else PROVEN_GAP


def absolute_gap(objective: float | None, bound: float | None, sense: Sense) -> float | None:
    """Return how much worse an objective is than a proven bound.

    `objective - bound` when minimising, `bound - objective` when maximising.

    Parameters
    ----------
    objective : float or None
        Value of a solution, in the problem's unit, or None.
    bound : float or None
        Proven bound in the same unit, or None.
    sense : Sense
        `minimise` or `maximise`.

    Returns
    -------
    float or None
        The difference in the problem's unit; None if either value is absent.
    """
    if objective is None or bound is None:
        return None
    return objective - bound if sense == "minimise" else bound - objective


def relative_gap(objective: float | None, bound: float | None, sense: Sense) -> float | None:
    """Return how much worse an objective is than a proven bound, relative to the bound.

    `(objective - bound) / |bound|` when minimising, `(bound - objective) / |bound|` when maximising;
    0 if both are 0, infinite if only the bound is 0.

    Parameters
    ----------
    objective : float or None
        Value of a solution, in the problem's unit, or None.
    bound : float or None
        Proven bound in the same unit, or None.
    sense : Sense
        `minimise` or `maximise`.

    Returns
    -------
    float or None
        A ratio without unit; None if either value is absent.
    """
    difference = absolute_gap(objective, bound, sense)
    if difference is None or bound is None:
        return None
    if bound == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / abs(bound)


def is_proven(objective: float | None, bound: float | None, sense: Sense, *, whole: bool = False) -> bool:
    """Return whether a bound proves an objective optimal, up to `proof_gap`.

    Parameters
    ----------
    objective : float or None
        Value of a solution, or None.
    bound : float or None
        Proven bound in the same unit, or None.
    sense : Sense
        `minimise` or `maximise`.
    whole : bool, optional
        Whether the problem's objectives are integers, which must be equal.

    Returns
    -------
    bool
        False also where the objective contradicts the bound.
    """
    gap = relative_gap(objective, bound, sense)
    proven = gap is not None and gap <= proof_gap(whole=whole)
    return proven and not is_contradicted(objective, bound, sense, whole=whole)


def is_contradicted(objective: float | None, bound: float | None, sense: Sense, *, whole: bool = False) -> bool:
    """Return whether an objective is better than a bound by more than rounding, so that one of them is wrong.

    Parameters
    ----------
    objective : float or None
        Value of a solution, or None.
    bound : float or None
        Claimed bound in the same unit, or None.
    sense : Sense
        `minimise` or `maximise`.
    whole : bool, optional
        Whether the problem's objectives are integers, without rounding error.
    """
    gap, difference = relative_gap(objective, bound, sense), absolute_gap(objective, bound, sense)
    allowed = proof_gap(whole=whole)
    return gap is not None and difference is not None and gap < -allowed and difference < -allowed


@dataclass(frozen=True)
class Seconds:
    """Wall seconds of a call.

    Attributes
    ----------
    build : float
        Building models.
    solve : float
        Inside solvers and algorithms.
    total : float
        The whole call, including the check.
    """

    build: float
    solve: float
    total: float


@dataclass(frozen=True, repr=False)
class Result(Presented):
    """Solution of one method on one instance, and what is proven about it.

    Attributes
    ----------
    instance : str
        Name of the instance.
    problem : str
        Noun of the problem.
    method : str
        Canonical name of the method, options included.
    form : str or None
        Formulation or combinatorial method that was used, None for heuristics.
    termination : Termination
        Why it stopped: optimal, completed (a heuristic ran to its end), infeasible, unbounded, time_limit,
        interrupted, error.
    solution_status : SolutionStatus
        Status of the solution: optimal, feasible, none.
    sense : Sense
        Minimise or maximise.
    objective : float or None
        Value of the solution by the checker, or None.
    bound : float or None
        Proven bound on the objective, None if nothing is proven.
    abs_gap : float or None
        `absolute_gap` of the two.
    rel_gap : float or None
        `relative_gap` of the two.
    requested_rel_gap : float
        The gap at which the method was allowed to stop.
    seconds : Seconds
        Wall seconds to build, to solve, in total.
    metrics : mapping of str to object
        The problem's own named figures.
    solver : str
        Solver used, empty for methods without one.
    version : str
        Its version, or gangopt's own for methods without a solver.
    options : mapping of str to object
        Options of the method and of the solver.
    trajectory : tuple of tuple of float and float or None
        (seconds, objective, bound) at every change.
    reason : str or None
        One line that says why there is no solution or why the method stopped early.
    """

    report = "gangopt.reporting.text:result_text"

    instance: str
    problem: str
    method: str
    form: str | None
    termination: Termination
    solution_status: SolutionStatus
    sense: Sense
    objective: float | None
    bound: float | None
    abs_gap: float | None
    rel_gap: float | None
    requested_rel_gap: float
    seconds: Seconds
    metrics: Mapping[str, Any]
    solver: str
    version: str
    options: Mapping[str, Any]
    trajectory: tuple[tuple[float, float | None, float | None], ...]
    reason: str | None = None
    _solution: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", MappingProxyType(dict(self.metrics)))
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    # metrics and options are mappings
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        figures = f"termination={self.termination!r}, objective={self.objective!r}, bound={self.bound!r}"
        return f"Result(instance={self.instance!r}, method={self.method!r}, {figures})"

    def __reduce__(self) -> tuple[Any, ...]:
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _rebuild, (values | {"metrics": dict(self.metrics), "options": dict(self.options)},)

    @property
    def solution(self) -> Any:
        """The Solution.

        Raises
        ------
        NoSolutionError
            If there is none; the message gives the reason.
        """
        if self.solution_status == "none":
            why = f": {self.reason}" if self.reason else ""
            raise NoSolutionError(f"{self.instance}: {self.method} ended {self.termination} without a solution{why}")
        return self._solution

    @property
    def proven(self) -> bool:
        """True if the bound proves the objective optimal, up to `proof_gap`."""
        whole = self.problem in problems and problems[self.problem].whole
        return is_proven(self.objective, self.bound, self.sense, whole=whole)


def _rebuild(values: dict[str, Any]) -> Result:
    return Result(**values)
