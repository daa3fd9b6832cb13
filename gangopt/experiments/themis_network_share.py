"""Figures 15 and 16 of THEMIS: fairness and GPU time by the share of network-intensive apps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.checks import number
from gangopt.base.errors import InputError
from gangopt.experiments.themis_fairness import NOTES, POLICIES, figures, slowdowns
from gangopt.experiments.traces import Setting, lines, replays, settings, trace
from gangopt.instances.workload.workload import Workload
from gangopt.reporting.experiment import ExperimentTable
from gangopt.topology import Cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["POLICIES", "SETTINGS", "SHARES", "picture", "themis_network_share", "with_share"]

SETTINGS = (Setting("workload/themis-2?apps=10", "themis-simulator"),)

SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

COLUMNS = {
    "network-intensive": "% of apps",
    "policy": "",
    "min rho": "",
    "mean rho": "",
    "max rho": "",
    "rho <= 1": "% of apps",
    "jain": "",
    "time": "GPU h",
}


def with_share(workload: Workload, share: float, seed: int) -> Workload:
    """Return the workload with a given share of network-intensive apps.

    Apps are drawn in the same order for every share, so the sets are nested.

    Parameters
    ----------
    workload : Workload
        Workload; a job without an app counts as an app.
    share : float
        Share of apps, from 0 to 1, rounded to an integer number of apps.
    seed : int
        Random seed of the order.

    Raises
    ------
    InputError
        If the share is not from 0 to 1.
    """
    import polars as pl

    number("share", share, 0, 1)
    owners = [app if app is not None else f"\0{job}" for job, app in enumerate(workload.texts("app"))]
    apps = list(dict.fromkeys(owners))
    order = np.random.default_rng(seed).permutation(len(apps))
    chosen = {apps[index] for index in order[: round(share * len(apps))].tolist()}
    flags = pl.Series("network_intensive", [owner in chosen for owner in owners], dtype=pl.Boolean)
    return replace(workload, frame=workload.frame.with_columns(flags))


def themis_network_share(
    workload: Workload | str | Path | None = None,
    cluster: Cluster | str | Path | int | None = None,
    *,
    policies: Sequence[str] = POLICIES,
    shares: Sequence[float] = SHARES,
    jobs: int | None = None,
    across_machines: float = 1.1,
    across_racks: float = 1.3,
    seed: int = 0,
) -> ExperimentTable:
    """Compare policies by finish-time fairness over the share of network-intensive apps.

    Parameters
    ----------
    workload : Workload, str, Path or None, optional
        Jobs with durations, grouped by app (default: workload 2 of THEMIS).
    cluster : Cluster, str, Path, int or None, optional
        Cluster with machines (default: simulated cluster of THEMIS).
    policies : sequence of str, optional
        Policies with arguments.
    shares : sequence of float, optional
        Shares of network-intensive apps, from 0 to 1.
    jobs : int or None, optional
        Number of jobs to keep from the start of the workload.
    across_machines : float, optional
        Slowdown of network-intensive jobs across machines.
    across_racks : float, optional
        Slowdown of network-intensive jobs across racks.
    seed : int, optional
        Random seed of a generated workload and of the network-intensive apps.

    Raises
    ------
    InputError
        If the workload, the cluster or a policy is unknown or defective, the cluster has no machines, or an
        argument is out of range.

    References
    ----------
    THEMIS (NSDI 2020), figures 15 and 16.
    """
    costs = slowdowns(across_machines, across_racks)
    given = trace(settings(SETTINGS, workload, cluster)[0], jobs=jobs, seed=seed)
    if isinstance(given.cluster, int):
        raise InputError(f"cluster must have machines (got a count of {given.n_gpus} GPUs)")
    rows: list[dict[str, Any]] = []
    notes: list[str] = [given.note()]
    for share in shares:
        mixed = replace(given, workload=with_share(given.workload, share, seed))
        found, missing = replays(mixed, policies, overheads=costs, seed=seed)
        rows += [
            {"network-intensive": 100 * share, "policy": policy, **figures(item)} for policy, item in found.items()
        ]
        notes += [line for line in missing if line not in notes]
    title = "Finish-time fairness of apps by the share of network-intensive apps"
    sources = (
        f"slowdown across machines {across_machines:g}, across racks {across_racks:g}: THEMIS's priors",
        "paper: figures 15 and 16 of THEMIS (NSDI'20) have no published numbers; its text calls 40 and 60 % worst",
    )
    return ExperimentTable("themis-network-share", title, COLUMNS, tuple(rows), (*notes, *NOTES, *sources))


def picture(table: ExperimentTable) -> Figure:
    """Plot the largest rho and the GPU time over the share, one line per policy.

    Parameters
    ----------
    table : ExperimentTable
        Result of `themis_network_share`.
    """
    return lines(table, "policy", "network-intensive", ("max rho", "time"))
