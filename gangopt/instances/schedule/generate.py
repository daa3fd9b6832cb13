"""Jobs of the decision `schedule` from their names: random ones, and slices of a log."""

from __future__ import annotations

import numpy as np

from gangopt.base.errors import InputError
from gangopt.instances.schedule.instance import MAX_JOBS, ScheduleInstance

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

    Gangs are uniform on 1..gpus and running times on 1..longest; arrivals are uniform on the whole numbers from 0 to
    the sum of GPU seconds divided by gpus times load, the first one 0; all times are then multiplied by the slot.

    Parameters
    ----------
    jobs : int, optional
        Number of jobs.
    gpus : int, optional
        GPUs of the cluster.
    machines : int, optional
        Equal machines that they are on; 0 counts GPUs only.
    longest : int, optional
        Longest running time, in slots.
    load : float, optional
        Work that arrives over what the cluster does meanwhile.
    weights : int, optional
        Weights are uniform on 1..weights.
    slot : float, optional
        S; 0 lets jobs start and stop at any time, and draws times as with 1 s.
    seed : int, optional
        Seed of the generator.

    Raises
    ------
    InputError
        If a number is out of range, or the GPUs do not divide into the machines.
    """
    _check("random", "jobs", jobs, 1, MAX_JOBS)
    _check("random", "gpus", gpus, 1, 1_000_000)
    _check("random", "machines", machines, 0, gpus)
    _check("random", "longest", longest, 1, 1_000_000)
    _check("random", "weights", weights, 1, 1_000_000)
    if machines and gpus % machines:
        raise InputError(f"schedule/random: gpus={gpus}, a multiple of machines={machines} is needed")
    if not 0 < load <= 1e6:
        raise InputError(f"schedule/random: load={load:g}, a number above 0 and at most 1e+06 is needed")
    if not (slot == 0 or 1e-6 <= slot <= 1e6):
        raise InputError(f"schedule/random: slot={slot:g}, 0 or a number from 1e-06 to 1e+06 is needed")
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
        source="random numbers of a stated seed",
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
    """Return some consecutive jobs of a log; the first of them arrives at 0, and they run at any time.

    Parameters
    ----------
    file : str
        A job log of any known format, or the name of a generated workload without arguments.
    gpus : int or None, optional
        GPUs that are counted; or.
    cluster : str or None, optional
        Name or file of a cluster, whose machines have to hold the gangs.
    first : int, optional
        Jobs to leave out, of those that the other arguments choose.
    jobs : int or None, optional
        Jobs to take after them; None is all.
    start, end : float or None, optional
        Take the jobs that arrive in [start, end), s; None is no limit.
    vc : str or None, optional
        Take the jobs of this virtual cluster.

    Raises
    ------
    InputError
        If the file is defective, no job is left, a job has no duration or is larger than the cluster, or not just
        one of gpus and cluster is given.
    """
    from gangopt.instances.workload.workload import Workload

    if (gpus is None) == (cluster is None):
        raise InputError("schedule/slice: either gpus or cluster is needed, as gpus=64 or cluster=tiresias-testbed")
    _check("slice", "first", first, 0, 10**9)
    _check("slice", "jobs", 1 if jobs is None else jobs, 1, MAX_JOBS)
    workload = Workload.load(file).slice(start, end, vc=vc)
    stop = len(workload) if jobs is None else first + jobs
    workload.require("duration")
    chosen = range(len(workload))[first:stop]
    if not chosen:
        raise InputError(f"schedule/slice: no job is left of the {len(workload)} that {file} has between these limits")
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


def _check(family: str, name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InputError(f"schedule/{family}: {name}={value}, {least} to {most} are allowed")
