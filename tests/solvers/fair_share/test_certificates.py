"""Certificates of allocations against enumeration, and on figure 5 of THEMIS."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import ConcreteModel, Objective, maximize, minimize, value

from gangopt.base.errors import InfeasibleError
from gangopt.formulations.fair_share.certificates import fill_dominating, fill_envy, fill_sharing, read_allocation
from gangopt.instances.auction.bids import AppBid, Bystander
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.instances.fair_share.generate import random
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import better, bundles_of, certifiable
from gangopt.instances.fair_share.solution import FairShareSolution
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.fair_share import heuristics
from gangopt.solvers.fair_share.certificates import certify
from gangopt.solvers.fair_share.exact import exact
from gangopt.solvers.highs import solve_model


def every_allocation(market):
    """Each way to split the GPUs of every machine among the apps, leaving some idle."""
    n = len(market.apps)
    columns = [
        [split for split in itertools.product(range(gpus + 1), repeat=n) if sum(split) <= gpus]
        for gpus in market.gpus.tolist()
    ]
    for choice in itertools.product(*columns):
        rows = np.array(choice).T
        if np.all(rows.sum(axis=1) @ market.demands <= market.capacities):
            yield tuple(tuple(row) for row in rows.tolist())


def values(market, rows):
    return [market.value(i, row) for i, row in enumerate(rows)]


def dominates(market, new, old):
    pairs = list(zip(values(market, new), values(market, old), strict=True))
    return not any(better(b, a) for a, b in pairs) and any(better(a, b) for a, b in pairs)


def small(seed, resources=0, held=False):
    instance = random(apps=2 + seed % 2, machines=2, gpus_per_machine=3, resources=resources, seed=seed)
    if held:
        first = replace(instance.apps[0], held=((seed % 2, 1),), value_at_zero=Fraction(1, 10))
        instance = replace(instance, apps=(first, *instance.apps[1:]))
    return instance


@settings(max_examples=60)
@given(st.integers(0, 500), st.integers(0, 1), st.booleans(), st.integers(0, 5))
def test_certificates_are_those_of_enumeration(seed, resources, held, chance):
    instance = small(seed, resources, held)
    market, rows = instance.certifiable(heuristics.random(instance, seed=chance))
    found = certify(market, rows)
    every = list(every_allocation(market))
    assert found.pareto_efficient == (not any(dominates(market, other, rows) for other in every))
    if found.dominating is not None:
        assert found.dominating in every
        assert dominates(market, found.dominating, rows)
        gains = [np.maximum(0, np.subtract(values(market, x), values(market, rows))).sum() for x in every
                 if dominates(market, x, rows)]  # fmt: skip
        gained = np.subtract(values(market, found.dominating), values(market, rows)).sum()
        assert gained == pytest.approx(max(gains), rel=1e-6)
    now = values(market, rows)
    envious = {(i, j) for i in range(len(rows)) for j in range(len(rows)) if better(market.value(i, rows[j]), now[i])}
    assert {(item.app, item.other) for item in found.envy} == envious
    assert found.envy_free == (not envious)
    assert found.above_one == tuple(i for i, v in enumerate(now) if v == 0 or 1 / v > 1 + 1e-9)
    assert found.sharing_incentive == (not found.above_one)
    if found.above_one:
        assert found.sharing_exists == any(min(values(market, other)) >= 1 - 1e-9 for other in every)
        if found.sharing_exists:
            assert found.sharing in every
            assert min(values(market, found.sharing)) >= 1 - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_what_the_exact_method_returns_is_pareto_efficient(seed):
    instance = random(apps=6, machines=5, seed=seed)
    solution = exact(instance, Controls()).solution
    assert certify(*instance.certifiable(solution)).pareto_efficient is True


def test_leaving_gpus_idle_is_dominated():
    instance = random(apps=3, machines=3, seed=1)
    found = certify(*instance.certifiable(FairShareSolution(((), (), ()))))
    assert found.pareto_efficient is False
    assert found.rho == (math.inf,) * 3
    assert found.envy_free
    assert not found.sharing_incentive


def two_apps(first, second, offered, held=()):
    rows = [
        [(1, "machine", v) for v in values[:1]] + [(2, "cluster", v) for v in values[1:]] for values in (first, second)
    ]
    return AuctionInstance(
        name="two",
        racks=("r0",),
        machines=tuple(f"m{m}" for m in range(len(offered))),
        machine_rack=[0] * len(offered),
        offered=offered,
        apps=tuple(AppBid.from_rows(f"a{i}", table, held=held) for i, table in enumerate(rows)),
        bystanders=(Bystander(label="b", demand=4),),
    )


def test_gpus_that_a_bystander_was_given_are_not_taken_back():
    auction = two_apps([1, 2], [1, 2], [2, 1])
    kept = AuctionSolution(bundles=(((0, 1),), ((1, 1),)), gifts=(((0, 1),),))
    assert auction.check(kept) == []
    assert certify(*certifiable(auction, kept)).pareto_efficient is True
    left_over = AuctionSolution(bundles=kept.bundles)
    found = certify(*certifiable(auction, left_over))
    assert found.pareto_efficient is False
    assert sorted(map(sum, found.dominating)) == [1, 2]


def test_values_that_differ_by_rounding_are_equal():
    auction = two_apps([1, Fraction(1 + 1e-12)], [1, 1], [2, 1])
    rows = AuctionSolution(bundles=(((0, 1),), ((1, 1),)))
    assert certify(*certifiable(auction, rows)).pareto_efficient is True
    assert certify(*certifiable(auction, rows)).envy_free


@settings(max_examples=25)
@given(st.integers(0, 300), st.booleans())
def test_the_models_say_the_same_alone_and_embedded(seed, held):
    instance = small(seed, held=held)
    market, rows = instance.certifiable(heuristics.equal(instance))
    found = certify(market, rows)
    parent = ConcreteModel()
    parent.gains, parent.envies = ConcreteModel(), ConcreteModel()
    fill_dominating(parent.gains, market, rows)
    fill_envy(parent.envies, market, rows)
    parent.objective = Objective(expr=parent.gains.objective_value - parent.envies.objective_value, sense=maximize)
    assert solve_model(parent).termination == "optimal"
    assert (value(parent.gains.objective_value) > 1e-7) == (not found.pareto_efficient)
    assert (value(parent.envies.objective_value) > 1e-7) == (not found.envy_free)
    for item in found.envy:
        assert value(parent.envies.envy[item.app, item.other]) == pytest.approx(1 / item.rho_there - (
            1 / item.rho if item.rho < math.inf else 0))  # fmt: skip


def test_fewest_gpus_for_everybodys_share():
    instance = random(apps=3, machines=4, sensitivity="none", seed=3)
    model = ConcreteModel()
    fill_sharing(model, instance.market)
    model.objective = Objective(expr=model.objective_value, sense=minimize)
    solved = solve_model(model)
    rows = read_allocation(model, instance.market)
    assert solved.objective == sum(map(sum, rows))
    assert instance.check(FairShareSolution(bundles_of(rows))) == []
    assert min(values(instance.market, rows)) >= 1 - 1e-9
    enough = [x for x in every_allocation(instance.market) if min(values(instance.market, x)) >= 1 - 1e-9]
    assert sum(map(sum, rows)) == min(sum(map(sum, x)) for x in enough)


def test_what_nobody_can_improve_or_share_is_refused_before_building():
    auction = two_apps([Fraction(1, 2)], [Fraction(1, 2)], [2])
    market, rows = certifiable(auction, AuctionSolution(bundles=(((0, 1),), ((0, 1),))))
    with pytest.raises(InfeasibleError, match="someone_better: no bundle on offer is worth more to an app"):
        fill_dominating(ConcreteModel(), market, rows, strict=True)
    with pytest.raises(InfeasibleError, match="everyone_served: no bundle on offer gives app a0 rho of at most 1"):
        fill_sharing(ConcreteModel(), market)


@pytest.mark.parametrize(
    ("rho", "fails"),
    [(1 - 1e-8, False), (1.0, False), (1 + 1e-10, False), (1 + 9e-10, False), (1 + 2e-9, True), (1 + 1e-8, True)],
)
def test_certificates_and_the_judge_agree_on_rho_near_1(rho, fails):
    instance = FairShareInstance(
        name="near 1",
        racks=("r",),
        machines=("m",),
        machine_rack=[0],
        offered=[1],
        apps=(AppBid.from_rows("a", [(1, "machine", 1 / Fraction(rho))]),),
    )
    solution = FairShareSolution((((0, 1),),))
    market, rows = instance.certifiable(solution)
    found = certify(market, rows)
    assert found.above_one == ((0,) if fails else ())
    assert found.sharing_exists == (False if fails else None)
    assert instance.evaluate(solution).metrics["above_one"] == int(fails)
    # the model of allocations that share has the same rule
    try:
        fill_sharing(ConcreteModel(), market)
        shared = True
    except InfeasibleError:
        shared = False
    assert shared != fails
