"""Heuristics of `fair_share`: their rules on small cases, and feasibility everywhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.fair_share.generate import random as random_instance
from gangopt.instances.fair_share.market import rows_of
from gangopt.solvers.fair_share import heuristics
from gangopt.solvers.fair_share.drf import dominant_share_gpus
from gangopt.solvers.fair_share.placing import place_counts

METHODS = ["drf", "drf?counts=lp", "drf?placement=spread", "max_min_rho", "equal", "equal?placement=spread", "random"]


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(0, 2), st.booleans())
def test_every_heuristic_is_feasible_and_never_below_the_bound(seed, apps, resources, held):
    instance = random_instance(apps=apps, machines=3, resources=resources, seed=seed)
    if held:
        first = replace(instance.apps[0], held=((seed % 3, 1),), value_at_zero=Fraction(1, 10))
        instance = replace(instance, apps=(first, *instance.apps[1:]))
    exact = gangopt.solve(instance)
    for method in METHODS:
        result = gangopt.solve(instance, method, seed=seed)
        assert result.solution_status == "feasible"
        if exact.bound is not None:
            assert result.objective >= exact.bound * (1 - 1e-9)


def counts_of(instance, method, **options):
    solution = getattr(heuristics, method)(instance, **options)
    return [sum(row) for row in rows_of(solution.bundles, len(instance.machines))]


def test_drf_equalises_dominant_shares_until_demand_is_met():
    instance = gangopt.load("fair_share/two-resources")
    assert counts_of(instance, "drf") == counts_of(instance, "drf", counts="lp") == [3, 2]
    # five GPUs for demands of 1 and 4: the first leaves early
    base = gangopt.load("fair_share/themis-figure5b")
    few = replace(base, offered=np.array([3, 1, 1]), apps=(AppBid.from_rows("a", [(1, "cluster", 1)]), base.apps[1]))
    assert counts_of(few, "drf") == [1, 4]
    assert counts_of(few, "equal") == [2, 2]


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(0, 2))
def test_whole_gpus_stay_within_one_of_the_linear_program_without_resources(seed, apps):
    market = random_instance(apps=2 + apps, machines=3, seed=seed).market
    whole, real = heuristics.progressive_filling(market), dominant_share_gpus(market)
    assert all(abs(w - r) < 1 + 1e-6 for w, r in zip(whole.tolist(), real, strict=True))


def test_held_gpus_count_as_received():
    base = gangopt.load("fair_share/themis-figure5b")
    first = replace(base.apps[0], held=((1, 2),))
    instance = replace(base, offered=np.array([4, 0, 2]), apps=(first, base.apps[1]))
    assert heuristics.progressive_filling(instance.market).tolist() == [2, 4]


def test_placements_of_counts():
    market = gangopt.load("fair_share/themis-figure5b").market
    assert place_counts(market, np.array([4, 4]), "pack") == ((4, 0, 0), (0, 2, 2))
    assert place_counts(market, np.array([4, 4]), "spread") == ((2, 1, 1), (2, 1, 1))
    # the first app values all places alike and is packed, the second is spread
    assert place_counts(market, np.array([2, 2]), "adverse") == ((2, 0, 0), (1, 1, 0))


@pytest.mark.parametrize(("case", "rows"), [("a", [[2, 2], [2, 2]]), ("b", [[4, 0, 0], [0, 2, 2]])])
def test_drf_is_the_allocation_of_figure_5(case, rows):
    instance = gangopt.load(f"fair_share/themis-figure5{case}")
    solution = heuristics.drf(instance)
    assert [list(row) for row in rows_of(solution.bundles, len(instance.machines))] == rows


def test_max_min_rho_helps_the_worst_app_and_keeps_it_together():
    instance = gangopt.load("fair_share/themis-figure5a")
    assert heuristics.max_min_rho(instance).bundles == (((0, 4),), ((1, 4),))


def test_random_depends_on_its_seed_alone():
    instance = random_instance(apps=4, machines=4)
    first = [heuristics.random(instance, seed=seed) for seed in range(5)]
    assert first == [heuristics.random(instance, seed=seed) for seed in range(5)]
    assert len(set(first)) > 1


def test_resources_bind_equal_counts():
    instance = gangopt.load("fair_share/two-resources")
    tight = replace(instance, capacities=np.array([5.0, 18.0]))
    assert counts_of(tight, "equal") == [1, 1]
