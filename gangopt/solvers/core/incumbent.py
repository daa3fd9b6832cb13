"""Best solution and best bound of a running exact method, with their history."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gangopt.solvers.core.contract import Controls, Outcome, Termination, Trajectory

__all__ = ["GAP", "Incumbent"]

GAP = 1e-10
"""Relative gap at which an optimum counts as proven inside a method; reported optima are proven to 1e-9."""


@dataclass
class Incumbent:
    """State of one call of an exact method that minimises.

    Attributes
    ----------
    instance, controls : object or Controls
        The instance and the settings of the call.
    solution, objective, bound : object or float
        Best solution, its objective by the checker, and the best proven bound; infinite if absent.
    trajectory : list of tuple of float and float or None
        (seconds, objective, bound) at every change.
    build_seconds : float
        Wall time to build models.
    version : str
        Version of HiGHS, once it has solved something.
    options : mapping of str to object
        Options passed to HiGHS.
    metrics : dict of str to object
        Named figures of the method.
    begun : float
        Seconds since the start of the call when the method began.
    """

    instance: Any
    controls: Controls
    solution: Any = None
    objective: float = math.inf
    bound: float = -math.inf
    trajectory: Trajectory = field(default_factory=list)
    build_seconds: float = 0.0
    version: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.controls.elapsed()

    def offer(self, solution: Any = None, bound: float | None = None) -> None:
        """Keep a solution and a bound if they are better; clip the bound to the best objective.

        Parameters
        ----------
        solution : object, optional
            A feasible solution, or None.
        bound : float or None, optional
            A proven bound, or None.
        """
        before = (self.objective, self.bound)
        if solution is not None:
            objective = self.instance.evaluate(solution).objective
            if objective < self.objective:
                self.objective, self.solution = objective, solution
        if bound is not None:
            self.bound = max(self.bound, min(bound, self.objective))
        if before != (self.objective, self.bound):
            self.controls.note(self.trajectory, *self._known())

    def _known(self) -> tuple[float | None, float | None]:
        bound = min(self.bound, self.objective)
        return (None if self.solution is None else self.objective), (bound if math.isfinite(bound) else None)

    def proven(self, gap: float = GAP) -> bool:
        """Return whether the bound meets the best solution to the requested gap, or to this one if larger."""
        if math.isinf(self.bound) or self.solution is None:
            return False
        return self.objective - self.bound <= max(self.controls.rel_gap, gap) * abs(self.bound)

    def concluded(self, termination: Termination, reason: str | None, form: str) -> Outcome:
        """Return the Outcome of the call.

        Parameters
        ----------
        termination : Termination
            Why the method stopped.
        reason : str or None
            One line that explains it, or None.
        form : str
            The formulation that HiGHS solved last, or the method's name for its own proof.
        """
        return Outcome(
            termination=termination,
            solution=self.solution,
            bound=self._known()[1],
            form=form,
            build_seconds=self.build_seconds,
            solve_seconds=self.controls.elapsed() - self.begun - self.build_seconds,
            trajectory=tuple(self.trajectory),
            solver="highs" if self.version else "",
            version=self.version,
            options=self.options,
            metrics=self.metrics,
            reason=reason,
        )
