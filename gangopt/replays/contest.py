"""Comparison of several policies on one workload, with a lower bound for any scheduler."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer
from gangopt.base.errors import InputError, NoSolutionError, shorten
from gangopt.base.presented import Presented
from gangopt.replays.ready import ignored_demands
from gangopt.replays.result import Replay
from gangopt.replays.run import check_placement, check_slowdowns, policy_name, replay, resolve_workload
from gangopt.solvers.core.pool import Lost, run_in_processes

if TYPE_CHECKING:
    from gangopt.instances.workload.notices import Notice
    from gangopt.instances.workload.workload import Workload
    from gangopt.replays.costs import Overheads
    from gangopt.replays.records import Policy
    from gangopt.solvers.bounds import JctBound
    from gangopt.topology import Cluster

__all__ = ["Contest", "Entry", "contest"]

ExecutorName = Literal["serial", "processes"]
OnProgress = Callable[[str, int, int, float], None]
"""Called with policy, number of ended jobs, number of jobs, and simulated time in s."""


@dataclass(frozen=True)
class Entry:
    """Result of one policy in a contest.

    Attributes
    ----------
    policy : str
        Name of the policy as given.
    replay : Replay or None
        Replay of the workload, None if the policy was skipped or failed.
    reason : str or None
        Reason why there is no replay.
    lost : bool
        Whether the worker process died, so that another attempt can succeed.
    """

    policy: str
    replay: Replay | None
    reason: str | None = None
    lost: bool = False


@dataclass(frozen=True, repr=False)
class Contest(Presented):
    """Replays of one workload under several policies.

    Attributes
    ----------
    workload : Workload
        Replayed jobs.
    cluster : str
        Name of the cluster, empty for a number of GPUs.
    n_gpus : int
        Number of GPUs.
    asked : tuple of str
        Names of the policies as given.
    entries : tuple of Entry
        One entry per policy in the given order, without those left unfinished by an interruption.
    bound : JctBound or None
        Proven lower bound on the mean completion time of fixed gangs, None if not requested.
    notices : tuple of Notice
        Requests of jobs that replays ignore: GPU types, cores, memory.
    interrupted : bool
        Whether Ctrl-C ended the contest.
    """

    report = "gangopt.reporting.contest:contest_text"

    workload: Workload
    cluster: str
    n_gpus: int
    asked: tuple[str, ...]
    entries: tuple[Entry, ...]
    bound: JctBound | None
    notices: tuple[Notice, ...] = ()
    interrupted: bool = False

    def __repr__(self) -> str:
        return f"Contest(workload={self.workload.name!r}, n_gpus={self.n_gpus}, policies={list(self.asked)})"

    @property
    def missing(self) -> list[str]:
        """Policies left unfinished by an interruption."""
        found = {item.policy for item in self.entries}
        return [name for name in self.asked if name not in found]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per policy: its metrics, the improvement over the first policy, and the gap to the bound.

        `improvement` is the mean completion time of the first replayed policy divided by that of the row. `jct_bound`
        and `jct_gap` are None if the policy changed numbers of GPUs or ran jobs faster than logged, because the bound
        does not apply then.
        """
        first = next((item.replay for item in self.entries if item.replay is not None), None)
        return [self._row(item, first) for item in self.entries]

    def _row(self, entry: Entry, first: Replay | None) -> dict[str, Any]:
        if entry.replay is None or first is None:
            return {"policy": entry.policy, "reason": entry.reason}
        metrics = entry.replay.metrics
        holds = self.bound is not None and entry.replay.fixed_gangs and metrics["avg_jct"] is not None
        bound = self.bound.mean if holds and self.bound is not None else None
        improvement = None if not metrics["avg_jct"] else (first.metrics["avg_jct"] or 0.0) / metrics["avg_jct"]
        return {
            "policy": entry.policy,
            **metrics,
            "improvement": improvement,
            "jct_bound": bound,
            "jct_bound_name": self.bound.name if bound is not None and self.bound is not None else None,
            "jct_gap": None if bound is None else ((metrics["avg_jct"] or 0.0) - bound) / bound,
            "fixed_gangs": entry.replay.fixed_gangs,
            "seconds": entry.replay.seconds,
            "reason": None,
        }


def contest(
    workload: Workload | str | Path,
    cluster: Cluster | str | Path | int,
    policies: Sequence[Policy | str],
    *,
    overheads: Overheads | None = None,
    placement: str | None = None,
    seed: int = 0,
    bound: bool = True,
    executor: ExecutorName = "serial",
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Contest:
    """Replay a workload under several policies and compute a lower bound for any scheduler.

    Parameters
    ----------
    workload : Workload, str or Path
        Workload, as for `gangopt.replay`.
    cluster : Cluster, str, Path or int
        Cluster, as for `gangopt.replay`.
    policies : sequence of Policy or str
        Names with options, or objects, which are identified by their `name`.
    overheads : Overheads or None, optional
        Overheads, as for `gangopt.replay`.
    placement : str or None, optional
        Placement rule, as for `gangopt.replay`.
    seed : int, optional
        Random seed of the policies.
    bound : bool, optional
        Whether to compute the lower bound on the mean completion time.
    executor : ExecutorName, optional
        `serial`, or `processes` for one process per policy.
    workers : int or None, optional
        Number of processes, None for the number of CPUs.
    on_progress : OnProgress or None, optional
        Called during each replay; with `processes` only at its end.

    Returns
    -------
    Contest
        Results; after Ctrl-C those of the finished policies.

    Raises
    ------
    InputError
        If there is no policy, one is unknown, duplicate or cannot be sent to another process, or if the workload, the
        cluster, the executor or the placement is invalid. A policy that requires columns the workload lacks is an entry
        with its reason instead.
    """
    if executor not in {"serial", "processes"}:
        raise unknown("executor", executor, ["serial", "processes"])
    chosen = _by_name(policies, executor)
    if workers is not None:
        integer("workers", workers, 1)
    workload = resolve_workload(workload)
    where, n_gpus = _cluster(cluster)
    machines = None if isinstance(where, int) else where
    check_placement(placement, machines)
    if overheads is not None:
        check_slowdowns(overheads, machines)
    settings = {"overheads": overheads, "placement": placement, "seed": seed}
    run = _serial(workload, where, chosen, settings, on_progress)
    if executor == "processes":
        run = _parallel(workload, where, chosen, settings, workers, on_progress)
    found: dict[str, Entry] = {}
    proven, interrupted = None, False
    try:
        with closing(run):
            for entry in run:
                found[entry.policy] = entry
        if bound and any(item.replay is not None for item in found.values()):
            proven = _bound(workload, n_gpus, found.values())
    except KeyboardInterrupt:
        interrupted = True
    entries = tuple(found[name] for name in chosen if name in found)
    name = "" if isinstance(where, int) else where.name
    notices = ignored_demands(workload, machines)
    return Contest(workload, name, n_gpus, tuple(chosen), entries, proven, notices, interrupted)


def _by_name(policies: Sequence[Policy | str], executor: ExecutorName) -> dict[str, Policy | str]:
    """Return the policies by name, in the given order."""
    chosen: dict[str, Policy | str] = {}
    for policy in policies:
        name = policy_name(policy)
        if name in chosen:
            raise InputError(f"duplicate policy {name}")
        if executor == "processes" and not isinstance(policy, str):
            _check_picklable(policy, name)
        chosen[name] = policy
    if not chosen:
        raise InputError("policies must name at least one policy")
    return chosen


def _check_picklable(policy: Policy, name: str) -> None:
    try:
        pickle.dumps(policy)
    except Exception as error:  # whatever the object's own methods raise
        raise InputError(f"policy {name} cannot be sent to another process ({error}); use executor=serial") from None


def _cluster(given: Cluster | str | Path | int) -> tuple[Cluster | int, int]:
    from gangopt.replays.run import resolve_cluster

    cluster, n_gpus = resolve_cluster(given)
    return (n_gpus if cluster is None else cluster), n_gpus


def _bound(workload: Workload, n_gpus: int, entries: Iterable[Entry]) -> JctBound | None:
    """Return the bound, which the best replay with fixed gangs limits from above."""
    from gangopt.solvers.bounds import workload_jct_bound

    if not len(workload):
        return None
    fixed = [item.replay for item in entries if item.replay is not None and item.replay.fixed_gangs]
    attained = min((item.jct.mean() for item in fixed), default=None)
    return workload_jct_bound(workload, n_gpus, attained=attained)


def _entry(
    workload: Workload,
    cluster: Cluster | int,
    name: str,
    policy: Policy | str,
    settings: dict[str, Any],
    report: Callable[[int, int, float], None] | None = None,
) -> Entry:
    try:
        return Entry(name, replay(workload, cluster, policy, **settings, on_progress=report))
    except (InputError, NoSolutionError) as error:
        return Entry(name, None, str(error))
    except Exception as error:  # whatever a policy object raises; it must not cost the others their results
        return Entry(name, None, f"policy {name} raised {type(error).__name__}: {shorten(str(error))}")


def _task(
    workload: Workload, cluster: Cluster | int, settings: dict[str, Any], task: tuple[str, Policy | str]
) -> Entry:
    return _entry(workload, cluster, *task, settings)


def _serial(
    workload: Workload,
    cluster: Cluster | int,
    chosen: dict[str, Policy | str],
    settings: dict[str, Any],
    report: OnProgress | None,
) -> Generator[Entry]:
    for name, policy in chosen.items():
        yield _entry(workload, cluster, name, policy, settings, _named(report, name))


def _named(report: OnProgress | None, name: str) -> Callable[[int, int, float], None] | None:
    if report is None:
        return None

    def forward(ended: int, jobs: int, now: float) -> None:
        report(name, ended, jobs, now)

    return forward


def _parallel(
    workload: Workload,
    cluster: Cluster | int,
    chosen: dict[str, Policy | str],
    settings: dict[str, Any],
    workers: int | None,
    report: OnProgress | None,
) -> Generator[Entry]:
    tasks = list(chosen.items())
    run = partial(_task, workload, cluster, settings)
    with closing(run_in_processes(run, tasks, workers or os.cpu_count() or 1)) as answers:
        for index, answer in answers:
            entry = Entry(tasks[index][0], None, answer.reason, lost=True) if isinstance(answer, Lost) else answer
            if report is not None:
                report(entry.policy, len(workload), len(workload), workload.arrival.max(initial=0.0))
            yield entry
