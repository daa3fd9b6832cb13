"""Figures 9 and 10 of THEMIS: finish-time fairness by policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.experiments.traces import Setting, Trace, bars, replays, settings, trace
from gangopt.instances.finish_time import above_one
from gangopt.instances.workload.workload import Workload
from gangopt.replays.costs import Overheads
from gangopt.reporting.experiment import ExperimentTable
from gangopt.topology import Cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gangopt.replays.result import Replay

__all__ = ["NOTES", "PAPER", "POLICIES", "SETTINGS", "figures", "picture", "slowdowns", "themis_fairness"]

SETTINGS = (
    Setting("workload/themis-1?apps=10", "themis-testbed"),
    Setting("workload/themis-2?apps=10", "themis-testbed"),
)

POLICIES = (
    "themis",
    "srsf",
    "srtf",
    "time-sharing?quantum=600",
    "tiresias-l",
    "slaq",
    "optimus?speed=linear",
)

PAPER: Mapping[tuple[str, str], tuple[float | None, float | None]] = {
    ("themis-1", "themis"): (0.66, 1.32),
    ("themis-1", "srsf"): (0.50, 1.78),
    ("themis-1", "srtf"): (0.48, 1.99),
    ("themis-1", "time-sharing"): (0.41, 2.5),
    ("themis-1", "tiresias-l"): (0.44, 2.57),
    ("themis-1", "slaq"): (None, 3.9),
    ("themis-1", "optimus"): (0.47, 3.98),
    ("themis-2", "themis"): (1.00, 2.15),
    ("themis-2", "srsf"): (0.24, 2.33),
    ("themis-2", "srtf"): (0.22, 3.97),
    ("themis-2", "time-sharing"): (0.05, 2.82),
    ("themis-2", "tiresias-l"): (0.07, 4.26),
    ("themis-2", "slaq"): (None, 3.75),
    ("themis-2", "optimus"): (0.39, 3.19),
}
"""Smallest and largest rho, read off the ends of the curves of figures 9 and 10 to about 0.03 (dashed curves: 0.1)."""

COLUMNS = {
    "workload": "",
    "policy": "",
    "min rho": "",
    "mean rho": "",
    "max rho": "",
    "rho <= 1": "% of apps",
    "jain": "",
    "time": "GPU h",
    "max to themis": "",
    "paper min rho": "",
    "paper max rho": "",
    "paper max to themis": "",
}

NOTES = (
    "rho: THEMIS, equation 2, measured at the end; > 1 even alone if an app cannot keep its largest demand busy",
    "network-intensive apps slow down across machines and racks; the others do not",
    "time-sharing stands for the paper's Gandiva, which packs best first; here it rotates every 10 minutes",
)


def slowdowns(across_machines: float, across_racks: float) -> Overheads:
    """Return overheads that slow down network-intensive jobs across machines and racks.

    Parameters
    ----------
    across_machines, across_racks : float
        Slowdowns, >= 1.
    """
    return Overheads(slowdowns={"rack": across_machines, "cluster": across_racks}, sensitive_only=True)


def figures(found: Replay) -> dict[str, Any]:
    """Return the table entries of one replay: rho of its apps, Jain's index of rho, and GPU time in hours."""
    rho = found.rho
    return {
        "min rho": float(rho.min()),
        "mean rho": float(rho.mean()),
        "max rho": float(rho.max()),
        "rho <= 1": 100 * float(np.mean([not above_one(value) for value in rho.tolist()])),
        "jain": found.metrics["jain"],
        "time": float(found.service.sum()) / 3600,
    }


def themis_fairness(
    workload: Workload | str | Path | None = None,
    cluster: Cluster | str | Path | int | None = None,
    *,
    policies: Sequence[str] = POLICIES,
    jobs: int | None = None,
    across_machines: float = 1.1,
    across_racks: float = 1.3,
    seed: int = 0,
) -> ExperimentTable:
    """Compare policies by the finish-time fairness of apps.

    Parameters
    ----------
    workload : Workload, str, Path or None, optional
        Jobs with durations, grouped by app (default: workloads 1 and 2 of THEMIS).
    cluster : Cluster, str, Path, int or None, optional
        Machines or a number of GPUs (default: testbed of THEMIS).
    policies : sequence of str, optional
        Policies with arguments.
    jobs : int or None, optional
        Number of jobs to keep from the start of the workload.
    across_machines : float, optional
        Slowdown of network-intensive jobs across machines.
    across_racks : float, optional
        Slowdown of network-intensive jobs across racks.
    seed : int, optional
        Random seed of generated workloads.

    Raises
    ------
    InputError
        If the workload, the cluster or a policy is unknown or defective, or an argument is out of range.

    References
    ----------
    THEMIS (NSDI 2020), figures 9 and 10.
    """
    costs = slowdowns(across_machines, across_racks)
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for item in settings(SETTINGS, workload, cluster):
        given = trace(item, jobs=jobs, seed=seed)
        found, missing = _rows(given, policies, costs, seed)
        rows += found
        notes += [given.note(), *missing]
    title = "Finish-time fairness of apps by policy"
    sources = (
        f"slowdown across machines {across_machines:g}, across racks {across_racks:g}: THEMIS's priors",
        "paper: figures 9 and 10 of THEMIS (NSDI'20), read off their curves to 0.03; its workloads are not public",
    )
    return ExperimentTable("themis-fairness", title, COLUMNS, tuple(rows), (*notes, *NOTES, *sources))


def _rows(given: Trace, policies: Sequence[str], costs: Overheads, seed: int) -> tuple[list[dict[str, Any]], list[str]]:
    found, missing = replays(given, policies, overheads=costs, seed=seed)
    best = next((item.metrics["max_rho"] for name, item in found.items() if name.partition("?")[0] == "themis"), None)
    rows = []
    for policy, item in found.items():
        paper = PAPER.get((given.name, policy.partition("?")[0]), (None, None))
        first = PAPER.get((given.name, "themis"), (None, None))[1]
        drawn = figures(item)
        rows.append(
            {
                "workload": given.name,
                "policy": policy,
                **drawn,
                "max to themis": drawn["max rho"] / best if best else None,
                "paper min rho": paper[0],
                "paper max rho": paper[1],
                "paper max to themis": paper[1] / first if paper[1] and first else None,
            }
        )
    return rows, missing


def picture(table: ExperimentTable) -> Figure:
    """Plot bars of the smallest and the largest rho per policy, with the paper's figures as dots.

    Parameters
    ----------
    table : ExperimentTable
        Result of `themis_fairness`.
    """
    return bars(table, "workload", "policy", {"min rho": "paper min rho", "max rho": "paper max rho"})
