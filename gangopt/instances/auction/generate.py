"""Auctions from their names: random bids on named or uniform clusters, and the lying app of THEMIS."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Literal

import numpy as np

from gangopt.base.checks import integer, number
from gangopt.instances.auction.bids import LEVELS, AppBid, Bystander
from gangopt.instances.auction.instance import MAX_APPS, MAX_MACHINES, AuctionInstance
from gangopt.topology import Cluster, named_cluster

__all__ = ["auction_on", "lying", "priors", "random", "running_bid", "uniform"]

Demands = Literal["any", "powers"]

MAX_DEMAND = 4096


def priors() -> tuple[Fraction, Fraction, Fraction]:
    """Return THEMIS's exact slowdowns within a machine, across machines and across racks."""
    return Fraction(1), Fraction(11, 10), Fraction(13, 10)


def running_bid(
    label: str,
    elapsed: Fraction,
    work: Fraction,
    demand: int,
    slowdown: tuple[Fraction, Fraction, Fraction],
) -> AppBid:
    r"""Return the bid of a single-job app that holds nothing: :math:`V = 1 / (a + b S / k)` for k up to the demand.

    Parameters
    ----------
    label : str
        Name of the app.
    elapsed : Fraction
        Time since its start divided by its ideal time, a.
    work : Fraction
        Serial time left divided by its ideal time, b.
    demand : int
        Most GPUs that it can use.
    slowdown : tuple of Fraction
        Slowdown S within a machine, a rack and the cluster, each at least that of the narrower level.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equation 1.
    """
    rows = [
        (k, level, 1 / (elapsed + work * s / k))
        for k in range(1, demand + 1)
        for level, s in zip(LEVELS, slowdown, strict=True)
    ]
    return AppBid.from_rows(label, rows)


def auction_on(
    cluster: Cluster,
    apps: tuple[AppBid, ...],
    *,
    name: str,
    offered: np.ndarray | None = None,
    racks: np.ndarray | None = None,
    bystanders: tuple[Bystander, ...] = (),
    description: str = "",
    source: str = "",
) -> AuctionInstance:
    """Return an auction of GPUs of a cluster.

    Parameters
    ----------
    cluster : Cluster
        Machines and racks.
    apps : tuple of AppBid
        Bids; GPUs held are on machines of the cluster.
    name : str
        Name of the instance.
    offered : ndarray or None, optional
        GPUs on offer on every machine; None offers all GPUs.
    racks : ndarray or None, optional
        Rack of every machine from 0; None keeps the racks of the cluster.
    bystanders : tuple of Bystander, optional
        Apps that did not bid.
    description, source : str, optional
        Annotations of the instance.
    """
    rack = cluster.machine_rack if racks is None else racks
    labels = cluster.racks if racks is None else tuple(f"rack{r}" for r in range(int(rack.max()) + 1))
    return AuctionInstance(
        name=name,
        description=description,
        source=source,
        racks=labels,
        machines=cluster.machines,
        machine_rack=rack,
        offered=cluster.gpus_per_machine if offered is None else offered,
        apps=apps,
        bystanders=bystanders,
    )


def random(
    cluster: str = "themis-testbed",
    apps: int = 10,
    largest: int = 32,
    demands: Demands = "any",
    racks: int | None = None,
    busy: float = 0.0,
    bystanders: int = 0,
    seed: int = 0,
) -> AuctionInstance:
    """Return random single-job apps that bid for the GPUs of a named cluster.

    In units of its ideal time, an app has been present for a time a, uniform on [0, 1], and has serial work b left: its
    demand divided by the number of apps, times a uniform number from [0.2, 1]. Its slowdowns are S = 1 + s (prior - 1)
    with THEMIS's priors 1, 1.1 and 1.3 and a sensitivity s uniform on [0, 2]. All numbers are rounded to hundredths, S
    to thousandths, so that values are short rationals.

    Parameters
    ----------
    cluster : str, optional
        A named cluster.
    apps : int, optional
        Number of apps that bid.
    largest : int, optional
        Largest demand, in GPUs.
    demands : Demands, optional
        `any` draws demands uniformly from 1 to the largest; `powers` draws a quarter, a half or all of it.
    racks : int or None, optional
        Deal machines to this many racks in turn; None keeps the racks of the cluster.
    busy : float, optional
        Probability that a GPU is not on offer.
    bystanders : int, optional
        Number of apps that do not bid.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    place = named_cluster(cluster)
    machines = len(place.machines)
    dealt = None if racks is None else np.arange(machines) % integer("auction/random: racks", racks, 1, machines)
    return _random("random", place, dealt, apps, largest, demands, busy, bystanders, seed)


def uniform(
    racks: int = 4,
    machines: int = 8,
    gpus: int = 8,
    apps: int = 20,
    largest: int = 64,
    demands: Demands = "powers",
    busy: float = 0.0,
    bystanders: int = 0,
    seed: int = 0,
) -> AuctionInstance:
    """Return random single-job apps, drawn as by `random`, that bid for equal machines in equal racks.

    Parameters
    ----------
    racks : int, optional
        Number of racks.
    machines : int, optional
        Machines in each rack.
    gpus : int, optional
        GPUs of each machine.
    apps : int, optional
        Number of apps that bid.
    largest : int, optional
        Largest demand, in GPUs.
    demands : Demands, optional
        `any` draws demands uniformly from 1 to the largest; `powers` draws a quarter, a half or all of it.
    busy : float, optional
        Probability that a GPU is not on offer.
    bystanders : int, optional
        Number of apps that do not bid.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    integer("auction/uniform: racks", racks, 1, 10_000)
    integer("auction/uniform: machines", machines, 1, 10_000)
    integer("auction/uniform: gpus", gpus, 1, 128)
    integer("auction/uniform: racks x machines", racks * machines, 1, MAX_MACHINES)
    place = Cluster.uniform(racks=racks, machines_per_rack=machines, gpus_per_slot=gpus)
    return _random("uniform", place, None, apps, largest, demands, busy, bystanders, seed)


def _random(
    family: str,
    place: Cluster,
    racks: np.ndarray | None,
    apps: int,
    largest: int,
    demands: Demands,
    busy: float,
    bystanders: int,
    seed: int,
) -> AuctionInstance:
    integer(f"auction/{family}: apps", apps, 1, MAX_APPS)
    integer(f"auction/{family}: largest", largest, 1, MAX_DEMAND)
    integer(f"auction/{family}: apps x largest", apps * largest, 1, 1_000_000)
    number(f"auction/{family}: busy", busy, 0, 1)
    integer(f"auction/{family}: bystanders", bystanders, 0, MAX_APPS)
    integer(f"auction/{family}: seed", seed, 0)
    generator = np.random.default_rng(seed)
    bids = tuple(_random_bid(f"app{i}", apps, largest, demands, generator) for i in range(apps))
    free = generator.binomial(place.gpus_per_machine, 1.0 - busy)
    waiting = generator.integers(1, largest + 1, bystanders).tolist()
    return auction_on(
        place,
        bids,
        name=f"auction/{family}?apps={apps}&seed={seed}",
        offered=free.astype(np.int64),
        racks=racks,
        bystanders=tuple(Bystander(label=f"idle{b}", demand=demand) for b, demand in enumerate(waiting)),
        description=f"{apps} random apps bid for {int(free.sum())} GPUs on {len(place.machines)} machines",
        source="generated",
    )


def _random_bid(label: str, apps: int, largest: int, demands: Demands, generator: np.random.Generator) -> AppBid:
    if demands == "any":
        demand = int(generator.integers(1, largest + 1))
    else:
        demand = max(1, largest >> int(generator.integers(0, 3)))
    elapsed = Fraction(int(generator.integers(0, 101)), 100)
    share = generator.uniform(0.2, 1.0) * demand / apps
    sensitivity = Fraction(int(generator.integers(0, 201)), 100)
    slowdown = (Fraction(1), 1 + sensitivity / 10, 1 + 3 * sensitivity / 10)
    return running_bid(label, elapsed, Fraction(max(1, round(100 * share)), 100), demand, slowdown)


def lying(
    apps: int = 8,
    percent: int = 0,
    kind: Literal["spread", "dense"] = "spread",
    work: int = 8,
    elapsed: float = 0.0,
    demand: int = 8,
    across: float = 1.1,
) -> AuctionInstance:
    """Return THEMIS's truth-telling case: equal apps, the first of which may lie, and 29 machines.

    One machine has 8 GPUs, the other 28 have 2 each.

    Parameters
    ----------
    apps : int, optional
        Number of apps.
    percent : int, optional
        Size of the first app's lie, X, in percent.
    kind : {'spread', 'dense'}, optional
        `spread` over-reports the slowdown across machines by X %; `dense` under-reports the slowdown within one
        machine by X %.
    work : int, optional
        Serial work left, b, in units of the ideal time.
    elapsed : float, optional
        Time since the start, a, in units of the ideal time.
    demand : int, optional
        Most GPUs that an app can use.
    across : float, optional
        True slowdown across machines; all are in one rack.

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 6.4 (truth-telling) and figure 18.
    """
    integer("auction/lying: apps", apps, 1, MAX_APPS)
    integer("auction/lying: percent", percent, 0, 100 if kind == "spread" else 99)
    integer("auction/lying: work", work, 1, 10**6)
    number("auction/lying: elapsed", elapsed, 0, 10**6)
    integer("auction/lying: demand", demand, 1, MAX_DEMAND)
    number("auction/lying: across", across, 1, 100)
    spread = Fraction(str(across))
    told = (Fraction(1), spread * (1 + Fraction(percent, 100)) if kind == "spread" else spread)
    inside = Fraction(1) if kind == "spread" else 1 - Fraction(percent, 100)
    a, b = Fraction(str(elapsed)), Fraction(work)
    liar = running_bid("app0", a, b, demand, (inside, told[1], told[1]))
    honest = running_bid("app1", a, b, demand, (Fraction(1), spread, spread))
    sizes = np.array([8] + [2] * 28)
    return AuctionInstance(
        name=f"auction/lying?apps={apps}&percent={percent}&kind={kind}",
        description=f"{apps} equal apps, one 8-GPU machine and 28 of 2; the first app lies by {percent} %",
        source="THEMIS (NSDI 2020), section 6.4; numbers of the apps are free",
        racks=("rack0",),
        machines=tuple(f"m{m}" for m in range(len(sizes))),
        machine_rack=np.zeros(len(sizes), dtype=np.int64),
        offered=sizes,
        apps=(liar, *(dataclasses.replace(honest, label=f"app{i}") for i in range(1, apps))),
    )
