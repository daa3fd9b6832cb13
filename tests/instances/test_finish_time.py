"""Finish-time fairness against equations 1 and 2 written out by hand, and one rule for rho above 1."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.instances.bid.instance import BidInstance
from gangopt.instances.finish_time import TOLERANCE, above_one, ideal_seconds, jain, largest_demands


def test_the_ideal_is_the_work_on_the_largest_demand_times_contention():
    # section 4.3.3 of the paper: 10,000 GPU s, 16 GPUs, four apps
    assert ideal_seconds(10_000, 16, 32, 4) == 2500
    assert ideal_seconds(10_000, 64, 8, 1) == 1250


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, 0, 1, 2]), st.integers(1, 64)), max_size=30))
def test_largest_demands_are_those_of_the_widest_phases(jobs):
    apps = sorted({app for app, _, _ in jobs})
    widths = defaultdict(lambda: defaultdict(int))
    for app, phase, gpus in jobs:
        widths[app][phase or 0] += gpus
    found = largest_demands(
        np.array([apps.index(app) for app, _, _ in jobs], dtype=np.int64),
        np.array([np.nan if phase is None else phase for _, phase, _ in jobs], dtype=np.float64),
        np.array([gpus for _, _, gpus in jobs], dtype=np.int64),
    )
    assert found.tolist() == [max(widths[app].values()) for app in apps]


def test_a_bid_has_the_same_ideal():
    bid = BidInstance(
        name="two phases",
        jobs=("a", "b", "c"),
        phase=np.array([0, 0, 1]),
        iterations=np.array([10, 10, 5]),
        seconds=np.array([3.0, 5.0, 7.0]),
        max_gpus=np.array([2, 2, 1]),
        slowdown=np.ones((3, 4)),
        offer_gpus=np.array([2]),
        offer_levels=("machine",),
        cluster_gpus=64,
        contention=2.5,
    )
    demand = largest_demands(np.zeros(3, dtype=np.int64), bid.phase.astype(float), bid.max_gpus)
    assert demand.tolist() == [4]
    assert bid.ideal_seconds == ideal_seconds(30 + 50 + 35, 64, 4, 2.5)


def test_above_one_forgives_rounding_alone():
    assert not above_one(1.0)
    assert not above_one(1 + TOLERANCE / 2)
    assert not above_one(1 / (0.1 + 0.2) * 0.3)
    assert above_one(1 + 2 * TOLERANCE)
    assert above_one(float("inf"))


def test_jain_of_floats_and_exact_numbers():
    assert jain([]) == 1
    assert jain([2.0, 2.0]) == 1
    assert jain([1.0, 3.0]) == pytest.approx(16 / 20)
    assert jain([Fraction(1), Fraction(3)]) == 0.8
