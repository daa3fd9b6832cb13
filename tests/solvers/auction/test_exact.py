"""The exact auction and its payments against enumeration in exact rationals."""

import dataclasses
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import SolverError
from gangopt.formulations.auction.columns import app_columns
from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.auction.generate import lying, random, uniform
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.solvers.auction.by_places import prefers_places
from gangopt.solvers.auction.exact import exact
from gangopt.solvers.auction.exclusion import Exclusion, Seen
from gangopt.solvers.auction.master import Master
from gangopt.solvers.auction.payments import Payments
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.highs import Session, solve_model
from helpers import auction_cases as cases

F = Fraction


def solved(instance, **controls):
    outcome = exact(instance, Controls(**controls))
    assert instance.check(outcome.solution) == []
    return outcome


def values_of(instance, solution):
    return [instance.value(i, bundle) for i, bundle in enumerate(solution.bundles)]


def enumerated_shares(instance, solution):
    """c of every app by trying all allocations, the served apps alone among themselves."""
    values = values_of(instance, solution)
    served = [i for i, worth in enumerate(values) if worth]
    shares = []
    for i, bundle in enumerate(solution.bundles):
        if i not in served or not bundle:
            shares.append(F(1))
            continue
        others = [j for j in served if j != i]
        number, best, _ = cases.enumerate_best(instance, others)
        assert number == len(others)
        shares.append(math.prod((values[j] for j in others), start=F(1)) / best)
    return shares


@settings(max_examples=80)
@given(instance=cases.auctions())
def test_optimum_and_payments_are_those_of_enumeration(instance):
    outcome = solved(instance)
    assert outcome.termination == "optimal"
    assert outcome.metrics["exact"] == 1.0
    served, product, _ = cases.enumerate_best(instance)
    values = values_of(instance, outcome.solution)
    assert (sum(map(bool, values)), math.prod((v for v in values if v), start=F(1))) == (served, product)
    objective = instance.evaluate(outcome.solution).objective
    assert outcome.bound == pytest.approx(objective, rel=1e-9, abs=1e-12)
    shares = enumerated_shares(instance, outcome.solution)
    assert [low for low, _ in outcome.solution.payments] == shares
    assert [high for _, high in outcome.solution.payments] == shares


def product_of(instance, solution):
    return math.prod(values_of(instance, solution), start=F(1))


def test_two_apps_in_two_racks():
    instance = cases.auction([cases.linear_bid(name, 16, 16) for name in "ab"], [(4, 4), (4, 4)])
    solution = solved(instance).solution
    assert product_of(instance, solution) == F(25, 121)
    assert solution.payments == ((F(13, 22),) * 2,) * 2


def test_three_apps_in_two_racks():
    instance = cases.auction([cases.linear_bid(name, 16, 16) for name in "abc"], [(4, 4), (4, 4)])
    solution = solved(instance).solution
    assert product_of(instance, solution) == F(5, 176)
    assert [low for low, _ in solution.payments] == [F(121, 400), F(11, 20), F(11, 20)]


def test_one_large_machine_among_small_ones():
    solution = solved(lying()).solution
    assert product_of(lying(), solution) == F(10, 11) ** 7
    assert [low for low, _ in solution.payments] == [F(10, 11)] + [F(1)] * 7
    assert solution.bundles[0] == ((0, 8),)


def test_tied_optima_have_one_product():
    apps = [cases.linear_bid(f"a{i}", 8, demand) for i, demand in enumerate((3, 3, 2))]
    instance = cases.auction(apps, [(4,), (4,)])
    solution = solved(instance).solution
    assert product_of(instance, solution) == F(45, 1664)
    assert sorted(low for low, _ in solution.payments) == [F(10, 13), F(10, 13), F(1)]


def test_floors_make_a_lie_pay():
    def case(told):
        apps = [cases.linear_bid(f"a{i}", 1, 2, (F(1), s, s)) for i, s in enumerate((told, F(11, 10)))]
        return cases.auction(apps, [(3, 1)])

    truth = solved(case(F(13, 10))).solution
    assert product_of(case(F(13, 10)), truth) == F(40, 11)
    assert [low for low, _ in truth.payments] == [F(10, 11), F(1)]
    lie = solved(case(F(1))).solution
    assert product_of(case(F(1)), lie) == 4
    assert [low for low, _ in lie.payments] == [F(1), F(1)]


def test_more_apps_than_gpus_pay_only_for_each_other():
    instance = cases.auction([cases.linear_bid(name, 1, 1) for name in "abc"], [(2,)])
    solution = solved(instance).solution
    assert [bool(bundle) for bundle in solution.bundles] == [True, True, False]
    assert solution.payments == ((F(1), F(1)),) * 3


def test_with_more_apps_than_gpus_the_best_rho_wins():
    instance = cases.auction([cases.linear_bid("slow", 10, 1), cases.linear_bid("fast", 2, 1)], [(1,)])
    assert [bool(bundle) for bundle in solved(instance).solution.bundles] == [False, True]
    waiting = [
        dataclasses.replace(bid, value_at_zero=zero)
        for bid, zero in zip(instance.apps, (F(1, 100), F(1, 3)), strict=True)
    ]
    # with a value for waiting, the ratio decides
    fair = dataclasses.replace(instance, apps=tuple(waiting))
    assert [bool(bundle) for bundle in solved(fair).solution.bundles] == [True, False]


def test_one_app_pays_nothing_and_takes_its_demand():
    instance = cases.auction([cases.linear_bid("a", 8, 100)], [(4, 4)])
    solution = solved(instance).solution
    assert sum(count for _, count in solution.bundles[0]) == 8
    assert solution.payments == ((F(1), F(1)),)


def test_nothing_on_offer():
    instance = cases.auction([cases.linear_bid("a", 8, 2, value_at_zero=F(1, 2))], [(0,)])
    outcome = solved(instance)
    assert (outcome.solution.bundles, outcome.bound) == (((),), pytest.approx(0.5))
    assert solved(cases.auction([cases.linear_bid("a", 8, 2)], [(0,)])).termination == "optimal"


def test_held_gpus_draw_their_app_home():
    rows = [(1, "machine", F(4)), (1, "rack", F(3)), (1, "cluster", F(2))]
    holder = AppBid.from_rows("h", rows, value_at_zero=1, held=((1, 1),))
    rival = AppBid.from_rows("r", [(1, "machine", F(1))])
    instance = cases.auction([rival, holder], [(1, 1), (1,)])
    solution = solved(instance).solution
    assert solution.bundles[1] == ((1, 1),)


def test_no_payments_on_request():
    assert solved(lying()).solution.payments
    assert exact(lying(), Controls(), payments=False).solution.payments == ()


def test_a_time_limit_leaves_intervals_that_hold_the_payments():
    instance = random(apps=8, racks=4, seed=2)
    proven = solved(instance).solution.payments
    master = Master(instance, Controls())
    optimum = master.best()
    bundles = master.read(optimum).bundles
    from gangopt.solvers.auction.payments import payments_of

    class Expired(Controls):
        def remaining(self):
            return 0.0

    master._controls = Expired()
    found = payments_of(instance, master, optimum, bundles, Controls()).shares
    assert any(low < high for low, high in found)
    for (low, high), (share, _) in zip(found, proven, strict=True):
        assert low <= share <= high


def test_each_relaxation_gets_the_time_that_is_left_and_no_more(monkeypatch):
    class Running(Controls):
        def remaining(self):
            return self.left.pop() if len(self.left) > 1 else 0.0

    controls = Running(time_limit=100.0)
    object.__setattr__(controls, "left", [0.0, 8.0, 90.0, 100.0])
    master = Master(random(apps=4, racks=2, seed=1), controls)
    given, unwatched = [], Session.solve

    def solve(session):
        given.append(session.settings.time_limit)
        return unwatched(session)

    monkeypatch.setattr(Session, "solve", solve)
    master._relax(master._rows(None))
    master._relax(master._rows(0))
    assert given == [90.0, 8.0]


def test_a_proven_optimum_with_open_payments_is_no_time_limit(monkeypatch):
    instance = random(apps=4, racks=2, seed=1)

    def cut_off(*_):
        return Payments(((F(0), F(1)),) * 4, 0, exact=False)

    monkeypatch.setattr("gangopt.solvers.auction.exact.payments_of", cut_off)
    result = gangopt.solve(instance, "exact?form=nested_flow")
    assert (result.termination, result.solution_status, result.proven) == ("optimal", "optimal", True)
    assert result.reason.startswith("some payments are known only within an interval")


def test_no_time_at_all_leaves_a_bound_and_a_feasible_allocation():
    class Expired(Controls):
        def remaining(self):
            return 0.0

    instance = random(apps=8, racks=4, seed=2)
    outcome = exact(instance, Expired())
    assert outcome.termination == "time_limit"
    assert instance.check(outcome.solution) == []
    best = instance.evaluate(solved(instance).solution).objective
    assert instance.evaluate(outcome.solution).objective <= best <= outcome.bound
    assert outcome.solution.payments == ()


@pytest.mark.parametrize("calls", [0, 1, 4])
def test_an_interrupt_leaves_what_is_known(monkeypatch, calls):
    instance = random(apps=8, racks=4, seed=2)
    best = instance.evaluate(solved(instance).solution).objective
    core, done = Master._core, []

    def interrupted(self, *args):
        if len(done) == calls:
            raise KeyboardInterrupt
        done.append(1)
        return core(self, *args)

    monkeypatch.setattr(Master, "_core", interrupted)
    outcome = exact(instance, Controls())
    assert outcome.termination == "interrupted"
    assert instance.check(outcome.solution) == []
    assert instance.evaluate(outcome.solution).objective <= best * (1 + 1e-12)
    assert outcome.bound >= best * (1 - 1e-12)


def test_a_start_is_used_and_improved():
    instance = random(apps=5, seed=1)
    best = solved(instance)
    again = exact(instance, Controls(start=best.solution))
    assert product_of(instance, again.solution) == product_of(instance, best.solution)


def test_progress_is_reported():
    events = []
    exact(random(apps=5, seed=1), Controls(on_progress=events.append))
    assert events[0].bound is None
    assert events[-1].bound == pytest.approx(events[-1].objective)


def test_near_ties_are_told_apart_exactly():
    # 1 + 1e-10 on one side: a sum of logarithms cannot see it, the rationals can
    nudge = F(10**10 + 1, 10**10)
    a = AppBid.from_rows("a", [(1, "machine", F(1)), (2, "machine", F(2))])
    b = AppBid.from_rows("b", [(1, "machine", F(1)), (2, "machine", F(2) * nudge)])
    for order in ((a, b), (b, a)):
        instance = cases.auction(order, [(3,)])
        outcome = solved(instance)
        winner = next(i for i, app in enumerate(order) if app.label == "b")
        assert outcome.solution.bundles[winner] == ((0, 2),)
        assert outcome.metrics["exact"] == 1.0
        assert outcome.metrics["compared_exactly"] >= 1


@st.composite
def near_ties(draw):
    """Auctions whose values are whole numbers but for a few parts in 10^13: logarithms cannot tell them apart."""
    nudges = st.integers(-3, 3).map(lambda k: 1 + F(k, 10**13))
    apps = [
        AppBid.from_rows(
            f"a{i}",
            [
                (k, level, k * draw(nudges))
                for k in range(1, draw(st.integers(2, 4)))
                for level in draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=2, unique=True))
            ],
        )
        for i in range(draw(st.integers(2, 4)))
    ]
    sizes = st.lists(st.integers(1, 3), min_size=1, max_size=2)
    return cases.auction(apps, draw(st.lists(sizes, min_size=1, max_size=2)))


@pytest.mark.parametrize("form", ["nested_flow", "places"])
@settings(max_examples=40)
@given(instance=near_ties())
def test_payments_of_near_ties_are_exact(form, instance):
    outcome = exact(instance, Controls(), form=form)
    served, product, _ = cases.enumerate_best(instance)
    values = values_of(instance, outcome.solution)
    assert (sum(map(bool, values)), math.prod((v for v in values if v), start=F(1))) == (served, product)
    shares = enumerated_shares(instance, outcome.solution)
    assert outcome.solution.payments == tuple((share, share) for share in shares)
    assert outcome.metrics["exact"] == 1.0


@pytest.mark.parametrize("form", ["nested_flow", "places"])
@settings(max_examples=40)
@given(instance=near_ties())
def test_payments_of_near_ties_that_are_not_compared_are_intervals_that_hold_them(form, instance):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"gangopt.solvers.auction.{'master' if form == 'nested_flow' else 'ties'}.MOST_NEAR", 0)
        outcome = exact(instance, Controls(), form=form)
    assert outcome.termination == "optimal"
    shares = enumerated_shares(instance, outcome.solution)
    wide = 0
    for (low, high), share in zip(outcome.solution.payments, shares, strict=True):
        assert low <= share <= high
        assert high - low < 1e-6
        wide += low < high
    assert not wide or "more than" in outcome.reason
    assert not wide or outcome.metrics["exact"] == 0.0


@pytest.mark.parametrize("form", ["nested_flow", "places"])
def test_an_app_that_costs_others_three_parts_in_ten_trillion_pays_them(form):
    # with both GPUs the other would have 1 + 3e-13, with one of them it has 1: c = 1 / (1 + 3e-13), of one GPU
    cost = 1 + F(3, 10**13)
    winner = AppBid.from_rows("winner", [(1, "cluster", F(1))])
    other = AppBid.from_rows("other", [(1, "cluster", F(1)), (2, "cluster", cost)])
    solution = exact(cases.auction([winner, other], [(2,)]), Controls(), form=form).solution
    assert solution.payments == ((1 / cost, 1 / cost), (F(1), F(1)))


@pytest.mark.parametrize("form", ["nested_flow", "places"])
def test_exact_ties_in_great_number_are_compared_by_their_products(form):
    # any 4 of 8 apps, unlike in demand, take the second GPU: 70 allocations of one product
    apps = [AppBid.from_rows(f"a{i}", [(1, "cluster", 1), (2, "cluster", 2), (9, "cluster", 2 + i)]) for i in range(8)]
    outcome = exact(cases.auction(apps, [(12,)]), Controls(), form=form)
    assert (outcome.termination, outcome.metrics["exact"]) == ("optimal", 1.0)
    assert all(low == high for low, high in outcome.solution.payments)


@pytest.mark.parametrize(("form", "module"), [("nested_flow", "master"), ("places", "ties")])
def test_ties_that_cannot_all_be_compared_are_admitted(form, module, monkeypatch):
    monkeypatch.setattr(f"gangopt.solvers.auction.{module}.MOST_NEAR", 0)
    nudge = F(10**10 + 1, 10**10)
    a = AppBid.from_rows("a", [(1, "machine", F(1)), (2, "machine", F(2))])
    b = AppBid.from_rows("b", [(1, "machine", F(1)), (2, "machine", F(2) * nudge)])
    assert exact(cases.auction([a, b], [(3,)]), Controls(), form=form).metrics["exact"] == 0.0


def test_exclusion_rows_by_hand():
    rows = Exclusion.of([Seen((((0,), 1, 1), ((1, 3), 0, 2), ((2, 4), 1, 3)))], 5)
    assert rows.switches == 1
    assert rows.matrix.toarray().tolist() == [[0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, -2]]
    assert rows.lower.tolist() == [1.0, 0.0]


def test_identical_apps_share_one_program():
    outcome = exact(lying(), Controls())
    assert outcome.metrics["programs"] <= 6


def test_outcomes_that_counting_cannot_tell_apart_are_ordered():
    # 4 GPUs for two gangs of 2, but only one machine of 2: every allocation serves one at most
    apps = [AppBid.from_rows(name, [(2, "machine", value)]) for name, value in (("a", 1), ("b", 2))]
    instance = cases.auction(apps, [(1, 1, 2)])
    assert instance.servable == 2
    rows = {row.method: row for row in gangopt.compare([instance], ["exact", "max_min_rho", "drf", "random"]).rows}
    assert rows["exact"].proven
    assert rows["exact"].best
    assert rows["exact"].metrics["served"] == 1
    assert gangopt.solve(instance).solution.bundles == ((), ((2, 2),))
    worse = AuctionSolution((((2, 2),), ()))
    nobody = AuctionSolution(((), ()))
    scores = [instance.evaluate(item).objective for item in (nobody, worse, gangopt.solve(instance).solution)]
    assert scores == sorted(set(scores))
    for name in ("drf", "random"):
        assert not rows[name].proven or rows[name].objective == rows["exact"].objective
    assert not rows["drf"].best


@pytest.mark.parametrize("form", ["nested_flow", "places"])
def test_values_within_the_tolerance_of_each_other_end_as_optimal(form):
    rows = [(k, "machine", F(999_999_999_997 + k, 250_000_000_000)) for k in range(1, 5)]
    instance = cases.auction([AppBid.from_rows("a", rows)], [(3, 3)])
    result = gangopt.solve(instance, f"exact?form={form}")
    assert (result.termination, result.solution_status) == ("optimal", "optimal")
    assert result.rel_gap <= 1e-9


def large_machines(apps=6, held=()):
    """Apps with rows of 5 to 30 GPUs on machines of 60 and 80: places are few, ways to cut them many."""
    bids = [
        AppBid.from_rows(
            f"a{i}",
            [
                (k, level, F(10 * k + i, 3 + 2 * at))
                for k in range(5 + i, 31, 4 + i % 3)
                for at, level in enumerate(LEVELS)
            ],
            held=held if i == 0 else (),
        )
        for i in range(apps)
    ]
    return cases.auction(bids, [(60, 80)])


@pytest.mark.parametrize("held", [(), ((1, 2),)])
def test_few_large_machines_are_solved_by_their_places(held):
    result = gangopt.solve(large_machines(held=held), time_limit=60)
    assert (result.termination, result.form) == ("optimal", "places")
    assert result.metrics["payments_proven"] == 6


def test_small_machines_keep_the_form_that_tells_ties_apart():
    for name in ("one-large-machine", "two-apps-two-racks", "random?apps=10&seed=3", "uniform?seed=1"):
        instance = gangopt.load(f"auction/{name}")
        assert not prefers_places(instance, app_columns(instance))


@settings(max_examples=40)
@given(instance=cases.auctions())
def test_places_find_the_same_optimum_and_payments(instance):
    outcome = exact(instance, Controls(), form="places")
    assert outcome.termination == "optimal"
    served, product, _ = cases.enumerate_best(instance)
    values = values_of(instance, outcome.solution)
    assert (sum(map(bool, values)), math.prod((v for v in values if v), start=F(1))) == (served, product)
    shares = enumerated_shares(instance, outcome.solution)
    assert outcome.solution.payments == tuple((share, share) for share in shares)


def test_places_keep_what_is_known_at_a_time_limit():
    instance = large_machines()
    outcome = exact(instance, Controls(time_limit=1e-9), form="places")
    assert outcome.termination == "time_limit"
    assert instance.check(outcome.solution) == []
    assert not outcome.solution.payments


def test_places_without_payments():
    assert not exact(large_machines(), Controls(), payments=False).solution.payments


def test_places_that_the_solver_cannot_solve_are_an_error(monkeypatch):
    def refuse(model, settings, **_):
        return dataclasses.replace(solve_model(model, settings), termination="infeasible", message="no")

    monkeypatch.setattr("gangopt.solvers.highs.solve_model", refuse)
    with pytest.raises(SolverError, match="formulation places ended as infeasible: no"):
        exact(large_machines(), Controls())


@pytest.mark.parametrize("first", [2, 3])
def test_payments_of_places_stay_intervals_once_interrupted(first, monkeypatch):
    calls = []

    def interrupt(model, settings, **_):
        calls.append(model)
        found = solve_model(model, settings)
        return dataclasses.replace(found, termination="interrupted") if len(calls) >= first else found

    monkeypatch.setattr("gangopt.solvers.highs.solve_model", interrupt)
    outcome = exact(large_machines(), Controls())
    assert (outcome.termination, len(calls)) == ("interrupted", first)
    # the second solve compares near ties of the allocation: without it there are no payments
    assert outcome.solution.payments[1:] == (((F(0), F(1)),) * 5 if first == 3 else ())


def test_a_payment_that_the_solver_cannot_prove_stays_an_interval(monkeypatch):
    calls = []

    def fail(model, settings, **_):
        calls.append(model)
        found = solve_model(model, settings)
        return dataclasses.replace(found, termination="error", bound=None) if len(calls) == 3 else found

    monkeypatch.setattr("gangopt.solvers.highs.solve_model", fail)
    outcome = exact(large_machines(), Controls())
    assert (outcome.termination, len(calls)) == ("error", 13)
    assert sum(low < high for low, high in outcome.solution.payments) == 1
    assert outcome.bound is not None


@pytest.mark.parametrize("seed", range(4))
def test_places_and_nested_flow_prove_one_product(seed):
    instance = uniform(racks=2, machines=2, gpus=4, apps=5, largest=4, seed=seed)
    places, flow = (exact(instance, Controls(), form=form) for form in ("places", "nested_flow"))
    assert (places.termination, flow.termination) == ("optimal", "optimal")
    assert product_of(instance, places.solution) == product_of(instance, flow.solution)
