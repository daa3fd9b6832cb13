"""The door to a replay: names become objects, what cannot be replayed is refused with its reason."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

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
    """Replay a workload on a cluster under a policy, event by event.

    Parameters
    ----------
    workload : Workload, str or Path
        The jobs, or a name or file of them; every job needs a duration.
    cluster : Cluster, str, Path or int
        A cluster, its name or file; or a number of GPUs that are only counted, so that every gang fits that finds
        enough of them.
    policy : Policy or str
        A name of `gangopt.policies`, with arguments as in `tiresias-l?thresholds=3600+7200`, or any object with a
        name and a method `decide`.
    overheads : Overheads or None, optional
        What starts, restarts and spread places cost; None is nothing.
    placement : str or None, optional
        Rule by which machines are chosen (`packed`, `consolidated`, `fragments`, `spread`, `even`); None leaves it
        to the policy.
    seed : int, optional
        Of whatever the policy does at random.
    on_progress : Progress or None, optional
        Called with (ended jobs, all jobs, time of the replay in s) after each event.

    Raises
    ------
    InputError
        If a job has no duration, one that its arrival's number cannot resolve, is larger than the cluster or asks
        for GPU types, cores or memory that the empty machines do not have, if the workload lacks what the policy
        needs (the message names the first such job), or if `placement` or slowdowns are given where GPUs are only
        counted.
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


def resolve_workload(given: Any) -> Workload:  # noqa: ANN401 - checked here
    """Return the workload that is given itself, by name or as a file.

    Raises
    ------
    InputError
        If it is something else, or cannot be read.
    """
    from gangopt.instances.workload.workload import Workload

    if isinstance(given, Workload):
        return given
    if isinstance(given, str | Path):
        from gangopt.instances.workload.catalogue import load_workload

        return load_workload(given)
    raise InputError(f"workload is a {type(given).__name__}; a Workload, a name or a file is needed")


def resolve_cluster(given: Any) -> tuple[Cluster | None, int]:  # noqa: ANN401 - checked here
    """Return a cluster and its number of GPUs; the cluster is None where GPUs are only counted.

    Parameters
    ----------
    given : object
        A Cluster, a name, a file of a cluster or of a public list of machines, or a number of GPUs.

    Raises
    ------
    InputError
        If it is something else, or there is no such cluster.
    """
    from gangopt.instances.workload.machines import load_machines
    from gangopt.topology import Cluster

    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if given < 1:
            raise InputError(f"cluster={given}: at least one GPU is needed")
        return None, int(given)
    if isinstance(given, str | Path):
        given = load_machines(given)
    if not isinstance(given, Cluster):
        raise InputError(
            f"cluster is a {type(given).__name__}; a Cluster, a name, a file or a number of GPUs is needed"
        )
    return given, len(given.gpus)


def check_placement(placement: str | None, cluster: Cluster | None) -> None:
    """Check that a placement rule exists and that there are machines to place jobs on.

    Raises
    ------
    InputError
        If not.
    """
    if placement is None:
        return
    rule(placement)
    if cluster is None:
        raise InputError(f"placement={placement}: GPUs are only counted; a cluster with machines is needed")


def check_slowdowns(overheads: Overheads, cluster: Cluster | None) -> None:
    """Check that there are machines where jobs are slowed down by their place.

    Raises
    ------
    InputError
        If not.
    """
    if overheads.slowdowns and cluster is None:
        level, factor = next(iter(overheads.slowdowns.items()))
        raise InputError(f"slowdown {level}={factor:g}: GPUs are only counted; a cluster with machines is needed")


def _policy(given: Any, jobs: Workload, where: Cluster | None) -> tuple[Policy, str]:  # noqa: ANN401 - checked here
    if isinstance(given, str):
        policy, record, name = policies.make(given)
        if record.machines and where is None:
            raise InputError(f"policy {name} places jobs on machines; a cluster is needed, not a number of GPUs")
        jobs.require(*record.needs)
        return policy, name
    return given, policy_name(given)


def policy_name(given: Any) -> str:  # noqa: ANN401 - checked here
    """Return what tables call a policy: the text that names it, or the name of an object.

    Raises
    ------
    InputError
        If the text names no policy or has a defective argument, or the object is no policy.
    """
    if isinstance(given, str):
        policies.make(given)
        return given
    if isinstance(given, type):
        raise InputError(f"policy is the class {given.__name__}; an object of it is needed")
    if not callable(getattr(given, "decide", None)) or not isinstance(getattr(given, "name", None), str):
        raise InputError(f"policy is a {type(given).__name__} without a name and a method decide(state)")
    return str(given.name)
