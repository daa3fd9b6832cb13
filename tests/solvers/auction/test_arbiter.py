"""The arbiter: who is asked, what is kept of what was won, who is given the rest."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import AppBid, Bystander
from gangopt.instances.auction.generate import random
from gangopt.solvers.auction.arbiter import (
    allocation_phase,
    give_leftovers,
    hold_auction,
    participants,
    visibility_phase,
)
from gangopt.solvers.auction.rounding import kept_bundle, kept_part
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.themis.rounds import RoundSettings
from gangopt.topology import Cluster
from helpers import auction_cases as cases

F = Fraction


@pytest.mark.parametrize(
    ("fairness", "chosen"),
    [(0, [0, 1, 2, 3, 4]), (0.8, [1]), (0.7, [1, 3]), (0.6, [1, 3]), (1, [1]), (0.5, [1, 3, 4])],
)
def test_the_greatest_rho_bid(fairness, chosen):
    assert participants([1.0, float("inf"), 0.5, 3.0, 2.0], fairness) == chosen


def test_ties_of_rho_go_to_the_lower_index():
    assert participants([2.0, 2.0, 2.0], 0.5) == [0, 1]
    assert participants([], 0.5) == []
    assert participants([float("inf"), 1.0, float("inf")], 1, [5.0, 0.0, 9.0]) == [2]
    with pytest.raises(InputError, match=r"fairness must be from 0 to 1 \(got 1\.5\)"):
        participants([1.0], 1.5)


def test_the_part_kept_has_the_best_locality():
    instance = cases.auction([cases.linear_bid("a", 1, 20)], [(4, 4, 2), (4,)])
    won = ((0, 4), (1, 3), (2, 2), (3, 4))
    assert kept_part(instance, 0, won, 4) == ((0, 4),)  # two machines hold four: the lower index
    assert kept_part(instance, 0, won, 2) == ((2, 2),)  # the machine with the fewest that suffice
    assert kept_part(instance, 0, won, 7) == ((0, 4), (1, 3))
    assert kept_part(instance, 0, won, 11) == ((0, 4), (1, 3), (2, 2), (3, 2))
    assert kept_part(instance, 0, won, 0) == ()
    assert kept_part(instance, 0, won, 13) == won


def test_the_part_kept_joins_what_is_held():
    rows = [(1, "machine", 2), (1, "cluster", 1)]
    holder = AppBid.from_rows("h", rows, held=((1, 1),))
    instance = cases.auction([holder], [(4, 4), (4,)])
    assert kept_part(instance, 0, ((0, 4), (1, 2)), 2) == ((1, 2),)
    assert kept_part(instance, 0, ((0, 4), (1, 1), (2, 4)), 5) == ((0, 4), (1, 1))
    assert kept_part(instance, 0, ((0, 1), (2, 4)), 3) == ((0, 1), (2, 2))


@settings(max_examples=60)
@given(instance=cases.auctions(most_apps=1), data=st.data())
def test_a_part_is_a_part_of_the_right_size(instance, data):
    won = tuple((m, k) for m, k in enumerate(instance.offered.tolist()) if k)
    most = sum(k for _, k in won)
    gpus = data.draw(st.integers(0, most))
    part = kept_part(instance, 0, won, gpus)
    assert sum(k for _, k in part) == gpus
    assert all(0 < k <= dict(won)[m] for m, k in part)
    if not instance.apps[0].held and gpus and any(k >= gpus for _, k in won):
        assert len(part) == 1


def test_floor_is_of_the_exact_product():
    instance = cases.auction([cases.linear_bid("a", 1, 8)], [(8,)])
    generator = np.random.default_rng(0)
    assert kept_bundle(instance, 0, ((0, 8),), F(1), "floor", generator) == ((0, 8),)
    assert kept_bundle(instance, 0, ((0, 8),), F(7, 8), "floor", generator) == ((0, 7),)
    assert kept_bundle(instance, 0, ((0, 8),), F(7, 8) - F(1, 10**30), "floor", generator) == ((0, 6),)
    assert kept_bundle(instance, 0, (), F(1, 2), "floor", generator) == ()


def near_the_whole():
    """The winner of one GPU costs the other app 3e-13 of its value: c is as much below 1."""
    cost = 1 + F(3, 10**13)
    winner = AppBid.from_rows("winner", [(1, "cluster", 1)])
    other = AppBid.from_rows("other", [(1, "cluster", 1), (2, "cluster", cost)])
    return cases.auction([winner, other], [(2,)]), 1 / cost


def test_a_share_just_below_one_takes_the_only_gpu_unless_a_slack_forgives_it():
    instance, share = near_the_whole()
    assert hold_auction(instance).payments[0] == (share, share)
    assert hold_auction(instance).bundles == ((), ((0, 1),))
    assert hold_auction(instance, rounding="value").bundles[0] == ()
    assert hold_auction(instance, rounding="random").bundles[0] == ((0, 1),)
    for rounding in ("floor", "value"):
        assert hold_auction(instance, rounding=rounding, slack=1e-9).bundles[0] == ((0, 1),)
        assert hold_auction(instance, rounding=rounding, slack=2e-13).bundles[0] == ()


def test_a_slack_lets_nobody_keep_more_than_was_won():
    instance = cases.auction([cases.linear_bid(name, 16, 16) for name in "ab"], [(4, 4), (4, 4)])
    plain, slack = hold_auction(instance), hold_auction(instance, slack=0.1)
    assert plain.payments == slack.payments == ((F(13, 22),) * 2,) * 2
    assert [sum(k for _, k in bundle) for bundle in slack.bundles] == [int(F(13, 22) * (1 + F(0.1)) * 8)] * 2
    assert instance.check(slack) == []


@pytest.mark.parametrize("slack", [-1e-9, 0.2, float("nan"), True, "1"])
def test_a_slack_out_of_range_is_refused(slack):
    with pytest.raises(InputError, match=r"slack must be a number from 0 to 0.1 \(got "):
        hold_auction(near_the_whole()[0], slack=slack)
    with pytest.raises(InputError, match="slack must be a number"):
        RoundSettings(slack=slack)


def test_rounds_forgive_what_doubles_round():
    # a second GPU adds nothing to 0.3 but the rounding of 0.1 + 0.2
    winner = AppBid.from_rows("winner", [(1, "cluster", 1)])
    other = AppBid.from_rows("other", [(1, "cluster", 0.3), (2, "cluster", 0.1 + 0.2)])
    instance = cases.auction([winner, other], [(2,)])
    assert hold_auction(instance).bundles[0] == ()
    assert hold_auction(instance, slack=RoundSettings().slack).bundles[0] == ((0, 1),)


def test_value_keeps_what_is_worth_the_share():
    # V = k / (k + 2): half of V(6) = 3/4 is 3/8, V(1) = 1/3, V(2) = 1/2
    instance = cases.auction([cases.linear_bid("a", 2, 8, elapsed=1)], [(8,)])
    generator = np.random.default_rng(0)
    assert kept_bundle(instance, 0, ((0, 6),), F(1, 2), "value", generator) == ((0, 1),)
    assert kept_bundle(instance, 0, ((0, 6),), F(1, 2), "floor", generator) == ((0, 3),)
    assert kept_bundle(instance, 0, ((0, 6),), F(2, 3), "value", generator) == ((0, 2),)


def test_random_keeps_the_share_of_the_value_in_the_mean():
    instance = cases.auction([cases.linear_bid("a", 2, 8, elapsed=1)], [(8,)])
    generator = np.random.default_rng(1)
    values = [
        float(instance.value(0, kept_bundle(instance, 0, ((0, 6),), F(1, 2), "random", generator))) for _ in range(4000)
    ]
    assert set(values) == {1 / 3, 0.5}
    assert np.mean(values) == pytest.approx(3 / 8, abs=0.004)


def test_an_app_with_a_value_of_its_own_cannot_pay_more_than_it_gains():
    bid = cases.linear_bid("a", 1, 4, value_at_zero=F(1, 2))
    instance = cases.auction([bid], [(4,)])
    assert kept_bundle(instance, 0, ((0, 4),), F(1, 100), "value", np.random.default_rng(0)) == ()


def test_leftovers_go_to_those_that_want_them():
    instance = cases.auction(
        [cases.linear_bid("a", 1, 2)],
        [(4, 4)],
        [Bystander(label="b", demand=3), Bystander(label="c", demand=0), Bystander(label="d", demand=2)],
    )
    given = give_leftovers(instance, (((0, 2),),), np.random.default_rng(3))
    assert [sum(k for _, k in bundle) for bundle in given] == [3, 0, 2]
    assert given == give_leftovers(instance, (((0, 2),),), np.random.default_rng(3))
    assert len({give_leftovers(instance, (((0, 2),),), np.random.default_rng(s)) for s in range(20)}) > 1


def test_the_auction_whole():
    instance = cases.auction(
        [cases.linear_bid(name, 16, 16) for name in "ab"], [(4, 4), (4, 4)], [Bystander(label="c", demand=3)]
    )
    outcome = hold_auction(instance)
    assert instance.check(outcome) == []
    assert outcome.bundles == (((0, 4),), ((2, 4),))
    assert sum(k for _, k in outcome.gifts[0]) == 3
    assert instance.evaluate(outcome).metrics["gpus_left_over"] == 5
    free = hold_auction(instance, payments=False, gifts=False)
    assert (free.payments, free.won, free.gifts) == ((), (), ())
    assert free.bundles == outcome.won


def test_without_a_proven_allocation_nobody_keeps_anything():
    class Expired(Controls):
        def remaining(self):
            return 0.0

    instance = random(apps=10, racks=4, seed=0)
    outcome = hold_auction(instance, controls=Expired())
    assert instance.check(outcome) == []
    assert outcome.payments == ((F(0), F(1)),) * 10
    assert outcome.bundles == ((),) * 10
    assert sum(k for bundle in outcome.won for _, k in bundle) > 0


class Stub:
    """An agent with a fixed rho that wants some GPUs of any machine."""

    def __init__(self, label, rho, wants):
        self.label, self._rho, self.wants = label, rho, wants
        self.seen = []

    def rho(self, now, gpus):
        self.rated = gpus
        return self._rho

    def demand(self, now, held):
        return self.wants - len(held)

    def bid(self, offer):
        self.seen.append(offer)
        rows = [(k, "cluster", F(k)) for k in range(1, self.demand(offer.now, offer.held) + 1)]
        return AppBid.from_rows(self.label, rows, len(offer.held))


def small_cluster():
    return Cluster.uniform(machines_per_rack=2, gpus_per_slot=4)


def test_visibility_asks_the_participants_alone():
    agents = [Stub("a", 1.0, 2), Stub("b", 3.0, 4), Stub("c", 2.0, 4), Stub("full", 9.0, 0)]
    seen = visibility_phase(agents, small_cluster(), range(8), {}, now=5.0, fairness=0.5)
    assert [agent.label for agent in seen.bidders] == ["b", "c"]
    assert [agent.label for agent in seen.others] == ["a"]
    assert [len(agent.seen) for agent in agents] == [0, 1, 1, 0]
    assert seen.instance.bystanders == (Bystander(label="a", demand=2),)
    assert agents[1].seen[0].gpus == tuple(range(8))


def test_rho_is_told_with_what_an_app_had_until_now():
    agents = [Stub("a", 1.0, 2), Stub("b", 3.0, 4)]
    seen = visibility_phase(agents, small_cluster(), range(8), {}, now=0.0, before={"a": (5,)})
    assert agents[0].rated == (5,)
    assert agents[1].seen[0].held == ()
    assert [agent.label for agent in seen.bidders] == ["b"]


def test_allocation_hands_out_each_gpu_once_and_first_what_was_had():
    agents = [Stub("a", 1.0, 4), Stub("b", 3.0, 4)]
    cluster = small_cluster()
    seen = visibility_phase(agents, cluster, range(8), {}, now=0.0, fairness=0.0)
    result = allocation_phase(seen, cluster, before={"b": (2, 3)})
    assert sorted(result.won["a"] + result.won["b"]) == list(range(8))
    assert {2, 3} <= set(result.won["b"])
    assert result.given == {}


def test_nothing_to_offer_and_nobody_to_bid():
    cluster = small_cluster()
    full = visibility_phase([Stub("a", 1.0, 0)], cluster, range(8), {}, now=0.0)
    assert full.instance is None
    assert visibility_phase([Stub("a", 1.0, 2)], cluster, [], {}, now=0.0).instance is None
    nothing = allocation_phase(full, cluster)
    assert (nothing.won, nothing.given, nothing.outcome) == ({}, {}, None)


def test_a_small_offer_leaves_other_gpus_alone():
    cluster = small_cluster()
    agents = [Stub("a", 1.0, 4), Stub("b", 2.0, 4)]
    held = {"a": (0, 1)}
    seen = visibility_phase(agents, cluster, (2, 3, 4), held, now=0.0, fairness=0.0)
    assert agents[0].seen[0].held == (0, 1)
    result = allocation_phase(seen, cluster)
    assert set(result.won.get("a", ())) | set(result.won.get("b", ())) <= {2, 3, 4}
