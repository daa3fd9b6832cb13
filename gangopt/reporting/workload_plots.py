"""Plot of a workload: arrivals, demand, durations, sizes and the four bins of Tiresias's table 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gangopt.base.errors import InputError
from gangopt.instances.workload.summary import BIN_BOUNDS, BIN_NAMES, demand, summarise
from gangopt.reporting.plots import label, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gangopt.instances.workload.summary import Summary
    from gangopt.instances.workload.workload import Workload

__all__ = ["workload_chart"]


def workload_chart(workload: Workload, cluster_gpus: int | None = None) -> Figure:
    """Plot arrivals, sizes, GPU demand, durations, and the bins of the trace and of the testbed.

    If no duration is known, only the first two are plotted, and the title says so.

    Parameters
    ----------
    workload : Workload
        Workload with at least one job.
    cluster_gpus : int or None, optional
        GPUs of a cluster, shown as a line in the panel of the demand.

    Raises
    ------
    InputError
        If the workload is empty.
    """
    from matplotlib.figure import Figure

    if not len(workload):
        raise InputError("workload has no jobs, so there is nothing to plot")
    summary = summarise(workload)
    known = summary.known_durations > 0
    figure = Figure(figsize=(13.0, 7.2) if known else (9.0, 3.8), layout="constrained")
    panels = figure.subplots(2 if known else 1, 3 if known else 2).ravel().tolist()
    note = "" if known else "; durations unknown"
    title = f"{workload.name or 'workload'}: {summary.jobs:,} jobs, {summary.gpus:,} GPUs in gangs{note}"
    figure.suptitle(title, fontsize=11)
    first = workload.arrival[0]
    size, unit = time_unit(float(workload.arrival[-1] - first))
    _arrivals(panels[0], (workload.arrival - first) / size, unit)
    _sizes(panels[1], summary)
    if known:
        times, gpus = demand(workload)
        _demand(panels[2], (times - first) / size, gpus, unit, cluster_gpus)
        _durations(panels[3], workload)
        for index, axes in enumerate(panels[4:]):
            _bins(axes, summary, index)
    return figure


def _arrivals(axes: Axes, arrival: np.ndarray[tuple[int], np.dtype[np.float64]], unit: str) -> None:
    axes.hist(arrival, bins=min(60, max(5, len(arrival) // 5)), color="tab:blue")
    label(axes, f"time since the first arrival ({unit})", "jobs", "arrivals", grid=False)


def _demand(
    axes: Axes,
    times: np.ndarray[tuple[int], np.dtype[np.float64]],
    gpus: np.ndarray[tuple[int], np.dtype[np.int64]],
    unit: str,
    cluster_gpus: int | None,
) -> None:
    axes.step(times, gpus, where="post", color="tab:blue", lw=1, rasterized=len(times) > 5_000)
    if cluster_gpus is not None:
        axes.axhline(cluster_gpus, color="tab:red", lw=1, ls="--", label=f"cluster, {cluster_gpus:,} GPUs")
        axes.legend(frameon=False)
    axes.set_ylim(bottom=0)
    label(axes, f"time since the first arrival ({unit})", "GPUs", "GPU demand if no job waited", grid=False)


def _durations(axes: Axes, workload: Workload) -> None:
    known = np.isfinite(workload.duration)
    order = np.argsort(workload.duration[known], kind="stable")
    duration, work = workload.duration[known][order], workload.gpu_seconds[known][order]
    share = np.arange(1, len(order) + 1) / len(order)
    axes.step(duration, share, where="post", color="tab:blue", label="jobs")
    axes.step(duration, np.cumsum(work) / work.sum(), where="post", color="tab:orange", label="GPU time")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    label(axes, "duration (s)", "share", "jobs and GPU time up to a duration", legend=True)


def _sizes(axes: Axes, summary: Summary) -> None:
    place = np.arange(len(summary.sizes))
    axes.bar(place, [size.jobs for size in summary.sizes], color="tab:blue")
    step = max(1, len(place) // 12)
    axes.set_xticks(place[::step], [str(size.gpus) for size in summary.sizes[::step]])
    label(axes, "GPUs of a job", "jobs", "sizes", grid=False)


def _bins(axes: Axes, summary: Summary, index: int) -> None:
    gpus, seconds = BIN_BOUNDS[index]
    place = np.arange(len(BIN_NAMES))
    axes.bar(place - 0.2, [item.share for item in summary.bins[index]], width=0.4, color="tab:blue", label="jobs")
    parts = [item.gpu_share for item in summary.bins[index]]
    axes.bar(place + 0.2, parts, width=0.4, color="tab:orange", label="GPU time")
    axes.set_xticks(place, BIN_NAMES)
    axes.set_ylim(0, 1)
    title = f"bins: small up to {gpus} GPUs, long from {seconds:,.0f} s"
    label(axes, y="share", title=title, grid=False, legend=True)
