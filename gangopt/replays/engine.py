"""Event loop of a replay: arrivals, ends, decisions of the policy, and invariants."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError, SolverError
from gangopt.base.types import Bools, Floats, Ints
from gangopt.replays.conservation import check_end, check_event
from gangopt.replays.costs import Overheads
from gangopt.replays.eviction import settle
from gangopt.replays.filling import fill
from gangopt.replays.log import ARRIVE, END, START, STOP, Log
from gangopt.replays.machines import SURE, Place, rule
from gangopt.replays.phases import Phases
from gangopt.replays.records import Plan, Policy
from gangopt.replays.state import RUNNING, WAITING, State

if TYPE_CHECKING:
    from gangopt.instances.workload.job_table import JobTable
    from gangopt.topology import Cluster

__all__ = ["Engine"]

Progress = Callable[[int, int, float], None]
"""Called with number of ended jobs, number of jobs, and simulated time in s."""

_MOST_IDLE = 1000
"""Max. consecutive decisions without a running or pending job."""

_NOT_PRESENT = np.array([status not in {WAITING, RUNNING} for status in range(4)])
"""For each status, true if a plan must not contain jobs with it."""

_CHECK_EVERY = 1000
"""Consecutive decisions without an arrival or end after which the progress of jobs is checked."""


class Engine:
    """Simulator of one workload under one policy.

    At equal times, ends precede arrivals and the policy decides once. Times closer than the state's resolution are
    equal; the event then takes place at the latest of them, so that nothing happens too early.

    Parameters
    ----------
    workload : JobTable
        Jobs, each with a duration and no larger than the cluster.
    policy : Policy
        Scheduler; a deep copy is used.
    cluster : Cluster or None
        Machines, or None for a number of GPUs.
    n_gpus : int
        Number of GPUs.
    overheads : Overheads
        Overheads of starts and spread placements.
    placement : str or None, optional
        Rule of `gangopt.replays.machines.RULES`; None for the policy's own `placement`, or `packed`.
    seed : int, optional
        Random seed of the policy.
    on_progress : Progress or None, optional
        Called after every event.
    """

    def __init__(
        self,
        workload: JobTable,
        policy: Policy,
        cluster: Cluster | None,
        n_gpus: int,
        overheads: Overheads,
        *,
        placement: str | None = None,
        seed: int = 0,
        on_progress: Progress | None = None,
    ) -> None:
        self.state = State(workload, cluster, n_gpus, seed, overheads)
        self.policy: Any = copy.deepcopy(policy)
        self.log = Log()
        self.fixed_gangs = True
        self.localities: dict[str, float] = {}
        self._phases = Phases(workload, self.state.arrival)
        self._overheads = overheads
        self._placement = placement
        self._position: Ints = np.zeros(len(workload), dtype=np.int64)
        self._kept = np.zeros(len(workload), dtype=np.bool_)
        self._on_progress = on_progress
        self._models = workload.texts("model") if overheads.by_model else None
        self._wake = math.inf
        self._started: list[int] = []
        self._silent, self._left, self._n_starts = 0, math.inf, 0

    def run(self) -> None:
        """Simulate until the last job ends.

        Raises
        ------
        InputError
            If the policy returns an invalid plan or never starts some jobs.
        SolverError
            If an invariant is violated, i.e. on a defect of the engine.
        """
        state, n = self.state, len(self.state.gpus)
        idle = 0
        while self._phases.n_ended < n and idle <= _MOST_IDLE:
            if not self._advance():
                break
            state.arrived = self._phases.arrivals(state.now)
            if len(state.arrived):
                state.submit(state.arrived)
                self.log.add_all(state.now, ARRIVE, state.arrived, state.gpus[state.arrived])
            plan = self.policy.decide(state)
            self._follow(plan)
            self._wake = self._wake_time(plan)
            idle = 0 if len(state.running) or self._phases.next_arrival() < math.inf else idle + 1
            self._check_progress()
            check_event(state, self._started, self.policy.name)
            if self._on_progress is not None:
                self._on_progress(self._phases.n_ended, n, state.now)
        self._finish()

    def _check_progress(self) -> None:
        """Fail if the policy stops jobs before they progress, e.g. with a quantum shorter than the start overhead."""
        state = self.state
        if len(state.ended) or len(state.arrived):
            self._silent, self._left, self._n_starts = 0, math.inf, 0
            return
        self._n_starts += len(self._started)
        self._silent += 1
        if self._silent % _CHECK_EVERY == 0:
            left = float(state.remaining(state.active).sum())
            # without new starts, running jobs may still be in their start delay
            if left >= self._left and self._n_starts:
                raise self._bad_plan(
                    f"makes no progress: no work done in {_CHECK_EVERY} decisions; jobs are stopped during their start "
                    "overhead"
                )
            self._left, self._n_starts = left, 0

    def _advance(self) -> bool:
        """Advance to the next event and end the jobs that finish there; return whether there is an event."""
        state, running = self.state, self.state.running
        finish = state.finish[running]
        arrival, end = self._phases.next_arrival(), float(finish.min()) if len(running) else math.inf
        first = min(arrival, end, self._wake)
        if first == math.inf:
            return False
        equal = first + state.resolution
        state.now = max(first, self._wake) if self._wake <= equal else first
        if arrival <= equal:
            state.now = max(state.now, self._phases.last_arrival(equal))
        state.ended = running[:0] if end > equal else running[finish <= equal]
        if len(state.ended):
            state.now = max(state.now, float(state.finish[state.ended].max()))
            self._log_leaving(END, state.ended)
            state.end(state.ended)
            self._phases.ended(state.ended)
        return True

    def _follow(self, plan: Plan) -> None:
        """Stop and start jobs according to a plan."""
        self._started = []
        state = self.state
        sizes = self._checked(plan)
        keeps = state.is_running(plan.order)
        if plan.preempt and state.machines is not None and plan.places is None and self._may_refuse():
            self._follow_in_place(plan, sizes, keeps)
            return
        if plan.preempt:
            chosen = fill(sizes, state.n_gpus, skip=plan.skip)
            rates = 1.0 if plan.rates is None else plan.rates
            keeps &= chosen & (sizes == state.held[plan.order]) & (state.asked_rate[plan.order] == rates)
            if plan.places is not None:
                keeps &= np.array([self._stays(job, plan.places) for job in plan.order.tolist()], dtype=np.bool_)
            self._stop_all_but(plan.order[keeps])
        (waits,) = (~keeps).nonzero()
        if state.machines is None:
            fits = chosen[waits] if plan.preempt else fill(sizes[waits], state.n_free, skip=plan.skip)
            self._start_counted(plan, waits[fits], sizes)
        else:
            self._start_placed(plan, sizes, waits)

    def _may_refuse(self) -> bool:
        """Return whether the placement rule may reject a gang despite enough free GPUs."""
        chosen: Any = self._placement or getattr(self.policy, "placement", "packed")
        rules = (chosen,) if isinstance(chosen, str) else getattr(chosen, "rules", None)
        return rules is None or not SURE.issuperset(rules)

    def _follow_in_place(self, plan: Plan, sizes: Ints, runs: Bools) -> None:
        """Stop and start jobs after placing them, so that no job is stopped for one that cannot be placed."""
        state, order = self.state, plan.order
        assert state.machines is not None
        rates = 1.0 if plan.rates is None else plan.rates
        same = runs & (sizes == state.held[order]) & (state.asked_rate[order] == rates)
        self._stop_all_but(order[same])
        stays, starts = settle(
            state.machines,
            [state.place[job] for job in order.tolist()],
            sizes,
            lambda machines, position, size: rule(self._rule(int(order[position])))(machines, size),
            skip=plan.skip,
        )
        self._stop_all_but(order[stays])
        for position, place in starts.items():
            self._start(plan, position, int(sizes[position]), place)

    def _start_placed(self, plan: Plan, sizes: Ints, waits: Ints) -> None:
        """Start jobs by priority where they can be placed; a strict rule may reject a gang that fits by count."""
        state = self.state
        if plan.skip:
            waits = waits[sizes[waits] <= state.n_free]
        for position in waits.tolist():
            if not state.n_free:
                return
            size = int(sizes[position])
            place = self._place(plan, int(plan.order[position]), size) if size <= state.n_free else None
            if place is not None:
                self._start(plan, position, size, place)
            elif not plan.skip:
                return

    def _start_counted(self, plan: Plan, positions: Ints, sizes: Ints) -> None:
        """Start several jobs at once on a number of GPUs without machines."""
        if not len(positions):
            return
        jobs, gpus = plan.order[positions], sizes[positions]
        rates = np.ones(len(jobs)) if plan.rates is None else np.asarray(plan.rates, dtype=np.float64)[positions]
        self._begin(jobs, gpus, rates, rates)

    def _start(self, plan: Plan, position: int, gpus: int, place: Place) -> None:
        """Start one job on GPUs of machines."""
        state, job = self.state, int(plan.order[position])
        asked = 1.0 if plan.rates is None else float(plan.rates[position])
        rate = asked
        if state.machines is not None:
            rate /= self._overheads.slowdown(state.machines.level(place), bool(state.sensitive[job]))
            state.machines.take(place)
        state.place[job] = place
        self._begin(np.array([job]), np.array([gpus]), np.array([asked]), np.array([rate]))

    def _begin(self, jobs: Ints, gpus: Ints, asked: Floats, rates: Floats) -> None:
        state = self.state
        whole = (gpus == state.gpus[jobs]).all() and (asked <= 1.0).all()
        self.fixed_gangs = self.fixed_gangs and bool(whole)
        again, models = state.starts[jobs] > 0, self._models
        seconds = self._overheads.seconds
        if models is None:
            delays = np.where(again, float(seconds(None, True)), float(seconds(None, False)))
        else:
            pairs = zip(jobs.tolist(), again.tolist(), strict=True)
            delays = np.array([seconds(models[job], before) for job, before in pairs], dtype=np.float64)
        state.asked_rate[jobs] = asked
        state.start(jobs, gpus, rates, delays)
        self._started += jobs.tolist()
        if state.machines is None:
            self.log.add_all(state.now, START, jobs, gpus, delays)
        else:
            for job, count, delay in zip(jobs.tolist(), gpus.tolist(), delays.tolist(), strict=True):
                self.log.add(state.now, START, job, count, state.place[job], delay)

    def _stop_all_but(self, kept: Ints) -> None:
        running = self.state.running
        if len(kept) == len(running):
            return
        self._kept[kept] = True
        gone = running[~self._kept[running]]
        self._kept[kept] = False
        if len(gone):
            self._log_leaving(STOP, gone)
            self.state.stop(gone)

    def _log_leaving(self, kind: int, jobs: Ints) -> None:
        """Log that jobs release their GPUs, and return these to their machines."""
        state = self.state
        if state.machines is None:
            self.log.add_all(state.now, kind, jobs, state.held[jobs])
            return
        for job in jobs.tolist():
            place = state.place[job]
            self.log.add(state.now, kind, job, int(state.held[job]), place)
            state.machines.release(place)
            level = state.machines.level(place)
            self.localities[level] = self.localities.get(level, 0.0) + state.run_seconds(job)
            state.place[job] = ()

    def _place(self, plan: Plan, job: int, gpus: int) -> Place | None:
        machines = self.state.machines
        if machines is None:
            return ()
        if plan.places is not None and job in plan.places:
            place = tuple(sorted((int(m), int(g)) for m, g in plan.places[job].items() if g))
            short = [m for m, g in place if not 0 <= m < len(machines.free) or not 0 < g <= machines.free[m]]
            if short or sum(g for _, g in place) != gpus:
                raise self._bad_plan(f"places job {self._id(job)} with {gpus} GPUs on {place}, which are not free")
            return place
        return rule(self._rule(job))(machines, gpus)

    def _rule(self, job: int) -> str:
        """Return the name of the placement rule of a job."""
        chosen: Any = self._placement or getattr(self.policy, "placement", "packed")
        return chosen if isinstance(chosen, str) else chosen(self.state, job)

    def _stays(self, job: int, places: Mapping[int, Mapping[int, int]]) -> bool:
        wanted = places.get(job)
        return wanted is None or dict(self.state.place[job]) == {m: g for m, g in wanted.items() if g}

    def _checked(self, plan: Plan) -> Ints:
        """Check a plan and return the GPUs of its jobs."""
        if not isinstance(plan, Plan):
            raise self._bad_plan(f"must return a Plan (got {type(plan).__name__})")
        state, order = self.state, plan.order
        if not isinstance(order, np.ndarray) or order.ndim != 1 or order.dtype.kind not in "iu":
            raise self._bad_plan("must return an order that is an array of integers")
        if not len(order):
            return order.astype(np.int64)
        if not (order.min() >= 0 and order.max() < len(state.gpus)):
            raise self._bad_plan(
                f"must return jobs from 0 to {len(state.gpus) - 1} (got {order.min()} to {order.max()})"
            )
        places = np.arange(len(order))
        self._position[order] = places
        again = self._position[order] != places
        if again.any():
            raise self._bad_plan(f"returns duplicate job {self._id(int(order[np.argmax(again)]))}")
        strange = _NOT_PRESENT[state.status[order]]
        if strange.any():
            raise self._bad_plan(
                f"returns job {self._id(int(order[np.argmax(strange)]))}, which is neither waiting nor running"
            )
        if plan.gpus is not None and not _whole_above_0(plan.gpus, len(order)):
            raise self._bad_plan("must return gpus that are one integer > 0 per job of the order")
        if plan.rates is not None and not _finite_above_0(plan.rates, len(order)):
            raise self._bad_plan("must return rates that are one finite number > 0 per job of the order")
        return state.gpus[order] if plan.gpus is None else np.asarray(plan.gpus, dtype=np.int64)

    def _wake_time(self, plan: Plan) -> float:
        wake = plan.wake(self.state) if callable(plan.wake) else plan.wake
        if not wake > self.state.now:
            raise self._bad_plan(f"must return a wake time after now (got {wake} s)")
        return float(wake)

    def _bad_plan(self, text: str) -> InputError:
        return InputError(f"policy {self.policy.name} at {self.state.now:g} s {text}")

    def _id(self, job: int) -> str:
        return self.state.workload.ids[job]

    def _finish(self) -> None:
        state = self.state
        if len(state.active):
            stuck = ", ".join(self._id(job) for job in state.active[:5].tolist())
            raise self._bad_plan(f"never starts {len(state.active)} waiting jobs: {stuck}")
        check_end(state, self.policy.name)
        if self._phases.n_ended != len(state.gpus):
            raise SolverError(
                f"replay of {self.policy.name}: {len(state.gpus) - self._phases.n_ended} jobs never arrived"
            )


def _whole_above_0(values: Any, n: int) -> bool:
    numbers = np.asarray(values)
    return numbers.shape == (n,) and (not n or (numbers.dtype.kind in "iu" and bool((numbers > 0).all())))


def _finite_above_0(values: Any, n: int) -> bool:
    numbers = np.asarray(values)
    finite = numbers.shape == (n,) and numbers.dtype.kind in "iuf" and bool(np.isfinite(numbers).all())
    return finite and bool((numbers > 0).all())
