"""Figures 11 and 17 of Optimus: completion times and makespan by policy and arrival process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.checks import integer
from gangopt.experiments.traces import Setting, Trace, bars, replays, settings, trace
from gangopt.instances.workload.workload import Workload
from gangopt.replays.costs import Overheads
from gangopt.reporting.experiment import ExperimentTable
from gangopt.topology import Cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PAPER", "POLICIES", "SETTINGS", "optimus_replay", "picture"]

SETTINGS = tuple(
    Setting(f"workload/optimus-{arrivals}", "optimus-testbed") for arrivals in ("uniform", "poisson", "bursts")
)

POLICIES = ("optimus", "drf", "tetris", "exact")

PAPER: Mapping[tuple[str, str], tuple[float, float]] = {
    ("optimus-uniform", "optimus"): (1.0, 1.0),
    ("optimus-uniform", "drf"): (2.39, 1.63),
}
"""Mean completion time and makespan relative to Optimus, by workload and policy, from the paper's text."""

COLUMNS = {
    "workload": "",
    "policy": "",
    "draws": "",
    "mean JCT": "s",
    "makespan": "s",
    "JCT to optimus": "",
    "makespan to optimus": "",
    "paper JCT": "",
    "paper makespan": "",
}

NOTES = (
    "to optimus: ratio of the means over the draws; all policies decide every 600 s",
    "paper: Optimus (EuroSys'18), figure 11, ratios from its text; no numbers are published for tetris and figure 17",
    "exact: solves the allocation of each interval to proven optimality, without looking beyond the interval",
    "speeds follow the fitted speed functions; placement does not affect transfers here",
)


def optimus_replay(
    workload: Workload | str | Path | None = None,
    cluster: Cluster | str | Path | int | None = None,
    *,
    policies: Sequence[str] = POLICIES,
    jobs: int | None = None,
    draws: int = 3,
    restart: float = 0.0,
    seed: int = 0,
) -> ExperimentTable:
    """Replay Optimus, DRF, Tetris and the optimum of every interval.

    Parameters
    ----------
    workload : Workload, str, Path or None, optional
        Jobs with durations and fitted speeds (default: uniform, Poisson and bursty arrivals).
    cluster : Cluster, str, Path, int or None, optional
        Machines or a number of GPUs (default: Optimus's testbed).
    policies : sequence of str, optional
        Policies with arguments, compared with the first.
    jobs : int or None, optional
        Number of jobs to generate, or to keep from the start of a job log.
    draws : int, optional
        Number of generated workloads, with consecutive seeds. A job log is replayed once.
    restart : float, optional
        Delay at every start of a job except its first, in s.
    seed : int, optional
        Random seed of the first generated workload.

    Raises
    ------
    InputError
        If the workload, the cluster or a policy is unknown or defective, or an argument is out of range.

    References
    ----------
    Optimus (EuroSys 2018), section 6, figures 11 and 17.
    """
    integer("draws", draws, 1, 1000)
    costs = Overheads(restart=restart)
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for item in settings(SETTINGS, workload, cluster):
        drawn = isinstance(item.workload, str) and item.workload.startswith("workload/")
        traces = [trace(item, jobs=jobs, seed=seed + draw) for draw in range(draws if drawn else 1)]
        if drawn and traces[0].workload == traces[-1].workload:
            traces = traces[:1]
        found, missing = _rows(traces, policies, costs, seed)
        rows += found
        notes += [traces[0].note(), *missing]
    if restart:
        notes.append(f"every start of a job except its first costs {restart:g} s")
    title = "Completion time and makespan by policy and arrival process"
    return ExperimentTable("optimus-replay", title, COLUMNS, tuple(rows), (*notes, *NOTES))


def _rows(
    traces: Sequence[Trace], policies: Sequence[str], costs: Overheads, seed: int
) -> tuple[list[dict[str, Any]], list[str]]:
    runs = [replays(given, policies, overheads=costs, seed=seed) for given in traces]
    base: dict[str, float] | None = None
    rows = []
    for policy in policies:
        kept = [found[policy].metrics for found, _ in runs if policy in found]
        if not kept:
            continue
        means = {name: float(np.mean([item[name] for item in kept])) for name in ("avg_jct", "makespan")}
        base = means if policy == policies[0] else base
        paper = PAPER.get((traces[0].name, policy), (None, None))
        rows.append(
            {
                "workload": traces[0].name,
                "policy": policy,
                "draws": len(kept),
                "mean JCT": means["avg_jct"],
                "makespan": means["makespan"],
                "JCT to optimus": None if base is None else means["avg_jct"] / base["avg_jct"],
                "makespan to optimus": None if base is None else means["makespan"] / base["makespan"],
                "paper JCT": paper[0],
                "paper makespan": paper[1],
            }
        )
    return rows, list(dict.fromkeys(line for _, missing in runs for line in missing))


def picture(table: ExperimentTable) -> Figure:
    """Plot bars of both ratios per arrival process, with the paper's figures as dots.

    Parameters
    ----------
    table : ExperimentTable
        Result of `optimus_replay`.
    """
    return bars(table, "workload", "policy", {"JCT to optimus": "paper JCT", "makespan to optimus": "paper makespan"})
