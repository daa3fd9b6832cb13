"""Appendix C of Tiresias: Gittins index of a job over its attained service."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.checks import integer
from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.instances.workload.gittins import ServiceDistribution
from gangopt.instances.workload.workload import Workload
from gangopt.reporting.experiment import ExperimentTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SERVICES", "THRESHOLDS", "gittins_curve", "picture"]

SERVICES = (4.0, 8.0, 12.0)
"""Services of the three equally likely jobs of figure 7, GPU s."""

THRESHOLDS = (4.0,)
"""Threshold between the queues that reproduces the 2D-Gittins schedule of figure 7, GPU s."""

COLUMNS = {"attained": "GPU s", "printed": "1/GPU s", "queue": "", "discretised": "1/GPU s"}

NOTES = (
    "printed: maximum over quanta d of P(S - a <= d | S > a) / E[min(S - a, d) | S > a], pseudocode 1",
    "discretised: the same with the upper end of the job's queue as quantum; 0 in the last queue, which is FIFO",
    "paper: figure 20 of Tiresias (NSDI'19) ends at 0.8; its values are not published as numbers",
)


def gittins_curve(
    services: Sequence[float] | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    *,
    workload: Workload | str | Path | None = None,
    points: int = 13,
    jobs: int | None = None,
    seed: int = 0,
) -> ExperimentTable:
    """Tabulate the Gittins index over attained service, as printed and as Tiresias-G discretises it.

    Parameters
    ----------
    services : sequence of float or None, optional
        Services of past jobs, all equally likely, in GPU s (default: 4,8,12). Attained services are evenly spaced
        from 0 to the largest.
    thresholds : sequence of float, optional
        Ascending thresholds between the queues, in GPU s.
    workload : Workload, str, Path or None, optional
        Workload to take the services from instead. Attained services are then 0 and their quantiles.
    points : int, optional
        Number of attained services, from 2 to 10,000.
    jobs : int or None, optional
        Number of jobs to generate, or to keep from the start of a job log.
    seed : int, optional
        Random seed of a generated workload.

    Raises
    ------
    InputError
        If a service or threshold is not positive, thresholds do not ascend, the number of points is out of range, or
        both services and a workload are given.

    References
    ----------
    Tiresias (NSDI 2019), pseudocode 1 and appendix C, figure 20.
    """
    integer("points", points, 2, 10_000)
    limits = np.asarray(thresholds, dtype=np.float64)
    if not (len(limits) and np.isfinite(limits).all() and limits[0] > 0 and (np.diff(limits) > 0).all()):
        given = ", ".join(f"{value:g}" for value in thresholds) or "none"
        raise InputError(f"thresholds must be > 0 GPU s and ascending (got {given})")
    if services is not None and workload is not None:
        raise InputError("services and workload cannot be given together")
    if workload is None:
        past = ServiceDistribution(SERVICES if services is None else services)
        attained = np.linspace(0.0, past.services[-1], points)
        source = f"services: {', '.join(f'{value:g}' for value in past.services)} GPU s, equally likely"
    else:
        past, source = _history(workload, jobs, seed)
        attained = np.concatenate([[0.0], np.quantile(past.services, np.linspace(0, 1, points - 1))])
    rows = _rows(past, attained, limits)
    title = "Gittins index over attained service"
    line = f"queues: thresholds {', '.join(f'{value:g}' for value in limits)} GPU s"
    return ExperimentTable("gittins-curve", title, COLUMNS, rows, (source, line, *NOTES))


def _history(workload: Workload | str | Path, jobs: int | None, seed: int) -> tuple[ServiceDistribution, str]:
    from gangopt.experiments.traces import Setting, trace

    given = trace(Setting(workload, 1), jobs=jobs, seed=seed)
    given.workload.require("duration")
    return ServiceDistribution(
        given.workload.gpu_seconds
    ), f"services: of the {len(given.workload):,} jobs of {given.name}"


def _rows(past: ServiceDistribution, attained: Floats, limits: Floats) -> tuple[dict[str, Any], ...]:
    printed = past.best_index(attained)
    queue = np.searchsorted(limits, attained, side="right")
    upper = np.append(limits, np.inf)[queue]
    discretised = np.where(queue < len(limits), past.index(attained, upper), 0.0)
    return tuple(
        {"attained": a, "printed": g, "queue": q + 1, "discretised": d}
        for a, g, q, d in zip(attained.tolist(), printed.tolist(), queue.tolist(), discretised.tolist(), strict=True)
    )


def picture(table: ExperimentTable) -> Figure:
    """Plot both indices over attained service.

    Parameters
    ----------
    table : ExperimentTable
        Result of `gittins_curve`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, 3.4), layout="constrained")
    axes = figure.subplots()
    attained = [row["attained"] for row in table.rows]
    for column in ("printed", "discretised"):
        axes.plot(attained, [row[column] for row in table.rows], marker="o", markersize=3, label=column)
    if attained[-1] > 1000:
        axes.set(xscale="symlog", yscale="log")
    axes.set(xlabel="attained service (GPU s)", ylabel="Gittins index (1/GPU s)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure
