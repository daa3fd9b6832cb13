"""Heuristics of problem `schedule` that replay the instance's jobs under an online policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.base.errors import NoSolutionError
from gangopt.instances.schedule.instance import Run, ScheduleInstance, ScheduleSolution

if TYPE_CHECKING:
    from gangopt.replays.log import Log
    from gangopt.replays.machines import Place
    from gangopt.replays.records import Policy
    from gangopt.topology import Cluster

__all__ = ["fifo", "gittins", "las", "replayed", "sf", "srsf", "srtf", "tiresias_g"]

INTERVAL = 60.0
"""Default interval of policies that re-evaluate attained service, for instances without a slot; s."""


def replayed(instance: ScheduleInstance, policy: Policy) -> ScheduleSolution:
    """Return the schedule of the instance's jobs under a policy, without overheads.

    On machines, every gang uses the fewest machines that could hold it (rule `consolidated`) or waits. Policies do not
    see weights. Ties are broken by arrival, then by the instance's order.

    Parameters
    ----------
    instance : ScheduleInstance
        Instance to schedule.
    policy : Policy
        Policy of the replay.

    Raises
    ------
    NoSolutionError
        If the policy starts or stops a job inside a slot of the instance.
    """
    from gangopt.instances.workload.job_table import Gangs
    from gangopt.replays.costs import Overheads
    from gangopt.replays.engine import Engine
    from gangopt.replays.ready import check_durations, check_sizes

    # `replay` needs polars, which would keep the process from forking safely after a solve
    jobs = Gangs(instance.arrival, instance.gpus, instance.duration)
    check_durations(jobs)
    cluster = _cluster(instance.machines) if instance.machines else None
    check_sizes(jobs, instance.n_gpus, "" if cluster is None else cluster.name)
    placement = None if cluster is None else "consolidated"
    engine = Engine(jobs, policy, cluster, instance.n_gpus, Overheads(), placement=placement)
    engine.run()
    solution = ScheduleSolution(_runs(engine.log, jobs.order.tolist()))
    within = [item for item in instance.check(solution) if item.rule == "whole_slots"]
    if within:
        raise NoSolutionError(f"{policy.name} violates the slots of {instance.name}: {within[0]}")
    return solution


def _cluster(machines: tuple[int, ...]) -> Cluster:
    from gangopt.topology import Cluster, MachineGroup

    groups = [MachineGroup(1, count, name=f"m{index}-") for index, count in enumerate(machines)]
    return Cluster.from_groups(groups, name="machines of the instance")


def _runs(log: Log, order: list[int]) -> tuple[tuple[Run, ...], ...]:
    """Return the runs of every job of the instance; `order` maps jobs of the log to jobs of the instance."""
    from gangopt.replays.log import EVENTS

    runs: list[list[Run]] = [[] for _ in order]
    open_since: dict[int, tuple[float, Place]] = {}
    for time, kind, job, place in zip(
        log.time.tolist(), log.kind.tolist(), log.job.tolist(), log.places(), strict=True
    ):
        if EVENTS[kind] == "start":
            open_since[job] = (time, place)
        elif EVENTS[kind] in {"stop", "end"}:
            start, places = open_since.pop(job)
            runs[order[job]].append(Run(start, time, places))
    return tuple(map(tuple, runs))


def srsf(instance: ScheduleInstance) -> ScheduleSolution:
    """Schedule by shortest remaining service (time times GPUs) first.

    Parameters
    ----------
    instance : ScheduleInstance
        Instance to schedule.

    References
    ----------
    Tiresias (NSDI 2019), section 3.2.1 and table 1.
    """
    from gangopt.replays.policies.order import ShortestRemainingService

    return replayed(instance, ShortestRemainingService())


def srtf(instance: ScheduleInstance) -> ScheduleSolution:
    """Schedule by shortest remaining time first, otherwise like `srsf`."""
    from gangopt.replays.policies.order import ShortestRemainingTime

    return replayed(instance, ShortestRemainingTime())


def sf(instance: ScheduleInstance) -> ScheduleSolution:
    """Schedule by fewest GPUs first, otherwise like `srsf`."""
    from gangopt.replays.policies.order import SmallestFirst

    return replayed(instance, SmallestFirst())


def fifo(instance: ScheduleInstance) -> ScheduleSolution:
    """Schedule in order of arrival, without preemption and with head-of-line blocking."""
    from gangopt.replays.policies.order import Fifo

    return replayed(instance, Fifo())


def las(instance: ScheduleInstance, *, interval: float | None = None) -> ScheduleSolution:
    """Schedule by least attained service first (2D-LAS).

    Parameters
    ----------
    instance : ScheduleInstance
        Instance to schedule.
    interval : float or None, optional
        Time between re-evaluations, s; None for the instance's slot, or 60 s without one.

    References
    ----------
    Tiresias (NSDI 2019), section 3.2.2 and figure 7.
    """
    from gangopt.replays.policies.service import LeastAttainedService

    return replayed(instance, LeastAttainedService(_interval(instance, interval)))


def gittins(instance: ScheduleInstance, *, interval: float | None = None) -> ScheduleSolution:
    """Schedule by largest Gittins index first (2D-Gittins, formula as printed).

    The service distribution is that of the instance's own jobs.

    Parameters
    ----------
    instance : ScheduleInstance
        Instance to schedule.
    interval : float or None, optional
        Time between re-evaluations, s, as in `las`.

    References
    ----------
    Tiresias (NSDI 2019), pseudocode 1. Its figure 7 shows another schedule, that of `tiresias_g`.
    """
    from gangopt.replays.policies.service import Gittins

    return replayed(instance, Gittins(_interval(instance, interval)))


def _interval(instance: ScheduleInstance, interval: float | None) -> float:
    if interval is not None:
        return interval
    return INTERVAL if instance.slot is None else instance.slot


def tiresias_g(instance: ScheduleInstance, *, thresholds: str = "3600") -> ScheduleSolution:
    """Schedule by discretised 2D-Gittins: queues by attained service, Gittins index within each.

    Parameters
    ----------
    instance : ScheduleInstance
        Instance to schedule.
    thresholds : str, optional
        Attained services at which a job moves to the next queue, GPU s joined by `+`.

    References
    ----------
    Tiresias (NSDI 2019), section 3.2.3; threshold 4 gives the schedule called 2D-Gittins in figure 7.
    """
    from gangopt.replays.policies import tiresias

    return replayed(instance, tiresias.tiresias_g(thresholds))
