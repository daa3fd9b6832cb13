"""THEMIS: auctions of unleased GPUs among the apps with the worst finish-time fairness."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gangopt.base.errors import InputError, NoSolutionError
from gangopt.base.types import Floats, Ints
from gangopt.replays.policies.themis_apps import ReplayedApp, apps_of
from gangopt.replays.records import Plan
from gangopt.replays.state import State
from gangopt.solvers.auction.rounding import ROUNDS_SLACK, Rounding
from gangopt.solvers.themis.rounds import Leases, RoundSettings, hold_round
from gangopt.solvers.themis.rounds_apps import Crowd

__all__ = ["Themis", "themis"]

_IDLE_ROUNDS = 200
"""Consecutive rounds without any leased GPU after which the replay fails."""


@dataclass(frozen=True)
class _Split:
    """GPUs of an app, its jobs, and the GPUs of each job that has any."""

    holds: tuple[int, ...]
    jobs: tuple[int, ...]
    gpus: dict[int, tuple[int, ...]]


def _hand_out(
    holds: tuple[int, ...], wanted: dict[int, int], before: dict[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Assign GPUs of an app to its jobs: first those that a job already has, then the lowest indices."""
    left = set(holds)
    given = {job: tuple(gpu for gpu in before.get(job, ()) if gpu in left)[:count] for job, count in wanted.items()}
    left -= {gpu for gpus in given.values() for gpu in gpus}
    for job, count in wanted.items():
        more = sorted(left)[: count - len(given[job])]
        left -= set(more)
        given[job] = tuple(sorted((*given[job], *more)))
    return given


@dataclass
class Themis:
    """Rounds of partial-allocation auctions with leases.

    A round takes place if a GPU has no lease and an app can use it: at ends of leases, arrivals and ends of jobs. An
    app splits its GPUs among its jobs; the speed of a job is proportional to its GPUs, up to those of its gang.
    Leftover GPUs of a round are offered again at the next event, at the latest after one lease. GPUs that an app can no
    longer use stay with it until the lease ends, or until its last job ends.

    Attributes
    ----------
    settings : RoundSettings
        Settings of the rounds.
    name : str
        Name in tables.

    References
    ----------
    THEMIS (NSDI 2020), section 3.3, pseudocode 1.
    """

    settings: RoundSettings = field(default_factory=RoundSettings)
    name: str = "themis"
    _apps: list[ReplayedApp] = field(default_factory=list, repr=False)
    _member: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    _leases: Leases = field(default_factory=Leases, repr=False)
    _crowd: Crowd = field(default_factory=Crowd, repr=False)
    _present: list[int] = field(default_factory=list, repr=False)
    _gpus: dict[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    _splits: dict[str, _Split] = field(default_factory=dict, repr=False)
    _idle: int = 0
    _begun: bool = False

    def decide(self, state: State) -> Plan:
        """Return the jobs of the apps that hold leases, in order of arrival."""
        if state.cluster is None:
            raise InputError(f"policy {self.name} requires a cluster with machines (got a number of GPUs)")
        if not self._begun:
            self._apps, self._member = apps_of(state, self._crowd)
            self._begun = True
        self._come_and_go(state)
        retry = self._round(state)
        order: Ints = np.array([job for job in state.active.tolist() if job in self._gpus], dtype=np.int64)
        gpus: Ints = np.array([len(self._gpus[job]) for job in order.tolist()], dtype=np.int64)
        rates: Floats = gpus / state.gpus[order]
        places = {job: self._place(state, job) for job in order.tolist()}
        return Plan(order, gpus=gpus, rates=rates, places=places, wake=min(retry, self._leases.next_end()))

    def _come_and_go(self, state: State) -> None:
        """Add apps with their first jobs, and end the leases of apps whose jobs have all ended."""
        for app in sorted(set(self._member[state.arrived].tolist()) - set(self._present)):
            self._crowd.arrive(self._apps[app].label, state.now)
            self._leases.arrive(self._apps[app].label, state.now)
            self._present = sorted([*self._present, app])
        for app in [app for app in self._present if not len(self._apps[app].present())]:
            if (state.status[self._apps[app].jobs] == 0).any():
                continue
            self._leases.end(self._leases.of(self._apps[app].label))
            self._present.remove(app)
            self._crowd.leave(state.now)

    def _round(self, state: State) -> float:
        """Hold a round if there are GPUs to auction, and return the time of the next attempt."""
        cluster = state.cluster
        assert cluster is not None
        agents = [self._apps[app] for app in self._present]
        held = self._leases.held(state.now)
        free = self._leases.free(len(cluster.gpus), state.now)
        if not free or not any(agent.demand(state.now, held.get(agent.label, ())) for agent in agents):
            self._leases.end(free)
            self._share(agents)
            return math.inf
        hold_round(cluster, agents, self._leases, state.now, self.settings, int(state.rng.integers(2**31)))
        self._share(agents)
        self._give_up_if_idle(state.now)
        left = self._leases.free(len(cluster.gpus), state.now)
        return state.now + self.settings.lease if left else math.inf

    def _give_up_if_idle(self, now: float) -> None:
        self._idle = 0 if self._leases.held(now) else self._idle + 1
        if self._idle >= _IDLE_ROUNDS:
            raise NoSolutionError(
                f"policy {self.name} at {now:g} s: payments took every GPU in {self._idle} consecutive rounds; use "
                "rounding=random or a larger f"
            )

    def _share(self, agents: list[ReplayedApp]) -> None:
        """Split the GPUs of every app among its jobs if its GPUs or its jobs have changed."""
        before, self._gpus = self._gpus, {}
        known, self._splits = self._splits, {}
        for agent in agents:
            holds, jobs = self._leases.of(agent.label), tuple(agent.present().tolist())
            split = known.get(agent.label)
            if split is None or (split.holds, split.jobs) != (holds, jobs):
                split = _Split(holds, jobs, _hand_out(holds, agent.split(len(holds)), before))
            self._splits[agent.label] = split
            self._gpus |= split.gpus

    def _place(self, state: State, job: int) -> dict[int, int]:
        assert state.cluster is not None
        machines, counts = np.unique(state.cluster.gpu_machine[list(self._gpus[job])], return_counts=True)
        return dict(zip(machines.tolist(), counts.tolist(), strict=True))


def themis(
    f: float = 0.8,
    lease: float = 600.0,
    rounding: Rounding = "floor",
    payments: bool = True,
    seconds: float | None = None,
    slack: float = ROUNDS_SLACK,
) -> Themis:
    """Return THEMIS.

    Parameters
    ----------
    f : float, optional
        Fairness knob: the share 1 - f of apps with the largest rho bids.
    lease : float, optional
        Length of a lease, s.
    rounding : Rounding, optional
        Rounding of kept shares to GPUs.
    payments : bool, optional
        Whether apps pay.
    seconds : float or None, optional
        Time limit of each auction's solver, s; None for no limit. A limit makes results depend on the machine.
    slack : float, optional
        Relative slack of kept shares, which count as min(1, (1 + slack) c) because bids are quotients of doubles.
    """
    return Themis(RoundSettings(f, lease, rounding, payments, seconds, slack))
