"""Sources of Optimus's gain: keep one of its two decisions and swap the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.interrupts import unless_interrupted
from gangopt.base.types import Bools, Floats
from gangopt.catalogue import load
from gangopt.instances.interval.instance import IntervalInstance
from gangopt.reporting.experiment import ExperimentTable
from gangopt.solvers.solve import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["INSTANCES", "optimus_ablation", "picture"]

INSTANCES = ("interval/optimus-testbed", *(f"interval/testbed?seed={seed}" for seed in range(10)))
"""The nine testbed jobs at the start and at ten random states of progress."""

SWAPPED = {
    "allocation": ("optimus", "exact", "drf", "tetris", "equal"),
    "placement": ("optimus", "exact", "spread", "pack", "random"),
}
"""Methods to swap in for each decision, Optimus's first."""

COLUMNS = {
    "swapped": "",
    "method": "",
    "instances": "",
    "jobs placed": "%",
    "completion time": "s",
    "to Optimus": "",
    "same jobs, to Optimus": "",
    "transfer time": "s",
}
NOTES = (
    "completion time: mean over all jobs; a placed job takes its fitted time, with transfers scaled by the ratio of",
    "  its placement's transfer time to that of tasks without a shared server (eqn 2)",
    "a paused job is charged the interval plus its fitted time with 1 + 1 tasks, so the choice of paused jobs matters",
    "to Optimus: total completion time relative to optimus+optimus, summed over all instances",
    "same jobs: the same ratio over the jobs that every method of the half places",
    "one interval of given jobs; the paper replays whole traces: JCT -62 % by allocation compared with DRF, about",
    "  -15 % by placement compared with Kubernetes's spreading (DRF) and -10 % compared with Tetris",
)


@dataclass(frozen=True)
class _Run:
    """One method on all instances: completion times, placed jobs, total transfer time and unproven exact solves."""

    times: Floats
    placed: Bools
    transfer: float
    unproven: int


def optimus_ablation(
    instances: Sequence[str | IntervalInstance] = INSTANCES,
    *,
    optimum: bool = False,
    time_limit: float | None = 60.0,
    seed: int = 0,
) -> ExperimentTable:
    """Compare allocations under Optimus's placement, then placements under Optimus's allocation.

    Parameters
    ----------
    instances : sequence of str or IntervalInstance, optional
        Instances of problem `interval` (default: the testbed at eleven states of progress).
    optimum : bool, optional
        Add the joint optimum of both decisions.
    time_limit : float or None, optional
        Wall-clock limit of each exact solve, in s. Rows with unproven exact solves say so next to the method.
    seed : int, optional
        Random seed of the random placement.

    Raises
    ------
    InputError
        If there is no instance, or one is of another problem.

    References
    ----------
    Optimus (EuroSys'18), section 6.5 of the paper, figures 18 and 19.
    """
    loaded = [load(item) if isinstance(item, str) else item for item in instances]
    if not loaded:
        raise InputError("optimus-ablation: no instances given")
    for item in loaded:
        if not isinstance(item, IntervalInstance):
            raise InputError(f"optimus-ablation: {item.name} must be an interval instance (got {item.noun})")
    kept: list[IntervalInstance] = [item for item in loaded if isinstance(item, IntervalInstance)]
    rows: list[dict[str, Any]] = []
    base = _run(kept, "optimus+optimus", time_limit, seed)
    for half, methods in SWAPPED.items():
        runs = {"optimus": base}
        for method in methods[1:]:
            pair = f"{method}+optimus" if half == "allocation" else f"optimus+{method}"
            runs[method] = _run(kept, pair, time_limit, seed)
        rows += _rows(half, runs, len(kept))
    if optimum:
        rows += _rows("both", {"optimus": base, "joint": _run(kept, "exact", time_limit, seed)}, len(kept))[1:]
    return ExperimentTable(
        "optimus-ablation",
        f"Optimus with one decision swapped, on {len(kept)} intervals",
        COLUMNS,
        tuple(rows),
        NOTES,
    )


def _run(instances: list[IntervalInstance], method: str, time_limit: float | None, seed: int) -> _Run:
    exact = "exact" in method
    times, placed, transfer, unproven = [], [], 0.0, 0
    for instance in instances:
        result = unless_interrupted(solve(instance, method, time_limit=time_limit if exact else None, seed=seed))
        # two proven decisions in turn end as completed: together they prove no optimum
        unproven += exact and result.termination != ("optimal" if method == "exact" else "completed")
        times.append(instance.completion_times(result.solution))
        placed.append(np.array([bool(pieces) for pieces in result.solution.placement.pieces]))
        transfer += float(result.metrics["transfer_time"])
    return _Run(np.concatenate(times), np.concatenate(placed), transfer, unproven)


def _rows(half: str, runs: dict[str, _Run], instances: int) -> list[dict[str, Any]]:
    base = runs["optimus"]
    common = np.logical_and.reduce([run.placed for run in runs.values()])
    return [
        {
            "swapped": half,
            "method": method if not run.unproven else f"{method} (not proven on {run.unproven} of {instances})",
            "instances": instances,
            "jobs placed": 100 * float(run.placed.mean()),
            "completion time": float(run.times.mean()),
            "to Optimus": _sum(run.times) / _sum(base.times),
            "same jobs, to Optimus": _sum(run.times[common]) / _sum(base.times[common]) if common.any() else None,
            "transfer time": run.transfer,
        }
        for method, run in runs.items()
    ]


def _sum(times: Floats) -> float:
    return math.fsum(times.tolist())


def picture(table: ExperimentTable) -> Figure:
    """Plot completion times relative to Optimus, one panel per swapped decision.

    Parameters
    ----------
    table : ExperimentTable
        Result of `optimus_ablation`.
    """
    from matplotlib.figure import Figure

    halves = list(dict.fromkeys(row["swapped"] for row in table.rows))
    figure = Figure(figsize=(4.2 * len(halves), 3.6), layout="constrained")
    for axes, half in zip(figure.subplots(1, len(halves), squeeze=False)[0], halves, strict=True):
        rows = [row for row in table.rows if row["swapped"] == half]
        places = np.arange(len(rows))
        axes.bar(places - 0.2, [row["to Optimus"] for row in rows], 0.4, label="all jobs")
        same = [row["same jobs, to Optimus"] or math.nan for row in rows]
        axes.bar(places + 0.2, same, 0.4, label="jobs placed by all")
        for place, row in zip(places.tolist(), rows, strict=True):
            axes.annotate(f"{row['jobs placed']:.0f} %", (place - 0.2, row["to Optimus"]), ha="center", va="bottom")
        axes.axhline(1.0, color="grey", linewidth=0.8)
        axes.set_xticks(places, [row["method"] for row in rows])
        axes.margins(y=0.12)
        axes.set_title(f"{half} swapped; above: jobs placed", fontsize="medium")
    figure.axes[0].set_ylabel("completion time (Optimus = 1)")
    figure.axes[0].legend(frameon=False)
    return figure
