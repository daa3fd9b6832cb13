"""Shared parts of the experiments that replay workloads: loading by name, replays, and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.checks import integer
from gangopt.base.errors import InputError
from gangopt.replays.contest import contest
from gangopt.replays.run import resolve_cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gangopt.instances.workload.workload import Workload
    from gangopt.replays.costs import Overheads
    from gangopt.replays.result import Replay
    from gangopt.reporting.experiment import ExperimentTable
    from gangopt.topology import Cluster

__all__ = ["Setting", "Trace", "bars", "family", "lines", "replays", "settings", "trace"]

MAX_JOBS = 1_000_000


@dataclass(frozen=True)
class Setting:
    """Workload and cluster of a replay.

    Attributes
    ----------
    workload : Workload, str or Path
        Workload, its name or its file.
    cluster : Cluster, str, Path or int
        Cluster, its name or file, or a number of GPUs without machines.
    load : float or None
        Work of all jobs relative to the capacity of the cluster while jobs arrive; None does not scale arrivals.
    jobs : int or None
        Default number of jobs to generate or keep; None for that of the workload.
    """

    workload: Workload | str | Path
    cluster: Cluster | str | Path | int
    load: float | None = None
    jobs: int | None = None


@dataclass(frozen=True)
class Trace:
    """Loaded workload and cluster of a replay.

    Attributes
    ----------
    workload : Workload
        Jobs to replay.
    cluster : Cluster or int
        Machines, or a number of GPUs without machines.
    n_gpus : int
        Number of GPUs.
    name : str
        Name of the workload in tables, without its seed.
    load : float or None
        Load that arrivals were scaled to, None if they were not.
    """

    workload: Workload
    cluster: Cluster | int = field(repr=False)
    n_gpus: int
    name: str
    load: float | None = None

    def note(self) -> str:
        """Return a line on the workload and the cluster."""
        where = f"{self.n_gpus:,} GPUs without machines" if isinstance(self.cluster, int) else _machines(self.cluster)
        load = "" if self.load is None else f", arrivals scaled to load {self.load:g}"
        return f"{self.name}: {self.workload.name or 'workload'}, {len(self.workload):,} jobs on {where}{load}"


def _machines(cluster: Cluster) -> str:
    label = f"{cluster.name}, " if cluster.name else ""
    return f"{label}{len(cluster.gpus):,} GPUs in {int((cluster.gpus_per_machine > 0).sum()):,} machines"


def settings(
    defaults: Sequence[Setting], workload: Workload | str | Path | None, cluster: Cluster | str | Path | int | None
) -> tuple[Setting, ...]:
    """Return the settings of an experiment: the defaults, or the given workload on the given or first cluster.

    Parameters
    ----------
    defaults : sequence of Setting
        Settings of the experiment.
    workload : Workload, str, Path or None
        Workload that replaces all settings.
    cluster : Cluster, str, Path, int or None
        Cluster that replaces that of every setting.
    """
    chosen = tuple(defaults) if workload is None else (Setting(workload, defaults[0].cluster),)
    return chosen if cluster is None else tuple(replace(item, cluster=cluster) for item in chosen)


def trace(setting: Setting, *, jobs: int | None = None, seed: int = 0) -> Trace:
    """Load the workload and the cluster of a setting.

    Parameters
    ----------
    setting : Setting
        Setting to load.
    jobs : int or None, optional
        Number of jobs to generate if the generator takes it and its name does not fix it, else the number of first
        arrivals to keep; None for the default of the name, or all jobs of a file.
    seed : int, optional
        Random seed of a generator if its name does not fix it.

    Raises
    ------
    InputError
        If the workload or the cluster is unknown or defective, the workload has no jobs, or `jobs` is out of range.
    """
    jobs = setting.jobs if jobs is None else jobs
    if jobs is not None:
        integer("jobs", jobs, 1, MAX_JOBS)
    cluster, n_gpus = resolve_cluster(setting.cluster)
    workload = _load(setting.workload, jobs, seed)
    if jobs is not None:
        workload = replace(workload, frame=workload.frame.head(jobs))
    if not len(workload):
        raise InputError(f"{workload.name or setting.workload}: the workload must have at least one job")
    if setting.load is not None:
        workload = _at_load(workload, n_gpus, setting.load)
    return Trace(
        workload, n_gpus if cluster is None else cluster, n_gpus, _short(workload, setting.workload), setting.load
    )


def _load(given: Workload | str | Path, jobs: int | None, seed: int) -> Workload:
    from gangopt.base.arguments import join_name, split_name
    from gangopt.instances.workload.catalogue import FAMILIES, PREFIX, is_workload_name, load_workload
    from gangopt.instances.workload.workload import Workload

    if isinstance(given, Workload):
        return given
    if not isinstance(given, str) or not is_workload_name(given):
        return load_workload(given)
    base, arguments = split_name(given)
    known = FAMILIES.get(base.removeprefix(PREFIX))
    open_ones = {} if known is None else known.parameters()
    for name, value in (("jobs", jobs), ("seed", seed)):
        if value is not None and name in open_ones:
            arguments.setdefault(name, str(value))
    return load_workload(join_name(base, arguments))


def _at_load(workload: Workload, n_gpus: int, load: float) -> Workload:
    span = float(workload.arrival[-1] - workload.arrival[0])
    workload.require("duration")
    return workload.scale_load(load * n_gpus * span / float(workload.gpu_seconds.sum())) if span > 0 else workload


def _short(workload: Workload, given: Workload | str | Path) -> str:
    if isinstance(given, str) and given.startswith("workload/"):
        return family(given)
    return Path(given).name if isinstance(given, str | Path) else workload.name or "workload"


def family(name: str) -> str:
    """Return the generator in a workload's name, e.g. `themis-1` in `workload/themis-1?seed=3`."""
    return name.removeprefix("workload/").partition("?")[0]


def replays(
    given: Trace, policies: Sequence[str], *, overheads: Overheads | None = None, seed: int = 0
) -> tuple[dict[str, Replay], list[str]]:
    """Replay a trace under policies.

    Parameters
    ----------
    given : Trace
        Jobs and machines.
    policies : sequence of str
        Policies with arguments.
    overheads : Overheads or None, optional
        Overheads, None for none; slowdowns are ignored for GPUs without machines.
    seed : int, optional
        Random seed of the policies.

    Returns
    -------
    dict and list
        Replays by policy in the given order, and one line per skipped policy and per notice.

    Raises
    ------
    InputError
        If a policy is unknown, or no policy can be replayed.
    """
    if overheads is not None and isinstance(given.cluster, int):
        overheads = replace(overheads, slowdowns={})
    run = contest(given.workload, given.cluster, policies, overheads=overheads, seed=seed, bound=False)
    if run.interrupted:
        # an incomplete table would look complete
        raise KeyboardInterrupt
    entries = run.entries
    found = {item.policy: item.replay for item in entries if item.replay is not None}
    missing = [f"{given.name}: {item.policy} skipped: {item.reason}" for item in entries if item.replay is None]
    if not found:
        raise InputError(f"{given.name}: no policy can be replayed; {entries[0].policy}: {entries[0].reason}")
    return found, [*missing, *(f"{given.name}: {item.message} ({item.name}: {item.count:,})" for item in run.notices)]


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def bars(table: ExperimentTable, panel: str, series: str, values: Mapping[str, str | None]) -> Figure:
    """Plot columns as bars, with the paper's figures as dots.

    Parameters
    ----------
    table : ExperimentTable
        Table to plot.
    panel : str
        Column whose values make the rows of panels.
    series : str
        Column with the labels of the bars.
    values : mapping of str to str or None
        Columns to plot, each with the column of the paper's figure or None.
    """
    from matplotlib.figure import Figure

    names = _unique(row[panel] for row in table.rows)
    figure = Figure(figsize=(3.2 * len(values), 2.8 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), len(values), squeeze=False)
    for line, name in zip(grid, names, strict=True):
        rows = [row for row in table.rows if row[panel] == name]
        at = np.arange(len(rows))
        for axes, (column, paper) in zip(line, values.items(), strict=True):
            heights = [np.nan if row[column] is None else row[column] for row in rows]
            axes.bar(at, heights, color="tab:blue", label="replayed")
            if paper is not None and any(row[paper] is not None for row in rows):
                dots = [np.nan if row[paper] is None else row[paper] for row in rows]
                axes.plot(at, dots, "o", color="tab:orange", label="paper")
            axes.set_xticks(at, [row[series] for row in rows], rotation=40, ha="right", fontsize="small")
            axes.set_ylabel(column, fontsize="small")
            axes.set_title(str(name), fontsize="small")
            axes.grid(alpha=0.3, axis="y")
    grid[0][0].legend(frameon=False, fontsize="small")
    return figure


def lines(table: ExperimentTable, series: str, across: str, values: Sequence[str]) -> Figure:
    """Plot columns over another column, one panel per column and one line per series.

    Parameters
    ----------
    table : ExperimentTable
        Table to plot.
    series : str
        Column whose values make the lines.
    across : str
        Column of the horizontal axis.
    values : sequence of str
        Columns of the vertical axes.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.4 * len(values), 3.4), layout="constrained")
    panels = figure.subplots(1, len(values), squeeze=False)[0]
    for axes, column in zip(panels, values, strict=True):
        for label in _unique(row[series] for row in table.rows):
            rows = [row for row in table.rows if row[series] == label]
            axes.plot([row[across] for row in rows], [row[column] for row in rows], marker="o", ms=4, label=label)
        axes.set(xlabel=_with_unit(table, across), ylabel=_with_unit(table, column))
        axes.grid(alpha=0.3)
    panels[0].legend(frameon=False, fontsize="small")
    return figure


def _with_unit(table: ExperimentTable, column: str) -> str:
    unit = table.columns[column]
    return f"{column} ({unit})" if unit else column
