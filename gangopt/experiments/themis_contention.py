"""Figure 14 of THEMIS: fairness on a half and a quarter of the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.base.checks import integer
from gangopt.experiments.themis_fairness import NOTES, POLICIES, figures, slowdowns
from gangopt.experiments.traces import Setting, lines, replays, settings, trace
from gangopt.instances.workload.workload import Workload
from gangopt.replays.run import resolve_cluster
from gangopt.reporting.experiment import ExperimentTable
from gangopt.topology import Cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CONTENTIONS", "POLICIES", "SETTINGS", "part", "picture", "themis_contention"]

SETTINGS = (Setting("workload/themis-1?apps=6", "themis-testbed"),)

CONTENTIONS = (1, 2, 4)

COLUMNS = {
    "contention": "x",
    "GPUs": "",
    "policy": "",
    "min rho": "",
    "mean rho": "",
    "max rho": "",
    "rho <= 1": "% of apps",
    "jain": "",
    "time": "GPU h",
}


def part(cluster: Cluster, share: int) -> Cluster:
    """Return a cluster with 1 / `share` of the machines of each rack and kind, rounded up.

    Parameters
    ----------
    cluster : Cluster
        Whole cluster.
    share : int
        Divisor of the number of machines.
    """
    from gangopt.topology import Cluster, machine_classes

    if share == 1:
        return cluster
    graph = cluster.graph.copy()
    for members in machine_classes(cluster):
        for machine in members[-(-len(members) // share) :]:
            label = cluster.machines[machine]
            slots = list(graph.successors(label))
            graph.remove_nodes_from([gpu for slot in slots for gpu in graph.successors(slot)])
            graph.remove_nodes_from([label, *slots])
    return Cluster.from_graph(graph, name=f"{cluster.name} / {share}", description=cluster.description)


def themis_contention(
    workload: Workload | str | Path | None = None,
    cluster: Cluster | str | Path | int | None = None,
    *,
    policies: Sequence[str] = POLICIES,
    contentions: Sequence[int] = CONTENTIONS,
    jobs: int | None = None,
    across_machines: float = 1.1,
    across_racks: float = 1.3,
    seed: int = 0,
) -> ExperimentTable:
    """Compare policies by finish-time fairness on the whole cluster and parts of it.

    Parameters
    ----------
    workload : Workload, str, Path or None, optional
        Jobs with durations, grouped by app (default: workload 1 of THEMIS).
    cluster : Cluster, str, Path, int or None, optional
        Machines or a number of GPUs (default: testbed of THEMIS).
    policies : sequence of str, optional
        Policies with arguments.
    contentions : sequence of int, optional
        Divisors of the cluster, from 1 to 64.
    jobs : int or None, optional
        Number of jobs to keep from the start of the workload.
    across_machines : float, optional
        Slowdown of network-intensive jobs across machines.
    across_racks : float, optional
        Slowdown of network-intensive jobs across racks.
    seed : int, optional
        Random seed of a generated workload.

    Raises
    ------
    InputError
        If the workload, the cluster or a policy is unknown or defective, an argument is out of range, or a job is
        larger than a part of the cluster.

    References
    ----------
    THEMIS (NSDI 2020), figure 14.
    """
    for value in contentions:
        integer("contention", value, 1, 64)
    costs = slowdowns(across_machines, across_racks)
    chosen = settings(SETTINGS, workload, cluster)[0]
    whole, n_gpus = resolve_cluster(chosen.cluster)
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for value in contentions:
        where = max(n_gpus // value, 1) if whole is None else part(whole, value)
        given = trace(Setting(chosen.workload, where), jobs=jobs, seed=seed)
        found, missing = replays(given, policies, overheads=costs, seed=seed)
        rows += [
            {"contention": value, "GPUs": given.n_gpus, "policy": policy, **figures(item)}
            for policy, item in found.items()
        ]
        notes += [given.note(), *missing]
    title = "Finish-time fairness of apps as the cluster shrinks"
    sources = (
        f"slowdown across machines {across_machines:g}, across racks {across_racks:g}: THEMIS's priors",
        "paper: figure 14 of THEMIS (NSDI'20) has no published numbers; its text ranks THEMIS first, SRSF close to it",
    )
    return ExperimentTable("themis-contention", title, COLUMNS, tuple(rows), (*notes, *NOTES, *sources))


def picture(table: ExperimentTable) -> Figure:
    """Plot the largest and the mean rho over the contention, one line per policy.

    Parameters
    ----------
    table : ExperimentTable
        Result of `themis_contention`.
    """
    return lines(table, "policy", "contention", ("max rho", "mean rho"))
