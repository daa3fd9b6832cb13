"""Generators of the problem `fair_share`."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer
from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.topology import PRIORS, Cluster, cluster_names, named_cluster

__all__ = ["MAX_APPS", "MAX_GPUS", "bid_of", "cluster", "random"]

MAX_APPS = 1_000
"""Most apps of a generated instance."""

MAX_GPUS = 100_000
"""Most GPUs of a generated instance."""

SENSITIVE = (Fraction(1), Fraction(1036, 804), Fraction(1036, 804))
"""Slowdown of VGG16 by level: 103.6 images a second on one server, 80.4 across two (THEMIS, table 1)."""

Sensitivity = Literal["priors", "mixed", "none"]


def bid_of(
    label: str,
    demand: int,
    slowdown: tuple[Fraction, ...],
    ideal_gpus: Fraction,
    elapsed: Fraction = Fraction(0),
    value_at_zero: Fraction = Fraction(0),
) -> AppBid:
    r"""Return the values of an app whose run time is its work divided by its GPUs, times a slowdown by locality.

    :math:`\rho(k, l) = (e + S_l / \min(k, d)) \cdot g`, with times in units of the serial work: `e` has elapsed, and
    on its independent share of the cluster the app would take 1 / g.

    Parameters
    ----------
    label : str
        Name of the app.
    demand : int
        Most GPUs that it can use, d.
    slowdown : tuple of Fraction
        Slowdown S within a machine, a rack and the cluster, nondecreasing, at least 1.
    ideal_gpus : Fraction
        GPUs' worth of its independent share of the cluster, g.
    elapsed : Fraction, optional
        Time since its arrival divided by its serial time, e.
    value_at_zero : Fraction, optional
        Value V without any GPUs.
    """
    rows = []
    for k in range(1, demand + 1):
        for level, factor in zip(LEVELS, slowdown, strict=True):
            rows.append((k, level, 1 / ((elapsed + (factor if k > 1 else slowdown[0]) / k) * ideal_gpus)))
    return AppBid.from_rows(label, rows, value_at_zero=value_at_zero)


def random(
    apps: int = 6,
    machines: int = 4,
    racks: int = 2,
    gpus_per_machine: int = 4,
    sensitivity: Sensitivity = "mixed",
    resources: int = 0,
    seed: int = 0,
) -> FairShareInstance:
    """Return random apps on machines with random numbers of GPUs.

    A machine has 1 to `gpus_per_machine` GPUs; machines are dealt to racks in turn. An app can use d GPUs, a power of
    two of at most the mean number in a rack, and has waited for up to a quarter of its time on its independent share.
    Its values are those of `bid_of` with g = min(G, d) / n: on its share an app takes n times as long as on all GPUs
    that it can use (eqn 1 of THEMIS). Each GPU of an app takes 0 to 4 units of a resource; capacities cover three
    quarters of the total demand.

    Parameters
    ----------
    apps : int, optional
        Number of apps.
    machines : int, optional
        Number of machines.
    racks : int, optional
        Number of racks, at most the machines.
    gpus_per_machine : int, optional
        Most GPUs of a machine.
    sensitivity : Sensitivity, optional
        `priors`: slowdowns 1, 1.1 and 1.3 for every app; `none`: no slowdown; `mixed`: each app has one of these or
        the measured slowdowns of VGG16.
    resources : int, optional
        Number of further resources in the whole cluster.
    seed : int, optional
        Seed of the random number generator.
    """
    for field, value, least, most in (
        ("apps", apps, 1, MAX_APPS),
        ("machines", machines, 1, MAX_GPUS),
        ("racks", racks, 1, machines),
        ("gpus_per_machine", gpus_per_machine, 1, MAX_GPUS // max(machines, 1)),
        ("resources", resources, 0, 20),
    ):
        integer(f"fair_share/random: {field}", value, least, most)
    integer("fair_share/random: seed", seed, 0)
    generator = np.random.default_rng(seed)
    gpus = generator.integers(1, gpus_per_machine + 1, machines)
    bids = _bids(generator, apps, int(gpus.sum()), racks, sensitivity)
    demands = generator.integers(0, 5, (apps, resources))
    needs = np.array([bid.demand for bid in bids])[:, None] * demands
    capacities = np.maximum(1, np.floor(0.75 * needs.sum(axis=0)))
    return FairShareInstance(
        name="fair_share/random",
        description=f"{apps} random apps on {machines} random machines",
        source="generated",
        racks=tuple(f"r{r}" for r in range(racks)),
        machines=tuple(f"m{m}" for m in range(machines)),
        machine_rack=np.arange(machines) % racks,
        offered=gpus,
        apps=bids,
        resources=tuple(f"resource{r}" for r in range(resources)),
        capacities=capacities,
        demands=demands.astype(float),
    )


def cluster(
    cluster: str = "themis-testbed",
    apps: int = 10,
    racks: int | None = None,
    sensitivity: Sensitivity = "mixed",
    seed: int = 0,
) -> FairShareInstance:
    """Return random apps, drawn as by `random`, on all GPUs of a named cluster.

    Parameters
    ----------
    cluster : str, optional
        A named cluster with GPUs.
    apps : int, optional
        Number of apps.
    racks : int or None, optional
        Deal the machines to this many racks in turn; None keeps the racks of the cluster.
    sensitivity : Sensitivity, optional
        See `random`.
    seed : int, optional
        Seed of the random number generator.
    """
    integer("fair_share/cluster: apps", apps, 1, MAX_APPS)
    integer("fair_share/cluster: seed", seed, 0)
    if cluster not in cluster_names():
        raise unknown("cluster", cluster, cluster_names())
    found: Cluster = named_cluster(cluster)
    gpus = found.capacities[:, found.resources.index("gpu")].astype(np.int64)
    count = integer("fair_share/cluster: racks", len(found.racks) if racks is None else racks, 1, len(gpus))
    placed = found.machine_rack if racks is None else np.arange(len(gpus)) % racks
    generator = np.random.default_rng(seed)
    return FairShareInstance(
        name="fair_share/cluster",
        description=f"{apps} random apps on {cluster}",
        source=f"generated; {found.source}",
        racks=tuple(f"r{r}" for r in range(count)),
        machines=found.machines,
        machine_rack=placed,
        offered=gpus,
        apps=_bids(generator, apps, int(gpus.sum()), count, sensitivity),
    )


def _bids(
    generator: np.random.Generator, apps: int, gpus: int, racks: int, sensitivity: Sensitivity
) -> tuple[AppBid, ...]:
    priors = tuple(Fraction(str(PRIORS.at(level))) for level in LEVELS)
    kinds: dict[Sensitivity, list[tuple[Fraction, ...]]] = {
        "priors": [priors],
        "none": [(Fraction(1),) * 3],
        "mixed": [priors, SENSITIVE, (Fraction(1),) * 3],
    }
    largest = max(1, gpus // racks).bit_length()
    bids = []
    for i in range(apps):
        slowdown = kinds[sensitivity][int(generator.integers(len(kinds[sensitivity])))]
        demand = 1 << int(generator.integers(largest))
        share = Fraction(min(gpus, demand), apps)
        elapsed = Fraction(int(generator.integers(0, 26)), 100) / share
        bids.append(bid_of(f"a{i}", demand, slowdown, share, elapsed))
    return tuple(bids)
