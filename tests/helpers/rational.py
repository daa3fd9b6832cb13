"""Slow replay in exact fractions on GPUs without machines, from docs/replay.md; it shares no code with the engine."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf


@dataclass
class Job:
    """Job with integer or fractional times in s."""

    number: int
    arrival: Fraction
    gpus: int
    left: Fraction
    attained: Fraction = Fraction(0)
    executed: Fraction = Fraction(0)
    first: Fraction | float = inf
    runs: bool = False
    waits_since: Fraction = Fraction(0)
    starts: int = 0
    queue: int = 0
    reset_attained: Fraction = Fraction(0)
    reset_executed: Fraction = Fraction(0)
    reset_at: Fraction | float = -inf


def index(services, attained, quantum=None):
    """Return the Gittins index by its definition, without a quantum the maximum over all quanta."""
    later = [service - attained for service in services if service > attained]
    if not later:
        return Fraction(0)
    return max(
        Fraction(sum(rest <= most for rest in later)) / sum(min(rest, most) for rest in later)
        for most in ({quantum} if quantum is not None else set(later))
    )


@dataclass
class Rule:
    """Policy that sorts by a key at every event."""

    key: object
    preempt: bool = True
    skip: bool = True

    def order(self, jobs, now):
        del now
        return sorted(jobs, key=lambda job: (self.key(job), job.number))

    def wake(self, jobs, now):
        del jobs, now
        return inf


@dataclass
class Looking(Rule):
    """Policy that also decides at every multiple of an interval since the first arrival while a job waits."""

    interval: Fraction = Fraction(60)

    def wake(self, jobs, now):
        waits = any(not job.runs for job in jobs)
        return (now // self.interval + 1) * self.interval if waits else inf


@dataclass
class Queues:
    """Tiresias: demotion by attained service, promotion after waiting, first starts or Gittins indices within."""

    limits: list
    services: list | None = None
    knob: Fraction | None = None
    starve_limit: Fraction | None = None
    preempt: bool = field(default=True, init=False)
    skip: bool = field(default=True, init=False)

    def served(self, job):
        return job.attained - job.reset_attained

    def starves_after(self, job):
        """Return the time that a job may wait in s, None if it is never promoted."""
        limits = [] if self.starve_limit is None else [self.starve_limit]
        limits += [] if self.knob is None else [self.knob * (job.executed - job.reset_executed)]
        return min(limits) if limits and job.queue and not job.runs else None

    def order(self, jobs, now):
        for job in jobs:
            job.queue = max(job.queue, sum(self.served(job) >= limit for limit in self.limits))
        for job in jobs:
            patience = self.starves_after(job)
            if patience is not None and now - max(job.waits_since, job.reset_at) >= patience:
                job.queue, job.reset_at = 0, now
                job.reset_attained, job.reset_executed = job.attained, job.executed
        return sorted(jobs, key=lambda job: (job.queue, -self.worth(job), job.first, job.number))

    def worth(self, job):
        if self.services is None or job.queue == len(self.limits):
            return Fraction(0)
        return index(self.services, self.served(job), self.limits[job.queue])

    def wake(self, jobs, now):
        times = [inf]
        for job in jobs:
            patience = self.starves_after(job)
            if patience is not None:
                times.append(max(job.waits_since, job.reset_at) + patience)
            if job.runs and job.queue < len(self.limits):
                times.append(now + (self.limits[job.queue] - self.served(job)) / job.gpus)
        return min(times)


def choose(order, n_gpus, rule):
    """Return the jobs that run from now on: complete gangs by priority."""
    kept = [] if rule.preempt else [job for job in order if job.runs]
    free, chosen = n_gpus - sum(job.gpus for job in kept), {job.number for job in kept}
    for job in order:
        if job.number in chosen:
            continue
        if job.gpus <= free:
            free -= job.gpus
            chosen.add(job.number)
        elif not rule.skip:
            break
    return chosen


def simulate(triples, n_gpus, rule):
    """Return ends (Fractions) and starts of jobs given as (arrival, gpus, duration) in order of arrival."""
    jobs = [Job(at, Fraction(arrival), gpus, Fraction(left)) for at, (arrival, gpus, left) in enumerate(triples)]
    origin = jobs[0].arrival
    ends, present, now, wake = {}, [], Fraction(0), inf
    while len(ends) < len(jobs):
        coming = [job.arrival - origin for job in jobs if job not in present and job.number not in ends]
        moment = min([wake, *coming, *(now + job.left for job in present if job.runs)])
        for job in present:
            if job.runs:
                job.left -= moment - now
                job.executed += moment - now
                job.attained += (moment - now) * job.gpus
        now = moment
        ends |= {job.number: now + origin for job in present if not job.left}
        present = [job for job in present if job.left]
        for job in jobs:
            if job.arrival - origin == now and job.left:
                job.waits_since = now
                present.append(job)
        present.sort(key=lambda job: job.number)
        order = rule.order(present, now)
        chosen = choose(order, n_gpus, rule)
        for job in present:
            runs = job.number in chosen
            if runs and not job.runs:
                job.starts += 1
                job.first = min(job.first, now)
            if job.runs and not runs:
                job.waits_since = now
            job.runs = runs
        wake = rule.wake(present, now)
    return [ends[job.number] for job in jobs], [job.starts for job in jobs]
