"""Generators of the problem `schedule`: random jobs, and slices of a log."""

from __future__ import annotations

import numpy as np

from gangopt.base.checks import integer, number
from gangopt.base.errors import InputError
from gangopt.instances.schedule.instance import MAX_GPUS, MAX_JOBS, ScheduleInstance

__all__ = ["random", "slice"]


def random(
    jobs: int = 5,
    gpus: int = 4,
    machines: int = 0,
    longest: int = 6,
    load: float = 1.5,
    weights: int = 1,
    slot: float = 1.0,
    seed: int = 0,
) -> ScheduleInstance:
    """Return jobs of uniform sizes and lengths that arrive at uniform times.

    Gangs are uniform on 1..gpus and running times on 1..longest; arrivals are uniform on the integers from 0 to the
    total GPU seconds divided by `gpus` times `load`, shifted so that the first is 0. Times are multiplied by the slot.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs.
    gpus : int, optional
        GPUs of the cluster.
    machines : int, optional
        Number of equal machines that hold the GPUs; 0 if GPUs are only counted.
    longest : int, optional
        Longest running time, in slots.
    load : float, optional
        Work that arrives divided by the work that the cluster can do until the last arrival.
    weights : int, optional
        Largest weight; weights are uniform on 1..weights.
    slot : float, optional
        Time slot, s; 0 lets jobs start and stop at any time, with times drawn as for 1 s.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If a number is out of range, or the GPUs cannot be divided equally among the machines.
    """
    integer("schedule/random: jobs", jobs, 1, MAX_JOBS)
    integer("schedule/random: gpus", gpus, 1, MAX_GPUS)
    integer("schedule/random: machines", machines, 0, gpus)
    integer("schedule/random: longest", longest, 1, 1_000_000)
    integer("schedule/random: weights", weights, 1, 1_000_000)
    if machines and gpus % machines:
        raise InputError(f"schedule/random: gpus must be a multiple of machines={machines} (got {gpus})")
    number("schedule/random: load", load, above=0, high=1e6)
    if slot != 0:
        number("schedule/random: a slot other than 0", slot, 1e-6, 1e6)
    rng = np.random.default_rng(seed)
    gangs = rng.integers(1, gpus + 1, jobs)
    duration = rng.integers(1, longest + 1, jobs)
    last = int((gangs * duration).sum() / (gpus * load))
    arrival = np.sort(rng.integers(0, last + 1, jobs))
    arrival -= arrival[0]
    weight = rng.integers(1, weights + 1, jobs)
    unit = slot or 1.0
    return ScheduleInstance(
        name="schedule/random",
        description=f"{jobs} random jobs on {gpus} GPUs",
        source="generated",
        jobs=tuple(f"job{j}" for j in range(jobs)),
        arrival=arrival * unit,
        gpus=gangs,
        duration=duration * unit,
        weight=weight.astype(np.float64),
        n_gpus=gpus,
        machines=(gpus // machines,) * machines if machines else (),
        slot=slot or None,
    )


def slice(
    file: str,
    gpus: int | None = None,
    cluster: str | None = None,
    first: int = 0,
    jobs: int | None = None,
    start: float | None = None,
    end: float | None = None,
    vc: str | None = None,
) -> ScheduleInstance:
    """Return consecutive jobs of a log, which may run at any time; the first arrives at 0.

    Parameters
    ----------
    file : str
        A job log of any known format, or the name of a generated workload without arguments.
    gpus : int or None, optional
        Number of GPUs, if they are only counted.
    cluster : str or None, optional
        Name or file of a cluster whose machines hold the gangs, instead of `gpus`.
    first : int, optional
        Number of jobs to skip among those selected by the other arguments.
    jobs : int or None, optional
        Number of jobs to take after these; None for all.
    start, end : float or None, optional
        Select the jobs that arrive in [start, end), s; None for no limit.
    vc : str or None, optional
        Select the jobs of this virtual cluster.

    Raises
    ------
    InputError
        If the file is invalid, no job is left, a job has no duration or is larger than the cluster, or both or none
        of `gpus` and `cluster` are given.
    """
    from gangopt.instances.workload.workload import Workload

    if (gpus is None) == (cluster is None):
        raise InputError("schedule/slice: give either gpus or cluster, e.g. gpus=64 or cluster=tiresias-testbed")
    integer("schedule/slice: first", first, 0, 10**9)
    integer("schedule/slice: jobs", 1 if jobs is None else jobs, 1, MAX_JOBS)
    workload = Workload.load(file).slice(start, end, vc=vc)
    stop = len(workload) if jobs is None else first + jobs
    workload.require("duration")
    chosen = range(len(workload))[first:stop]
    if not chosen:
        raise InputError(f"schedule/slice: no jobs left, {file} has {len(workload)} jobs within the limits")
    machines = () if cluster is None else _machines(cluster)
    part = np.array(chosen)
    arrival = workload.arrival[part]
    return ScheduleInstance(
        name="schedule/slice",
        description=f"jobs {first} to {chosen[-1]} of {file}",
        source=workload.source or file,
        jobs=tuple(workload.ids[j] for j in chosen),
        arrival=arrival - arrival[0],
        gpus=workload.gpus[part],
        duration=workload.duration[part],
        n_gpus=sum(machines) if gpus is None else gpus,
        machines=machines,
    )


def _machines(cluster: str) -> tuple[int, ...]:
    from gangopt.topology import load_cluster

    return tuple(int(count) for count in load_cluster(cluster).gpus_per_machine if count)
