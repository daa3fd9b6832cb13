"""Table 5 of Tiresias: six schedulers in simulation, relative to Tiresias-L."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.experiments.tiresias_table1 import columns, normalised
from gangopt.experiments.traces import Setting, bars, settings, trace
from gangopt.instances.workload.workload import Workload
from gangopt.reporting.experiment import ExperimentTable
from gangopt.topology import Cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PAPER", "PAPER_TESTBED", "SETTINGS", "picture", "tiresias_table5"]

Figures = Mapping[str, tuple[float | None, float | None, float | None]]

SETTINGS = (
    Setting("workload/philly-like", 256, load=1.0, jobs=2000),
    Setting("workload/tiresias-testbed", "tiresias-testbed"),
)

POLICIES = ("yarn-cs", "best-effort", "srtf", "time-sharing", "tiresias-g", "tiresias-l")

THRESHOLDS = {"tiresias-testbed": "3200"}
"""Threshold between the two queues by workload, GPU s; 3600 for others."""

PAPER: Figures = {
    "yarn-cs": (2.41, 30.85, 1.25),
    "best-effort": (1.50, 9.03, 1.08),
    "srtf": (1.00, 1.00, 0.84),
    "time-sharing": (2.00, 2.59, 2.08),
    "tiresias-g": (0.97, 1.00, 0.85),
    "tiresias-l": (1.0, 1.0, 1.0),
}
"""Mean, median and 95th percentile of the completion times relative to Tiresias-L, as printed in table 5."""

PAPER_TESTBED: Figures = {
    "yarn-cs": (5.11, None, 1.50),
    "srtf": (0.74, None, 0.55),
    "tiresias-g": (1.01, None, 1.13),
    "tiresias-l": (1.0, 1.0, 1.0),
}
"""The same for the simulated testbed workload, as printed in section 5.3.1, which reports no medians."""

NOTES = (
    "paper: table 5 of Tiresias (NSDI'19), as printed, on an unpublished trace of Microsoft;",
    "  for tiresias-testbed its simulation of that workload in section 5.3.1; time-sharing: the paper's Gandiva",
    "2 queues, 3,600 GPU s (tiresias-testbed: 3,200), no promotion; no cost of preemption or placement",
)


def tiresias_table5(
    workload: Workload | str | Path | None = None,
    cluster: Cluster | str | Path | int | None = None,
    *,
    jobs: int | None = None,
    seed: int = 0,
) -> ExperimentTable:
    """Compare six schedulers by completion times relative to Tiresias-L.

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
    Tiresias (NSDI 2019), section 5.3, table 5.
    """
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for item in settings(SETTINGS, workload, cluster):
        given = trace(item, jobs=jobs, seed=seed)
        threshold = THRESHOLDS.get(given.name, "3600")
        policies = tuple(f"{name}?thresholds={threshold}" if name.startswith("tiresias") else name for name in POLICIES)
        paper = PAPER_TESTBED if given.name == "tiresias-testbed" else PAPER
        found, missing = normalised(given, policies, "tiresias-l", paper, seed)
        rows += found
        notes += [given.note(), *missing]
    title = "Completion times relative to Tiresias-L"
    return ExperimentTable("tiresias-table5", title, columns("tiresias-l"), tuple(rows), (*notes, *NOTES))


def picture(table: ExperimentTable) -> Figure:
    """Plot bars of the normalised completion times, with the paper's figures as dots.

    Parameters
    ----------
    table : ExperimentTable
        Result of `tiresias_table5`.
    """
    names = ("mean", "median", "95th")
    return bars(table, "workload", "policy", {f"{name} to tiresias-l": f"paper {name}" for name in names})
