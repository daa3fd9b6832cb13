"""One row of a comparison: what one method made of one instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Row", "failed_row"]


@dataclass(frozen=True)
class Row:
    """One method on one instance.

    Attributes
    ----------
    instance : str
        Name of the instance.
    problem : str
        Noun of the decision, empty if the instance could not be loaded.
    method : str
        Canonical name of the method, empty if the instance could not be loaded.
    objective : float or None
        Objective from the checker, in `unit`; None without a solution.
    best_bound : float or None
        Best bound that any method proved and that holds for this row, in `unit`, None if nothing is proven.
    rel_gap : float or None
        `relative_gap` of the two, a ratio.
    proven : bool
        Whether the bound proves this row's objective optimal.
    seconds : float
        Wall seconds of the call.
    status : str
        `optimal` or `feasible`, or why there is no solution (`none` if a heuristic found none); `interrupted` if
        Ctrl-C came before or during the solve; `failed` if the call raised an error, or its objective contradicts
        what another method claims to have proven.
    unit : str
        Unit of objective and bound.
    best : bool
        Whether no other method has a better objective on this instance, in decisions with a `bound_metric` with no
        more of it than this row has.
    reason : str or None
        One line where the status needs one.
    termination : str
        Why the method stopped, as in `Result`; empty if it did not run.
    bound_scope : str
        The solutions for which `best_bound` holds, as `requests <= 157`; empty for all of them.
    metrics : mapping of str to float
        The decision's own named figures.
    """

    instance: str
    problem: str
    method: str
    objective: float | None
    best_bound: float | None
    rel_gap: float | None
    proven: bool
    seconds: float
    status: str
    unit: str = ""
    best: bool = False
    reason: str | None = None
    termination: str = ""
    bound_scope: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)

    def flat(self) -> dict[str, Any]:
        """Return the row with its metrics beside the other fields."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "metrics"}
        return {**own, **{key: value for key, value in self.metrics.items() if key not in own}}


def failed_row(instance: str, reason: str, *, problem: str = "", method: str = "", status: str = "failed") -> Row:
    """Return the row of what could not be run.

    Parameters
    ----------
    instance : str
        Name of the instance.
    reason : str
        One line that says why.
    problem : str, optional
        Noun of the decision, empty if the instance could not be loaded.
    method : str, optional
        The method, empty if all of them are meant.
    status : str, optional
        `failed`, or `interrupted` if Ctrl-C came first.
    """
    return Row(instance, problem, method, None, None, None, proven=False, seconds=0.0, status=status, reason=reason)
