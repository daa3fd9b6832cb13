"""What GPUs can be divided by beside the proven optimum."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import AppBid
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.registry.records import problems
from gangopt.solvers.auction.arbiter import hold_auction
from gangopt.solvers.auction.heuristics import drf, greedy, max_min_rho, proportional, random, themis
from helpers import auction_cases as cases


@settings(max_examples=40)
@given(instance=cases.auctions())
def test_every_rule_is_feasible_and_no_better_than_the_optimum(instance):
    best = gangopt.solve(instance).objective
    for rule in (themis, proportional, greedy, max_min_rho, drf, random):
        solution = rule(instance)
        assert instance.check(solution) == []
        assert instance.evaluate(solution).objective <= best + 1e-12 * abs(best)


def test_without_payments_the_fair_allocation_stays():
    instance = gangopt.load("auction/two-apps-two-racks")
    assert instance.evaluate(proportional(instance)).objective == pytest.approx(5 / 11)
    assert instance.evaluate(themis(instance)).objective == pytest.approx(1 / 4)


def test_roundings_of_the_winner_who_has_begun():
    # c = 4/5 of two GPUs: one by the floor; V = 1/2 won, 2/5 to keep, one GPU is worth 1/3
    instance = gangopt.load("auction/untruthful-elapsed")
    assert themis(instance).bundles[0] == ((0, 1),)
    assert themis(instance, rounding="value").bundles[0] == ((0, 1),)
    kept = {themis(instance, rounding="random", seed=seed).bundles[0] for seed in range(30)}
    assert kept == {((0, 1),), ((0, 2),)}


def test_drf_is_blind_to_places():
    instance = gangopt.load("auction/themis-figure5a")
    assert drf(instance).bundles == (((0, 2), (1, 2)), ((0, 2), (1, 2)))


def test_drf_counts_what_is_held():
    rows = [(k, "cluster", k) for k in range(1, 5)]
    holder = AppBid.from_rows("h", rows, value_at_zero=1, held=((0, 2),))
    instance = cases.auction([holder, AppBid.from_rows("b", rows)], [(4,)])
    assert drf(instance).bundles == (((0, 1),), ((0, 3),))


def test_the_largest_rho_is_lowered_first():
    slow, fast = cases.linear_bid("slow", 12, 8), cases.linear_bid("fast", 4, 8)
    instance = cases.auction([slow, fast], [(8,)])
    assert max_min_rho(instance).bundles == (((0, 6),), ((0, 2),))
    assert greedy(instance).bundles == (((0, 4),), ((0, 4),))


def test_a_gang_is_served_whole():
    gang = AppBid.from_rows("gang", [(4, "rack", 1)])
    instance = cases.auction([cases.linear_bid("a", 1, 1), gang], [(3, 2)])
    solution = greedy(instance)
    assert instance.value(1, solution.bundles[1]) == 1
    assert instance.value(0, solution.bundles[0]) == 1


def test_steps_stay_where_an_app_already_is():
    instance = cases.auction([cases.linear_bid("a", 8, 6), cases.linear_bid("b", 8, 2)], [(4, 4), (4,)])
    bundles = greedy(instance).bundles
    assert {int(instance.machine_rack[m]) for m, _ in bundles[0]} == {0}


def test_random_is_seeded():
    instance = gangopt.load("auction/random?apps=6")
    assert random(instance, seed=1) == random(instance, seed=1) != random(instance, seed=2)


def test_nothing_is_given_beyond_demand():
    instance = cases.auction([cases.linear_bid("a", 8, 2)], [(8,)])
    for rule in (drf, random, greedy, max_min_rho):
        assert sum(k for _, k in rule(instance).bundles[0]) == 2


def test_a_zero_time_limit_is_refused():
    instance = gangopt.load("auction/untruthful-floor")
    with pytest.raises(InputError, match=r"seconds must be > 0 and <= 1e9 \(got 0\)"):
        themis(instance, seconds=0)
    with pytest.raises(InputError, match=r"seconds must be > 0 and <= 1e9 \(got -1\)"):
        proportional(instance, seconds=-1)


def test_the_mean_of_random_is_truthful_where_the_floor_is_not():
    truth = gangopt.load("auction/untruthful-elapsed")
    winner = gangopt.solve(truth).solution
    share, value = winner.payments[0][0], truth.value(0, winner.bundles[0])
    # the winner of the pair ends, in the mean, with what the loser has: nothing is gained by exaggerating
    assert share * value == truth.value(1, winner.bundles[1]) == Fraction(2, 5)


@pytest.mark.parametrize("name", ["themis", "proportional"])
def test_the_time_limit_of_the_call_stops_the_mechanism(name, monkeypatch):
    seen = []

    def note(instance, **options):
        seen.append(options["controls"].time_limit)
        return hold_auction(instance, **options)

    monkeypatch.setattr("gangopt.solvers.auction.heuristics.hold_auction", note)
    gangopt.solve("auction/tied", name, time_limit=5)
    gangopt.solve("auction/tied", f"{name}?seconds=2", time_limit=5)
    gangopt.solve("auction/tied", f"{name}?seconds=2")
    assert 4 < seen[0] <= 5
    assert seen[1:] == [2, 2]


def test_payments_that_are_unknown_are_told():
    result = gangopt.solve("auction/uniform?seed=1", "themis", time_limit=1e-6)
    assert result.reason == "20 of 20 payments are unknown; these apps keep nothing of what they won"
    assert result.seconds.total < 30
    assert gangopt.solve("auction/tied", "themis").reason is None


def test_a_remark_counts_the_payments_in_an_interval():
    half = Fraction(1, 2)
    outcome = AuctionSolution(((), (), ()), payments=((half, 1), (Fraction(0), 1), (half, half)))
    assert outcome.remark == (
        "2 of 3 payments are known only as an interval, 1 of these not at all; such an app keeps the lower end"
    )


def test_a_remark_counts_the_whole_gpus_that_an_interval_leaves_open():
    below = 1 - Fraction(1, 10**8)
    won = (((0, 1),), ((0, 3),), ((1, 2),))
    outcome = AuctionSolution(((), (), ()), ((below, 1), (Fraction(1, 2), Fraction(3, 5)), (below, below)), won)
    assert outcome.remark.endswith(
        "such an app keeps the lower end; for 1 of them the upper end would be at least one more GPU"
    )


def test_a_time_limit_is_the_call_s_and_no_option_of_the_name():
    with pytest.raises(InputError, match="time_limit"):
        gangopt.solve("auction/tied", "themis?time_limit=3")
    assert problems["auction"].method("themis")[0].takes_time_limit()
    assert not problems["auction"].method("drf")[0].takes_time_limit()
