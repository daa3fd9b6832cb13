"""Figures 11 and 17 of Optimus: completion times and makespan by policy and by how jobs arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.experiments.traces import Setting, Trace, bars, replays, settings, trace
from gangopt.replays.costs import Overheads
from gangopt.reporting.experiment import ExperimentTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gangopt.instances.workload.workload import Workload
    from gangopt.topology import Cluster

__all__ = ["PAPER", "POLICIES", "SETTINGS", "optimus_replay", "picture"]

SETTINGS = tuple(
    Setting(f"workload/optimus-{arrivals}", "optimus-testbed") for arrivals in ("uniform", "poisson", "bursts")
)

POLICIES = ("optimus", "drf", "tetris", "exact")

PAPER: Mapping[tuple[str, str], tuple[float, float]] = {
    ("optimus-uniform", "optimus"): (1.0, 1.0),
    ("optimus-uniform", "drf"): (2.39, 1.63),
}
"""Mean completion time and makespan over those of Optimus, by workload and policy, as told in the paper's text."""

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
    "to optimus: ratio of the means over the draws; all decide once in 600 s",
    "paper: Optimus (EuroSys'18), figure 11, the ratios in its text; tetris and figure 17 are not told as numbers",
    "exact: the allocation of each interval solved to proven optimality, which looks no further than its interval",
    "transfers are as fast as the speed functions say: where tasks are placed does not matter here",
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
        Jobs with durations and fitted speeds; None replays uniform, Poisson and bursty arrivals.
    cluster : Cluster, str, Path, int or None, optional
        Machines or a number of GPUs; None is Optimus's testbed.
    policies : sequence of str, optional
        Policies with arguments; the first counts as 1.
    jobs : int or None, optional
        Of a generated workload, or how many of the first to keep.
    draws : int, optional
        Workloads that are drawn, with seeds from `seed` on; of a file there is one.
    restart : float, optional
        S at every start but a job's first.
    seed : int, optional
        Of the first draw.

    Raises
    ------
    InputError
        If the workload, the cluster or a policy is unknown or defective, or an argument is out of range.

    References
    ----------
    Optimus (EuroSys 2018), section 6, figures 11 and 17.
    """
    if not 1 <= draws <= 1000:
        raise InputError(f"draws: {draws}, 1 to 1,000 are allowed")
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
        notes.append(f"every start but a job's first costs {restart:g} s")
    title = "completion time and makespan by policy and arrivals"
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
    """Return bars of both ratios for each way to arrive, with the paper's figures as dots.

    Parameters
    ----------
    table : ExperimentTable
        Of `optimus_replay`.
    """
    return bars(table, "workload", "policy", {"JCT to optimus": "paper JCT", "makespan to optimus": "paper makespan"})
