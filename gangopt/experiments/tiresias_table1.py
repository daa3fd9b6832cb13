"""Table 1 of Tiresias: ordering jobs by size or by time alone, compared with size times time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.experiments.traces import Setting, Trace, bars, replays, settings, trace
from gangopt.instances.workload.workload import Workload
from gangopt.reporting.experiment import ExperimentTable
from gangopt.topology import Cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PAPER", "SETTINGS", "columns", "normalised", "picture", "tiresias_table1"]

SETTINGS = (
    Setting("workload/philly-like", 256, load=1.0, jobs=2000),
    Setting("workload/tiresias-testbed", "tiresias-testbed"),
)

POLICIES = ("sf", "srtf", "srsf")

PAPER: Mapping[str, tuple[float, float, float]] = {
    "sf": (1.52, 1.20, 3.45),
    "srtf": (1.03, 1.01, 1.55),
    "srsf": (1.0, 1.0, 1.0),
}
"""Mean, median and 95th percentile of the completion times relative to SRSF, as printed in table 1."""

NOTES = (
    "paper: table 1 of Tiresias (NSDI'19), as printed, on an unpublished trace of Microsoft",
    "all three policies know the durations and preempt at no cost",
)

_FIGURES = {"mean": "avg_jct", "median": "median_jct", "95th": "p95_jct"}


def columns(reference: str) -> dict[str, str]:
    """Return the columns of a table of completion times relative to a reference policy."""
    return {
        "workload": "",
        "policy": "",
        **{f"{name} JCT": "s" for name in _FIGURES},
        **{f"{name} to {reference}": "" for name in _FIGURES},
        **{f"paper {name}": "" for name in _FIGURES},
    }


def normalised(
    given: Trace,
    policies: tuple[str, ...],
    reference: str,
    paper: Mapping[str, tuple[float | None, float | None, float | None]],
    seed: int,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Replay a trace and return one row per policy, and notes on skipped policies.

    Parameters
    ----------
    given : Trace
        Jobs and machines.
    policies : tuple of str
        Policies with arguments.
    reference : str
        Reference policy, without arguments.
    paper : mapping of str to tuple of float or None
        Published mean, median and 95th percentile relative to the reference, by policy without arguments.
    seed : int
        Random seed of the replays.
    """
    found, missing = replays(given, policies, seed=seed)
    named = {name.partition("?")[0]: item.metrics for name, item in found.items()}
    base, rows = named.get(reference), []
    for name, metrics in named.items():
        row: dict[str, Any] = {"workload": given.name, "policy": name}
        for at, (label, metric) in enumerate(_FIGURES.items()):
            value, unit = metrics[metric], None if base is None else base[metric]
            row[f"{label} JCT"] = value
            row[f"{label} to {reference}"] = value / unit if value and unit else None
            row[f"paper {label}"] = paper[name][at] if name in paper else None
        rows.append(row)
    return rows, missing


def tiresias_table1(
    workload: Workload | str | Path | None = None,
    cluster: Cluster | str | Path | int | None = None,
    *,
    jobs: int | None = None,
    seed: int = 0,
) -> ExperimentTable:
    """Compare smallest first and shortest remaining time first with shortest remaining service first.

    Parameters
    ----------
    workload : Workload, str, Path or None, optional
        Jobs with durations (default: philly-like at load 1, and tiresias-testbed).
    cluster : Cluster, str, Path, int or None, optional
        Machines or a number of GPUs (default: 256 GPUs, and the testbed).
    jobs : int or None, optional
        Number of jobs to generate, or to keep from the start of a job log.
    seed : int, optional
        Random seed of generated workloads.

    Raises
    ------
    InputError
        If the workload or cluster is unknown or defective, or a job has no duration or is larger than the cluster.

    References
    ----------
    Tiresias (NSDI 2019), section 3.1, table 1.
    """
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for item in settings(SETTINGS, workload, cluster):
        given = trace(item, jobs=jobs, seed=seed)
        found, missing = normalised(given, POLICIES, "srsf", PAPER, seed)
        rows += found
        notes += [given.note(), *missing]
    title = "Completion times relative to shortest remaining service first"
    return ExperimentTable("tiresias-table1", title, columns("srsf"), tuple(rows), (*notes, *NOTES))


def picture(table: ExperimentTable) -> Figure:
    """Plot bars of the normalised completion times, with the paper's figures as dots.

    Parameters
    ----------
    table : ExperimentTable
        Result of `tiresias_table1`.
    """
    return bars(table, "workload", "policy", {f"{name} to srsf": f"paper {name}" for name in _FIGURES})
