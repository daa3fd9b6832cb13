"""Exact max-min finish-time fairness against enumeration, and the order of all apps."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InfeasibleError
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.fair_share.generate import random
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.market import bundles_of
from gangopt.instances.fair_share.solution import FairShareSolution
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.fair_share.exact import _Cap, _Search, exact
from gangopt.solvers.highs import SolverOutcome

LEVELS = ("machine", "rack", "cluster")


@st.composite
def tiny(draw, held=False):
    machines = draw(st.integers(1, 3))
    offered = draw(st.lists(st.integers(0, 3), min_size=machines, max_size=machines))
    racks = draw(st.integers(1, 2))
    bids = []
    for i in range(draw(st.integers(1, 3))):
        rows = draw(
            st.lists(
                st.tuples(st.integers(1, 4), st.sampled_from(LEVELS), st.integers(1, 6).map(lambda v: Fraction(v, 3))),
                min_size=1,
                max_size=5,
                unique_by=lambda row: row[:2],
            )
        )
        own = ()
        if held and draw(st.booleans()):
            own = ((draw(st.integers(0, machines - 1)), draw(st.integers(1, 2))),)
        zero = draw(st.sampled_from([Fraction(0), Fraction(1, 4)])) if not own else Fraction(1, 4)
        bids.append(AppBid.from_rows(f"a{i}", rows, value_at_zero=zero, held=own))
    resources = draw(st.integers(0, 1))
    return FairShareInstance(
        name="tiny",
        racks=tuple(f"r{r}" for r in range(racks)),
        machines=tuple(f"m{m}" for m in range(machines)),
        machine_rack=[draw(st.integers(0, racks - 1)) for _ in range(machines)],
        offered=offered,
        apps=tuple(bids),
        resources=("cpu",) * resources,
        capacities=[draw(st.integers(1, 6)) for _ in range(resources)],
        demands=[[draw(st.integers(0, 3)) for _ in range(resources)] for _ in bids],
    )


def every_allocation(instance):
    """Each way to split the GPUs of every machine among the apps, leaving some idle."""
    n = len(instance.apps)
    columns = []
    for gpus in instance.offered.tolist():
        columns.append([split for split in itertools.product(range(gpus + 1), repeat=n) if sum(split) <= gpus])
    for choice in itertools.product(*columns):
        solution = FairShareSolution(bundles_of(list(zip(*choice, strict=True))))
        if not instance.check(solution):
            yield solution


def ordered(instance, solution):
    return sorted(instance.auction.value(i, bundle) for i, bundle in enumerate(solution.bundles))


@settings(max_examples=60)
@given(tiny() | tiny(held=True))
def test_order_of_all_apps_is_that_of_enumeration(instance):
    best = max(ordered(instance, solution) for solution in every_allocation(instance))
    if best[0] == 0:
        with pytest.raises(InfeasibleError, match="everyone_served"):
            exact(instance, Controls())
        return
    outcome = exact(instance, Controls())
    assert outcome.termination == "optimal"
    assert instance.check(outcome.solution) == []
    assert ordered(instance, outcome.solution) == best
    assert outcome.bound == pytest.approx(float(1 / best[0]), rel=1e-12)
    assert outcome.metrics["settled_apps"] == len(instance.apps)


@pytest.mark.parametrize("seed", range(3))
def test_without_refinement_the_largest_rho_is_the_same(seed):
    instance = random(apps=5, machines=4, seed=seed)
    refined, plain = exact(instance, Controls()), exact(instance, Controls(), refine=False)
    least = instance.evaluate(refined.solution).objective
    assert instance.evaluate(plain.solution).objective == least == pytest.approx(plain.bound, rel=1e-12)
    assert plain.metrics["models"] <= refined.metrics["models"]


def test_a_limit_at_any_moment_leaves_a_true_answer():
    instance = random(apps=12, machines=20, racks=4, gpus_per_machine=8, seed=1)
    whole = exact(instance, Controls())
    assert whole.termination == "optimal"
    for seconds in (1e-9, 0.01, 0.05, 0.2):
        cut = exact(instance, Controls(time_limit=seconds))
        assert cut.bound is None or cut.bound <= whole.bound * (1 + 1e-12)
        if cut.solution is not None:
            assert instance.check(cut.solution) == []
        if cut.termination == "time_limit" and cut.metrics.get("settled_apps"):
            assert cut.reason.startswith(f"the order is proven for {cut.metrics['settled_apps']} of 12 apps")
    assert exact(instance, Controls(time_limit=1e-9)).solution is None


@pytest.mark.parametrize("termination", ["error", "completed", "time_limit", "unbounded"])
def test_only_an_infeasible_model_shows_that_no_allocation_exists(monkeypatch, termination):
    search = _Search(random(apps=3, seed=1), Controls())

    def end_as(ending):
        outcome = SolverOutcome(ending, "none", None, None, None, 0.0, (), "highs", "", {})
        monkeypatch.setattr("gangopt.solvers.highs.solve_model", lambda *_: outcome)
        return search.solve([_Cap(search.values[0], 0)])

    assert end_as("infeasible") is False
    assert end_as(termination) is None
    with pytest.raises(KeyboardInterrupt):
        end_as("interrupted")
