"""Entry point of `replay`: resolves names and validates its inputs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.checks import integer
from gangopt.base.errors import InputError
from gangopt.instances.workload.fit import check_fit
from gangopt.replays.costs import Overheads
from gangopt.replays.engine import Engine, Progress
from gangopt.replays.machines import rule
from gangopt.replays.ready import check_durations, check_sizes, ignored_demands
from gangopt.replays.registry import policies
from gangopt.replays.result import Replay, Times

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload
    from gangopt.replays.records import Policy
    from gangopt.topology import Cluster

__all__ = ["check_placement", "check_slowdowns", "policy_name", "replay", "resolve_cluster", "resolve_workload"]


def replay(
    workload: Workload | str | Path,
    cluster: Cluster | str | Path | int,
    policy: Policy | str,
    *,
    overheads: Overheads | None = None,
    placement: str | None = None,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> Replay:
    """Replay a workload on a cluster under a policy.

    Parameters
    ----------
    workload : Workload, str or Path
        Workload, its name or its file; every job must have a duration.
    cluster : Cluster, str, Path or int
        Cluster, its name or its file; or a number of GPUs without machines, on which every gang fits if enough GPUs
        are free.
    policy : Policy or str
        Name in `gangopt.policies`, with options, e.g. `tiresias-l?thresholds=3600+7200`, or an object with a name and
        a method `decide`.
    overheads : Overheads or None, optional
        Overheads of starts, restarts and spread placements; None for none.
    placement : str or None, optional
        Placement rule (`packed`, `consolidated`, `fragments`, `spread`, `even`); None for that of the policy.
    seed : int, optional
        Random seed of the policy.
    on_progress : Progress or None, optional
        Called after every event with the number of ended jobs, the number of jobs, and the simulated time in s.

    Raises
    ------
    InputError
        If a job has no duration or one that is lost in double precision next to its arrival, is larger than the
        cluster or requests GPU types, cores or memory that the empty machines do not have; if the workload lacks
        columns that the policy requires (the message names the first such job); or if `placement` or slowdowns are
        given with a number of GPUs.
    """
    jobs, where, n_gpus = resolve_workload(workload), *resolve_cluster(cluster)
    chosen, name = _policy(policy, jobs, where)
    jobs.require("duration")
    check_durations(jobs)
    check_sizes(jobs, n_gpus, "" if where is None else where.name)
    if where is not None:
        check_fit(jobs, where)
    check_placement(placement, where)
    costs = Overheads() if overheads is None else overheads
    check_slowdowns(costs, where)
    begin = time.perf_counter()
    engine = Engine(
        jobs,
        chosen,
        where,
        n_gpus,
        costs,
        placement=placement,
        seed=seed,
        on_progress=on_progress,
    )
    engine.run()
    state, everyone = engine.state, np.arange(len(jobs))
    return Replay(
        workload=jobs,
        policy=name,
        cluster="" if where is None else where.name,
        n_gpus=n_gpus,
        seed=seed,
        after=Times(state.submitted, state.first_start, state.ended_at),
        executed=state.executed(everyone),
        service=state.service(everyone),
        starts=state.starts,
        fixed_gangs=engine.fixed_gangs,
        localities=engine.localities,
        seconds=time.perf_counter() - begin,
        log=engine.log,
        machine_gpus=() if where is None else tuple(map(int, where.gpus_per_machine)),
        notices=ignored_demands(jobs, where),
    )


def resolve_workload(given: Any) -> Workload:
    """Return a workload given as an object, a name or a file.

    Raises
    ------
    InputError
        If it is something else or cannot be read.
    """
    from gangopt.instances.workload.workload import Workload

    if isinstance(given, Workload):
        return given
    if isinstance(given, str | Path):
        from gangopt.instances.workload.catalogue import load_workload

        return load_workload(given)
    raise InputError(f"workload must be a Workload, a name or a file (got {type(given).__name__})")


def resolve_cluster(given: Any) -> tuple[Cluster | None, int]:
    """Return a cluster and its number of GPUs; the cluster is None if only a number is given.

    Parameters
    ----------
    given : object
        Cluster, name, file of a cluster or of a public machine list, or a number of GPUs.

    Raises
    ------
    InputError
        If it is something else, or there is no such cluster.
    """
    from gangopt.instances.workload.machines import load_machines
    from gangopt.topology import Cluster

    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return None, integer("cluster", given, 1)
    if isinstance(given, str | Path):
        given = load_machines(given)
    if not isinstance(given, Cluster):
        raise InputError(f"cluster must be a Cluster, a name, a file or a number of GPUs (got {type(given).__name__})")
    return given, len(given.gpus)


def check_placement(placement: str | None, cluster: Cluster | None) -> None:
    """Check that a placement rule exists and that the cluster has machines.

    Raises
    ------
    InputError
        If not.
    """
    if placement is None:
        return
    rule(placement)
    if cluster is None:
        raise InputError(f"placement={placement} requires a cluster with machines (got a number of GPUs)")


def check_slowdowns(overheads: Overheads, cluster: Cluster | None) -> None:
    """Check that the cluster has machines if there are slowdowns.

    Raises
    ------
    InputError
        If not.
    """
    if overheads.slowdowns and cluster is None:
        level, factor = next(iter(overheads.slowdowns.items()))
        raise InputError(f"slowdown {level}={factor:g} requires a cluster with machines (got a number of GPUs)")


def _policy(given: Any, jobs: Workload, where: Cluster | None) -> tuple[Policy, str]:
    if isinstance(given, str):
        policy, record, name = policies.make(given)
        if record.machines and where is None:
            raise InputError(f"policy {name} requires a cluster with machines (got a number of GPUs)")
        jobs.require(*record.needs)
        return policy, name
    return given, policy_name(given)


def policy_name(given: Any) -> str:
    """Return the name of a policy in tables: the given text, or the name of an object.

    Raises
    ------
    InputError
        If the policy or an option is unknown, or the object is not a policy.
    """
    if isinstance(given, str):
        policies.make(given)
        return given
    if isinstance(given, type):
        raise InputError(f"policy must be an object (got the class {given.__name__})")
    if not callable(getattr(given, "decide", None)) or not isinstance(getattr(given, "name", None), str):
        raise InputError(f"policy must have a name and a method decide(state) (got {type(given).__name__})")
    return str(given.name)
