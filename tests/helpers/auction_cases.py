"""Tiny auctions and their optimum by enumeration in exact rationals, for the tests of several layers."""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
from hypothesis import strategies as st

from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.auction.instance import AuctionInstance

SLOWDOWN = (Fraction(1), Fraction(11, 10), Fraction(13, 10))


def linear_bid(label, work, demand, slowdown=SLOWDOWN, elapsed=0, **kwargs):
    """V = 1 / (a + b S / k): elapsed and serial work in units of the ideal time."""
    rows = [
        (k, level, 1 / (Fraction(elapsed) + Fraction(work) * s / k))
        for k in range(1, demand + 1)
        for level, s in zip(LEVELS, slowdown, strict=True)
    ]
    return AppBid.from_rows(label, rows, **kwargs)


def auction(apps, racks, bystanders=()):
    """Machines of the sizes given, rack by rack."""
    sizes = [size for rack in racks for size in rack]
    return AuctionInstance(
        name="auction/case",
        racks=tuple(f"r{r}" for r in range(len(racks))),
        machines=tuple(f"m{m}" for m in range(len(sizes))),
        machine_rack=np.repeat(np.arange(len(racks)), [len(rack) for rack in racks]),
        offered=np.array(sizes),
        apps=tuple(apps),
        bystanders=tuple(bystanders),
    )


@st.composite
def bids(draw, label, machines, held=False):
    """A bid with any rows; sometimes of a value without GPUs, sometimes of GPUs held."""
    values = st.fractions(min_value=Fraction(1, 6), max_value=4, max_denominator=6)
    row = st.tuples(st.integers(1, 4), st.sampled_from(LEVELS), values)
    if draw(st.booleans()):
        work, demand = draw(st.integers(1, 6)), draw(st.integers(1, 5))
        rows = linear_bid(label, work, demand)
        rows = list(zip(rows.gpus, (LEVELS[level] for level in rows.levels), rows.values, strict=True))
    else:
        rows = draw(st.lists(row, min_size=1, max_size=6, unique_by=lambda item: item[:2]))
    zero = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 5)]))
    owned = draw(st.lists(st.integers(0, machines - 1), max_size=2, unique=True)) if held else []
    return AppBid.from_rows(label, rows, zero, tuple((m, 1) for m in sorted(owned)))


@st.composite
def auctions(draw, most_apps=3, most_gpus=7, held=True):
    """An auction of few GPUs in up to three racks."""
    racks = draw(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=3))
    while sum(map(sum, racks)) > most_gpus:
        racks = [rack[:-1] or [min(2, rack[0])] for rack in racks] if max(map(len, racks)) > 1 else racks[:-1]
    number = draw(st.integers(1, most_apps))
    machines = sum(map(len, racks))
    same = draw(st.booleans())
    apps = [draw(bids(f"a{i}", machines, held)) for i in range(number)]
    if same and number > 1:
        first = apps[0]
        scale = draw(st.sampled_from([1, Fraction(1, 2)]))
        values = tuple(value * scale for value in first.values)
        apps[1] = AppBid(
            label="a1",
            gpus=first.gpus,
            levels=first.levels,
            values=values,
            value_at_zero=first.value_at_zero * scale,
            held=first.held,
        )
    return auction(apps, racks)


def enumerate_best(instance, members=None):
    """Return (apps served, product over the served, bundles) of the best allocation, by trying all of them."""
    members = tuple(range(len(instance.apps)) if members is None else members)
    sizes = tuple(instance.offered.tolist())

    @cache
    def value(app, counts):
        return instance.value(app, tuple((m, k) for m, k in enumerate(counts) if k))

    @cache
    def best(position, left):
        if position == len(members):
            return (0, Fraction(1), ())
        found = None
        for counts in itertools.product(*(range(size + 1) for size in left)):
            worth = value(members[position], counts)
            rest = tuple(a - b for a, b in zip(left, counts, strict=True))
            served, product, bundles = best(position + 1, rest)
            candidate = (served + bool(worth), product * (worth or 1), (counts, *bundles))
            if found is None or candidate[:2] > found[:2]:
                found = candidate
        return found

    return best(0, sizes)
