"""Plots of a contest: completion times, fairness, queue, GPUs in use, and a Gantt chart of the GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.replays.timelines import Timeline, gantt, timeline
from gangopt.reporting.plots import label, line_style, plain_text, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gangopt.replays.contest import Contest
    from gangopt.replays.result import Replay

__all__ = ["contest_chart"]

_POINTS = 1000
_GANTT_INCHES = 1.9


def contest_chart(contest: Contest) -> Figure:
    """Plot the distributions of JCT and rho, queue length, GPUs in use, and a Gantt chart of each policy.

    Queue and GPUs are means over 400 equal time intervals. Idle GPUs are white in a Gantt chart, and adjacent colours
    are different jobs.

    Parameters
    ----------
    contest : Contest
        Contest with at least one replayed policy and one job.

    Raises
    ------
    InputError
        If no policy was replayed.
    """
    from matplotlib.figure import Figure

    replays = [entry.replay for entry in contest.entries if entry.replay is not None and len(entry.replay.workload)]
    if not replays:
        raise InputError("no policy was replayed, so there is nothing to plot")
    height = 6.4 + _GANTT_INCHES * len(replays)
    figure = Figure(figsize=(12.0, height), layout="constrained")
    grid = figure.add_gridspec(2 + len(replays), 2, height_ratios=[3.2, 3.2] + [_GANTT_INCHES] * len(replays))
    panels = [figure.add_subplot(grid[row, column]) for row in range(2) for column in range(2)]
    last = max(float(replay.after.end.max()) for replay in replays)
    scale = time_unit(last)
    _distribution(panels[0], replays, "jct", "completion time (s)")
    _distribution(panels[1], replays, "rho", "finish-time fairness rho")
    lines = [timeline(replay) for replay in replays]
    _queue(panels[2], replays, lines, scale)
    _gpus(panels[3], replays, lines, scale)
    for row, replay in enumerate(replays):
        axes = figure.add_subplot(grid[2 + row, :])
        _gantt(axes, replay, scale)
        axes.set_xlim(0, max(last, 1e-9) / scale[0])
    place = f"{contest.cluster}, " if contest.cluster else ""
    title = f"{contest.workload.name or 'workload'} on {place}{contest.n_gpus:,} GPUs"
    figure.suptitle(plain_text(title + (" (partial)" if contest.interrupted else ""), 100), fontsize=11)
    return figure


def _look(number: int) -> dict[str, Any]:
    return {**line_style(number), "lw": 1.2}


def _distribution(axes: Axes, replays: list[Replay], figure: str, name: str) -> None:
    for number, replay in enumerate(replays):
        values, shares = _quantiles(getattr(replay, figure))
        axes.step(values, shares, where="post", label=plain_text(replay.policy), **_look(number))
    if any(getattr(replay, figure).any() for replay in replays):
        axes.set_xscale("log")
    axes.set_ylim(0, 1)
    label(axes, name, "share of jobs" if figure == "jct" else "share of apps")
    axes.legend(frameon=False, fontsize=8)


def _quantiles(values: Floats) -> tuple[Floats, Floats]:
    """Return values and shares of a distribution at `_POINTS` points or fewer, including both extremes."""
    ordered = np.sort(values)
    at = np.unique(np.linspace(0, len(ordered) - 1, min(_POINTS, len(ordered))).astype(np.int64))
    return ordered[at], (at + 1) / len(ordered)


def _queue(axes: Axes, replays: list[Replay], lines: list[Timeline], scale: tuple[float, str]) -> None:
    for number, (replay, line) in enumerate(zip(replays, lines, strict=True)):
        axes.stairs(line.queue, line.edges / scale[0], label=plain_text(replay.policy), **_look(number))
    axes.set_ylim(bottom=0)
    label(axes, f"time since the first arrival ({scale[1]})", "waiting jobs")


def _gpus(axes: Axes, replays: list[Replay], lines: list[Timeline], scale: tuple[float, str]) -> None:
    for number, (replay, line) in enumerate(zip(replays, lines, strict=True)):
        edges, look = line.edges / scale[0], _look(number)
        axes.stairs(line.allocated, edges, label=plain_text(replay.policy), **look)
        if (line.used < line.allocated - 1e-9).any():
            axes.stairs(line.used, edges, **{**look, "lw": 0.8, "alpha": 0.25, "fill": True})
    axes.axhline(replays[0].n_gpus, color="grey", lw=0.8)
    axes.set_ylim(bottom=0)
    label(axes, f"time since the first arrival ({scale[1]})", "GPUs allocated (used: filled)")


def _gantt(axes: Axes, replay: Replay, scale: tuple[float, str]) -> None:
    from matplotlib import colormaps

    jobs, first, last, runs = gantt(replay)
    hue = (jobs * 0.618034) % 1.0
    image = colormaps["rainbow"](hue)
    image[jobs < 0] = 1.0
    extent = (first / scale[0], max(last, first + 1e-9) / scale[0], float(replay.n_gpus), 0.0)
    axes.imshow(image, aspect="auto", interpolation="nearest", extent=extent)
    total = int(replay.starts.sum())
    part = "" if runs == total else f", the first {runs:,} of {total:,} runs"
    axes.set_title(plain_text(f"{replay.policy}{part}", 100), fontsize=9, loc="left")
    axes.set_ylabel("GPU")
    axes.set_xlabel(f"time since the first arrival ({scale[1]})")
