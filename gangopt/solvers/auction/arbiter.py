"""The arbiter of THEMIS: who is asked for bids (visibility), and what the bids win (allocation)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.interrupts import unless_interrupted
from gangopt.instances.auction.bids import AppBid, Bundle, Bystander
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution, Payment
from gangopt.solvers.auction.rounding import Rounding, kept_bundle, require_slack
from gangopt.solvers.core.contract import Controls
from gangopt.topology import Cluster

__all__ = [
    "Agent",
    "Allocation",
    "Offer",
    "Visibility",
    "allocation_phase",
    "give_leftovers",
    "hold_auction",
    "participants",
    "visibility_phase",
]


@dataclass(frozen=True)
class Offer:
    """Non-binding offer that an agent sees.

    Attributes
    ----------
    now : float
        Time, s.
    cluster : Cluster
        Machines, whose indices the bid uses.
    gpus : tuple of int
        Indices of the GPUs on offer, ascending.
    held : tuple of int
        Indices of the GPUs that the app holds and keeps in any case, ascending.
    """

    now: float
    cluster: Cluster
    gpus: tuple[int, ...]
    held: tuple[int, ...]


class Agent(Protocol):
    """Interface of the agent of an app."""

    @property
    def label(self) -> str:
        """Name of the app, unlike every other."""

    def rho(self, now: float, gpus: tuple[int, ...], /) -> float:
        """Return rho with these GPUs until the end: infinite for an app that would never end."""

    def demand(self, now: float, held: tuple[int, ...], /) -> int:
        """Return how many GPUs the app can use beside those held."""

    def bid(self, offer: Offer, /) -> AppBid:
        """Return the table of values 1 / rho for an offer; `held` of the bid says what `offer.held` says."""


@dataclass(frozen=True)
class Visibility:
    """Result of the visibility phase.

    Attributes
    ----------
    offered : tuple of int
        Indices of the GPUs on offer.
    instance : AuctionInstance or None
        The auction of the bids, None if nobody bids.
    bidders : tuple of Agent
        Agents that were asked, in order of the instance's apps.
    others : tuple of Agent
        Agents that were not and can use more GPUs.
    """

    offered: tuple[int, ...]
    instance: AuctionInstance | None
    bidders: tuple[Agent, ...]
    others: tuple[Agent, ...]


@dataclass(frozen=True)
class Allocation:
    """Result of the allocation phase: ascending GPU indices by the label of the app.

    Attributes
    ----------
    won : mapping of str to tuple of int
        GPUs that bidders keep of what they won, after their payments.
    given : mapping of str to tuple of int
        GPUs that others are given of what is left over.
    outcome : AuctionSolution or None
        Of the auction, None if nobody bid.
    """

    won: Mapping[str, tuple[int, ...]]
    given: Mapping[str, tuple[int, ...]]
    outcome: AuctionSolution | None


def participants(rho: Sequence[float], fairness: float, waiting: Sequence[float] | None = None) -> list[int]:
    """Return the apps that are asked for bids: the 1 - f fraction with the greatest rho, at least one.

    Parameters
    ----------
    rho : sequence of float
        Rho of every app with what it has now.
    fairness : float
        F, the knob from 0 (all) to 1 (one).
    waiting : sequence of float or None, optional
        Seconds for which every app has had no GPU, None for none of them: of apps with an infinite rho, those that
        have waited longer have the greater one.

    Returns
    -------
    list of int
        The ceil((1 - f) n) apps of greatest rho, ties to the lower index, in ascending order.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 3.3.2 and pseudocode 1, line 17. Section 4.2.2 says that the offer goes
    to a fraction f; the sensitivity to f is only consistent with 1 - f.
    """
    if not 0 <= fairness <= 1:
        raise InputError(f"fairness must be from 0 to 1 (got {fairness})")
    if not rho:
        return []
    # (1 - f) n, in decimals as f is written: 0.2 of 5 apps is one app, not two
    number = max(1, math.ceil((1 - Fraction(str(fairness))) * len(rho)))
    waited = [0.0] * len(rho) if waiting is None else waiting
    order = sorted(range(len(rho)), key=lambda i: (-rho[i], -waited[i], i))
    return sorted(order[:number])


def visibility_phase(
    agents: Sequence[Agent],
    cluster: Cluster,
    offered: Sequence[int],
    held: Mapping[str, tuple[int, ...]],
    *,
    now: float,
    fairness: float = 0.8,
    before: Mapping[str, tuple[int, ...]] | None = None,
    waiting: Mapping[str, float] | None = None,
) -> Visibility:
    """Ask all apps for rho, offer all GPUs to the participants, and collect one bid of each.

    An app tells its rho with what it had until now: leases that began together end together, and with nothing in hand
    all would say infinity.

    Parameters
    ----------
    agents : sequence of Agent
        Of the apps present, in a fixed order; ties go to the earlier.
    cluster : Cluster
        Where the GPUs are.
    offered : sequence of int
        Indices of the GPUs on offer.
    held : mapping of str to tuple of int
        GPUs of each app whose leases go on.
    now : float
        Time, s.
    fairness : float, optional
        F, see `participants`.
    before : mapping of str to tuple of int or None, optional
        GPUs that an app had until now, those of ended leases included; None for `held`.
    waiting : mapping of str to float or None, optional
        Seconds for which an app has had no GPU, see `participants`.

    Returns
    -------
    Visibility
        Apps that can use no more GPUs take no part, so that they count neither as bidders nor as bystanders.
    """
    gpus = tuple(sorted(int(gpu) for gpu in offered))
    wanted = [(agent, agent.demand(now, held.get(agent.label, ()))) for agent in agents]
    wanting = [(agent, demand) for agent, demand in wanted if demand > 0]
    had = held if before is None else before
    rho = [agent.rho(now, had.get(agent.label, ())) for agent, _ in wanting]
    waited = [(waiting or {}).get(agent.label, 0.0) for agent, _ in wanting]
    chosen = set(participants(rho, fairness, waited))
    bidders = tuple(agent for i, (agent, _) in enumerate(wanting) if i in chosen)
    others = [pair for i, pair in enumerate(wanting) if i not in chosen]
    if not gpus or not bidders:
        return Visibility(gpus, None, bidders, tuple(agent for agent, _ in others))
    bids = tuple(agent.bid(Offer(now, cluster, gpus, held.get(agent.label, ()))) for agent in bidders)
    instance = AuctionInstance(
        name=f"auction/round at {now:g} s",
        racks=cluster.racks,
        machines=cluster.machines,
        machine_rack=cluster.machine_rack,
        offered=np.bincount(cluster.gpu_machine[list(gpus)], minlength=len(cluster.machines)).astype(np.int64),
        apps=bids,
        bystanders=tuple(Bystander(label=agent.label, demand=demand) for agent, demand in others),
    )
    return Visibility(gpus, instance, bidders, tuple(agent for agent, _ in others))


def hold_auction(
    instance: AuctionInstance,
    *,
    rounding: Rounding = "floor",
    slack: float = 0.0,
    payments: bool = True,
    gifts: bool = True,
    seed: int = 0,
    controls: Controls | None = None,
) -> AuctionSolution:
    """Run the partial-allocation auction: the fair allocation, the payments, whole GPUs, and gifts of what is left.

    A payment that is only known to lie in an interval at the time limit is taken at its low end: nobody keeps more than
    is certain.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    rounding : Rounding, optional
        How c times a bundle becomes whole GPUs.
    slack : float, optional
        Relative; c counts as min(1, (1 + slack) c), see `require_slack`.
    payments : bool, optional
        Whether apps pay; without, everybody keeps what was won.
    gifts : bool, optional
        Whether what is left over goes to bystanders at random.
    seed : int, optional
        Seed of the gifts and of the rounding `random`.
    controls : Controls or None, optional
        Settings of the solver, None for no time limit.
    """
    from gangopt.solvers.auction.exact import exact

    more = 1 + require_slack(slack)
    outcome = unless_interrupted(exact(instance, Controls() if controls is None else controls, payments=payments))
    fair: AuctionSolution = outcome.solution
    generator = np.random.default_rng(seed)
    # without a proven allocation there is no proven payment: whoever could be charged everything keeps nothing
    unknown: Payment = (Fraction(0), Fraction(1))
    shares = fair.payments or (tuple(unknown for _ in fair.bundles) if payments else ())
    kept = fair.bundles
    if payments:
        kept = tuple(
            kept_bundle(instance, i, bundle, min(Fraction(1), more * shares[i][0]), rounding, generator)
            for i, bundle in enumerate(fair.bundles)
        )
    given = give_leftovers(instance, kept, generator) if gifts else ()
    return AuctionSolution(kept, shares, fair.bundles if payments else (), given)


def give_leftovers(
    instance: AuctionInstance, bundles: Sequence[Bundle], generator: np.random.Generator
) -> tuple[Bundle, ...]:
    """Return what bystanders are given: each GPU left over, machine by machine, to one drawn of those that want more.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    bundles : sequence of Bundle
        What the bidders keep.
    generator : numpy.random.Generator
        Source of the draws, one a GPU.

    Returns
    -------
    tuple of Bundle
        One for every bystander.
    """
    left = instance.offered.tolist()
    for bundle in bundles:
        for machine, count in bundle:
            left[machine] -= count
    wanted = [item.demand for item in instance.bystanders]
    given: list[dict[int, int]] = [{} for _ in wanted]
    for machine, number in enumerate(left):
        for _ in range(number):
            waiting = [b for b, demand in enumerate(wanted) if demand]
            if not waiting:
                break
            b = waiting[int(generator.integers(len(waiting)))]
            wanted[b] -= 1
            given[b][machine] = given[b].get(machine, 0) + 1
    return tuple(tuple(sorted(parts.items())) for parts in given)


def allocation_phase(
    visibility: Visibility,
    cluster: Cluster,
    *,
    rounding: Rounding = "floor",
    slack: float = 0.0,
    payments: bool = True,
    seed: int = 0,
    controls: Controls | None = None,
    before: Mapping[str, tuple[int, ...]] | None = None,
) -> Allocation:
    """Hold the auction and hand out GPUs, to each app those that it had before where they are still on its machines.

    Parameters
    ----------
    visibility : Visibility
        What the visibility phase ended with.
    cluster : Cluster
        Where the GPUs are.
    rounding, slack, payments, seed, controls : Rounding or float or bool or int or Controls or None, optional
        See `hold_auction`.
    before : mapping of str to tuple of int or None, optional
        GPUs that an app had until now, by its label; on each machine they come first, then the lowest indices.

    Returns
    -------
    Allocation
        Every GPU at most once; what nobody gets stays free.
    """
    if visibility.instance is None:
        return Allocation({}, {}, None)
    outcome = hold_auction(
        visibility.instance, rounding=rounding, slack=slack, payments=payments, seed=seed, controls=controls
    )
    agents = (*visibility.bidders, *visibility.others)
    handed = _hand_out(agents, (*outcome.bundles, *outcome.gifts), visibility.offered, cluster, before or {})
    won = {agent.label: handed[agent.label] for agent in visibility.bidders if agent.label in handed}
    given = {agent.label: handed[agent.label] for agent in visibility.others if agent.label in handed}
    return Allocation(won, given, outcome)


def _hand_out(
    agents: Sequence[Agent],
    bundles: Sequence[Bundle],
    offered: Sequence[int],
    cluster: Cluster,
    before: Mapping[str, tuple[int, ...]],
) -> dict[str, tuple[int, ...]]:
    free: dict[int, set[int]] = {}
    for gpu in offered:
        free.setdefault(int(cluster.gpu_machine[gpu]), set()).add(gpu)
    taken: dict[str, list[int]] = {}
    missing: list[tuple[str, int, int]] = []
    # what apps had is handed to them first, so that nobody else is given it by the order of apps
    for agent, bundle in zip(agents, bundles, strict=True):
        had = before.get(agent.label, ())
        for machine, count in bundle:
            own = [gpu for gpu in sorted(had) if gpu in free[machine]][:count]
            free[machine] -= set(own)
            taken.setdefault(agent.label, []).extend(own)
            missing.append((agent.label, machine, count - len(own)))
    for label, machine, count in missing:
        rest = sorted(free[machine])[:count]
        free[machine] -= set(rest)
        taken[label] += rest
    return {label: tuple(sorted(gpus)) for label, gpus in taken.items()}
