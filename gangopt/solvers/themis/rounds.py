"""Rounds of auctions: GPUs of ended leases are offered again, and apps work in between until all are done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gangopt.base.errors import InputError, NoSolutionError
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.solvers.auction.arbiter import Agent, allocation_phase, visibility_phase
from gangopt.solvers.auction.rounding import ROUNDS_SLACK, Rounding, require_slack
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.themis.rounds_apps import LATEST, Crowd
from gangopt.topology import Cluster

__all__ = ["Leases", "Round", "RoundSettings", "Rounds", "RunningApp", "hold_round", "run_rounds"]

_IDLE_ROUNDS = 200
"""Consecutive rounds without any app holding a GPU after which the run is aborted."""


class RunningApp(Agent, Protocol):
    """An app that bids and works."""

    @property
    def arrival(self) -> float:
        """Time of arrival, s."""

    def join(self, cluster: Cluster, crowd: Crowd, /) -> None:
        """Enter the cluster."""

    def advance(self, seconds: float, gpus: tuple[int, ...], /) -> None:
        """Work for some seconds on these GPUs."""

    def moved(self) -> None:
        """Record a change of GPUs."""

    def seconds_left(self, gpus: tuple[int, ...], /) -> float:
        """Return the remaining time on these GPUs, infinite if it never ends."""

    def final_rho(self, end: float, /) -> float:
        """Return rho of the app that ended at this time."""


class Leases:
    """Holders of GPUs and the ends of their leases."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[str, float]] = {}
        self._last: dict[str, float] = {}

    def arrive(self, label: str, now: float) -> None:
        """Record that an app waits since a time, s."""
        self._last[label] = now

    def waiting(self, label: str, now: float) -> float:
        """Return the seconds for which a present app has had no GPU."""
        return max(0.0, now - self._last.get(label, now))

    def held(self, now: float) -> dict[str, tuple[int, ...]]:
        """Return the GPUs of each app with leases beyond a time, ascending."""
        found: dict[str, list[int]] = {}
        for gpu, (label, end) in sorted(self._of.items()):
            if end > now:
                found.setdefault(label, []).append(gpu)
        return {label: tuple(gpus) for label, gpus in found.items()}

    def of(self, label: str) -> tuple[int, ...]:
        """Return all GPUs of an app, including those of ended leases, ascending."""
        return tuple(gpu for gpu, (owner, _) in sorted(self._of.items()) if owner == label)

    def free(self, gpus: int, now: float) -> tuple[int, ...]:
        """Return the GPUs among 0 to `gpus` - 1 without a lease beyond a time."""
        return tuple(gpu for gpu in range(gpus) if gpu not in self._of or self._of[gpu][1] <= now)

    def next_end(self) -> float:
        """Return the end of the next lease, infinite without any."""
        return min((end for _, end in self._of.values()), default=math.inf)

    def grant(self, label: str, gpus: Iterable[int], end: float) -> None:
        """Lease GPUs to an app until a time."""
        for gpu in gpus:
            self._of[gpu] = (label, end)
            self._last[label] = max(end, self._last.get(label, end))

    def end(self, gpus: Iterable[int]) -> None:
        """End the leases of GPUs."""
        for gpu in gpus:
            self._of.pop(gpu, None)


@dataclass(frozen=True)
class RoundSettings:
    """Settings of rounds.

    Attributes
    ----------
    fairness : float
        Fairness knob f; the fraction 1 - f of the apps with the greatest rho bid.
    lease : float
        Seconds for which GPUs are leased.
    rounding : Rounding
        Rule that rounds c times a bundle to whole GPUs.
    payments : bool
        Whether apps pay.
    seconds : float or None
        Maximum wall time of the solver per auction, None for no limit.
    slack : float
        Relative slack; c counts as min(1, (1 + slack) c), since bids of rounds are quotients of doubles.
    """

    fairness: float = 0.8
    lease: float = 600.0
    rounding: Rounding = "floor"
    payments: bool = True
    seconds: float | None = None
    slack: float = ROUNDS_SLACK

    def __post_init__(self) -> None:
        if not 0 <= self.fairness <= 1:
            raise InputError(f"fairness must be from 0 to 1 (got {self.fairness})")
        if not (0 < self.lease < math.inf):
            raise InputError(f"lease must be > 0 seconds (got {self.lease})")
        require_slack(self.slack)


@dataclass(frozen=True)
class Round:
    """Record of one round.

    Attributes
    ----------
    now : float
        Time, s.
    offered : tuple of int
        GPUs on offer.
    bidders : tuple of str
        Labels of the apps that bid.
    won, given : mapping of str to tuple of int
        GPUs by label of the bidders, and of other apps that received leftovers.
    outcome : AuctionSolution or None
        Outcome of the auction, None if no app bid.
    """

    now: float
    offered: tuple[int, ...]
    bidders: tuple[str, ...]
    won: Mapping[str, tuple[int, ...]]
    given: Mapping[str, tuple[int, ...]]
    outcome: AuctionSolution | None


def hold_round(
    cluster: Cluster,
    agents: Sequence[Agent],
    leases: Leases,
    now: float,
    settings: RoundSettings,
    seed: int = 0,
) -> Round:
    """Offer all GPUs without a running lease, hold the auction, and lease the result; running leases continue.

    Parameters
    ----------
    cluster : Cluster
        Where the GPUs are.
    agents : sequence of Agent
        Agents of the apps present, in a fixed order.
    leases : Leases
        Modified: ended leases are removed, new ones added.
    now : float
        Time, s.
    settings : RoundSettings
        Settings of the round.
    seed : int, optional
        Seed of gifts and rounding.

    Raises
    ------
    InputError
        If the lease is too short to advance the clock at this time.
    """
    if not now + settings.lease > now:
        raise InputError(f"lease={settings.lease:g} at {now:g} s: too short to advance the clock")
    offered = leases.free(len(cluster.gpus), now)
    before = {agent.label: leases.of(agent.label) for agent in agents}
    held = leases.held(now)
    waiting = {agent.label: leases.waiting(agent.label, now) for agent in agents}
    seen = visibility_phase(
        agents, cluster, offered, held, now=now, fairness=settings.fairness, before=before, waiting=waiting
    )
    result = allocation_phase(
        seen,
        cluster,
        rounding=settings.rounding,
        slack=settings.slack,
        payments=settings.payments,
        seed=seed,
        controls=Controls(time_limit=settings.seconds),
        before=before,
    )
    leases.end(offered)
    for label, gpus in (*result.won.items(), *result.given.items()):
        leases.grant(label, gpus, now + settings.lease)
    return Round(now, offered, tuple(agent.label for agent in seen.bidders), result.won, result.given, result.outcome)


@dataclass(frozen=True)
class Rounds:
    """Result of a run.

    Attributes
    ----------
    ends : mapping of str to float
        End of each app, s, by label.
    rho : mapping of str to float
        Finish-time fairness of each app at its end.
    rounds : tuple of Round
        Every round, in order.
    gpu_seconds : float
        GPU-time leased to apps until they ended.
    """

    ends: Mapping[str, float]
    rho: Mapping[str, float]
    rounds: tuple[Round, ...]
    gpu_seconds: float


def run_rounds(
    apps: Sequence[RunningApp],
    cluster: Cluster,
    settings: RoundSettings | None = None,
    *,
    seed: int = 0,
    on_round: Callable[[Round], None] | None = None,
) -> Rounds:
    """Run rounds until every app has ended.

    A round is held whenever GPUs are without a lease and some app could use them: when leases end, when an app arrives,
    and when an app ends and returns its GPUs. GPUs left over by a round are offered again at the next event, at the
    latest after one lease.

    Parameters
    ----------
    apps : sequence of RunningApp
        Apps in tie-breaking order.
    cluster : Cluster
        Where the GPUs are.
    settings : RoundSettings or None, optional
        Settings, None for the paper's f = 0.8 and leases of 10 minutes.
    seed : int, optional
        Seed of gifts and rounding.
    on_round : callable or None, optional
        Called with each round.

    Raises
    ------
    InputError
        If two apps have the same label, an app arrives before 0 or after 1e12 s, or a lease is too short to advance
        the clock.
    NoSolutionError
        If no app gets a GPU for many rounds: with rounding `floor` and few bystanders, payments can take everything.
    """
    labels = [app.label for app in apps]
    if len(set(labels)) < len(labels):
        raise InputError("two apps of the rounds have the same label")
    for app in apps:
        if not 0 <= app.arrival <= LATEST:
            raise InputError(f"app {app.label}: arrival must be from 0 to {LATEST:g} seconds (got {app.arrival:g})")
    run = _Run(apps, cluster, RoundSettings() if settings is None else settings, seed, on_round)
    while run.waiting or run.present:
        run.step()
    return Rounds(run.ends, run.rho, tuple(run.rounds), run.gpu_seconds)


class _Run:
    """The state between events."""

    def __init__(
        self,
        apps: Sequence[RunningApp],
        cluster: Cluster,
        settings: RoundSettings,
        seed: int,
        on_round: Callable[[Round], None] | None,
    ) -> None:
        self.cluster, self.settings, self.on_round = cluster, settings, on_round
        self.order = {app.label: position for position, app in enumerate(apps)}
        self.waiting = sorted(apps, key=lambda app: (app.arrival, self.order[app.label]))
        self.present: list[RunningApp] = []
        self.leases, self.crowd = Leases(), Crowd()
        self.generator = np.random.default_rng(seed)
        self.now = 0.0
        self.retry = math.inf
        self.idle = 0
        self.ends: dict[str, float] = {}
        self.rho: dict[str, float] = {}
        self.rounds: list[Round] = []
        self.gpu_seconds = 0.0

    def step(self) -> None:
        """Go to the next event: process everything that happens at one time before holding a round."""
        ending = {app.label: self.now + app.seconds_left(self.leases.of(app.label)) for app in self.present}
        arrival = self.waiting[0].arrival if self.waiting else math.inf
        then = max(self.now, min(arrival, self.leases.next_end(), self.retry, *ending.values()))
        for app in self.present:
            gpus = self.leases.of(app.label)
            app.advance(then - self.now, gpus)
            self.gpu_seconds += (then - self.now) * len(gpus)
        self.now = then
        for app in [app for app in self.present if ending[app.label] <= then]:
            self._leave(app)
        while self.waiting and self.waiting[0].arrival <= then:
            self._arrive(self.waiting.pop(0))
        self._hold()

    def _arrive(self, app: RunningApp) -> None:
        app.join(self.cluster, self.crowd)
        self.crowd.arrive(app.label, self.now)
        self.leases.arrive(app.label, self.now)
        self.present.append(app)
        self.present.sort(key=lambda item: self.order[item.label])

    def _leave(self, app: RunningApp) -> None:
        self.ends[app.label], self.rho[app.label] = self.now, app.final_rho(self.now)
        self.leases.end(self.leases.of(app.label))
        self.present.remove(app)
        self.crowd.leave(self.now)

    def _hold(self) -> None:
        self.retry = math.inf
        held = self.leases.held(self.now)
        wanted = any(app.demand(self.now, held.get(app.label, ())) for app in self.present)
        if not wanted or not self.leases.free(len(self.cluster.gpus), self.now):
            return
        before = {app.label: self.leases.of(app.label) for app in self.present}
        found = hold_round(
            self.cluster, self.present, self.leases, self.now, self.settings, int(self.generator.integers(2**31))
        )
        for app in self.present:
            if self.leases.of(app.label) != before[app.label]:
                app.moved()
        self.rounds.append(found)
        if self.on_round is not None:
            self.on_round(found)
        if self.leases.free(len(self.cluster.gpus), self.now):
            self.retry = self.now + self.settings.lease
        self.idle = 0 if self.leases.held(self.now) else self.idle + 1
        if self.idle >= _IDLE_ROUNDS:
            raise NoSolutionError(
                f"no app kept a GPU in {self.idle} rounds in a row: payments take all; use rounding random or a "
                "larger f"
            )
