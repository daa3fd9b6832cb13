"""Figure 15 of THEMIS: fairness by the share of apps that a spread placement slows down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.experiments.themis_fairness import NOTES, POLICIES, figures, slowdowns
from gangopt.experiments.traces import Setting, lines, replays, settings, trace
from gangopt.reporting.experiment import ExperimentTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gangopt.instances.workload.workload import Workload
    from gangopt.topology import Cluster

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
    """Return the same jobs with a share of the apps network-intensive and the others not.

    The apps are drawn in one order for all shares, so those of a smaller share are among those of a larger one.

    Parameters
    ----------
    workload : Workload
        The jobs; one without an app counts as an app.
    share : float
        0 to 1, rounded to whole apps.
    seed : int
        Of the order.

    Raises
    ------
    InputError
        If the share is not from 0 to 1.
    """
    import polars as pl

    if not 0 <= share <= 1:
        raise InputError(f"share: {share:g}, 0 to 1 is allowed")
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
    """Compare policies by finish-time fairness as more apps are network-intensive.

    Parameters
    ----------
    workload : Workload, str, Path or None, optional
        Jobs with durations, by app; None is THEMIS's workload 2.
    cluster : Cluster, str, Path, int or None, optional
        With machines; None is THEMIS's simulated one.
    policies : sequence of str, optional
        Policies with arguments.
    shares : sequence of float, optional
        Of network-intensive apps, 0 to 1.
    jobs : int or None, optional
        How many of the first jobs to keep.
    across_machines, across_racks : float, optional
        Factors on the time of network-intensive jobs that span several.
    seed : int, optional
        Of generated workloads, and of who is network-intensive.

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
        raise InputError(f"cluster: {given.n_gpus} GPUs that are only counted; placements need machines")
    rows: list[dict[str, Any]] = []
    notes: list[str] = [given.note()]
    for share in shares:
        mixed = replace(given, workload=with_share(given.workload, share, seed))
        found, missing = replays(mixed, policies, overheads=costs, seed=seed)
        rows += [
            {"network-intensive": 100 * share, "policy": policy, **figures(item)} for policy, item in found.items()
        ]
        notes += [line for line in missing if line not in notes]
    title = "finish-time fairness of apps by the share that spread placements slow down"
    sources = (
        f"slowdown across machines {across_machines:g}, across racks {across_racks:g}: THEMIS's priors",
        "paper: figures 15 and 16 of THEMIS (NSDI'20) have no published numbers; its text finds 40 and 60 % worst",
    )
    return ExperimentTable("themis-network-share", title, COLUMNS, tuple(rows), (*notes, *NOTES, *sources))


def picture(table: ExperimentTable) -> Figure:
    """Return the greatest rho and the GPU time over the share, a line for each policy.

    Parameters
    ----------
    table : ExperimentTable
        Of `themis_network_share`.
    """
    return lines(table, "policy", "network-intensive", ("max rho", "time"))
