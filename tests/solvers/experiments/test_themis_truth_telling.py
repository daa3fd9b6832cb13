"""Truth-telling in THEMIS's auction: the rounds by hand, and the shape that the paper reports."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gangopt.errors import InputError
from gangopt.instances.auction_solution import AuctionSolution
from gangopt.solvers.experiments.themis_truth_telling import MACHINES, Setting, completion_times, themis_truth_telling

FREE = (Fraction(1), Fraction(1))


class Recorder:
    """An auctioneer that gives the first bidder the 8-GPU machine, every other app two GPUs, and notes the auctions."""

    def __init__(self):
        self.auctions = []

    def __call__(self, auction, _seed):
        self.auctions.append(auction)
        assert auction.offered.tolist() == list(MACHINES)
        bidders = len(auction.apps)
        bundles = tuple(((0, 8),) if i == 0 else ((i, 2),) for i in range(bidders))
        gifts = tuple(((bidders + b, 2),) for b in range(len(auction.bystanders)))
        outcome = AuctionSolution(bundles, (FREE,) * bidders, (), gifts)
        assert auction.check(outcome) == []
        return outcome


def test_rounds_by_hand():
    hold = Recorder()
    setting = Setting(apps=2, demand=8, work=100.0, across=1.3, fairness=0.5, lease=10.0)
    found = completion_times("spread", 0, setting, 0, hold)
    # one of two bids: app 0 first, which has 80 of 100 done by 10 min; app 1 has 20 done and, with 80 left at 2 GPUs,
    # the greater rho, so it bids next, gets 8 GPUs and ends at 10 + 10 min; app 0 ends its 20 on two GPUs then, too
    assert [[app.label for app in auction.apps] for auction in hold.auctions] == [["app0"], ["app1"]]
    assert [[item.label for item in auction.bystanders] for auction in hold.auctions] == [["app1"], ["app0"]]
    assert found == {"liar": 20.0, "truthful": 20.0, "liar_share": 1.0, "truthful_share": 1.0}
    # T_id is 100 / 8 x 2 = 25 min; in the second round 10 of them are over and 80 / 25 are left
    bid = hold.auctions[1].apps[0]
    assert 1 / bid.at(0, 8) == Fraction(10, 25) + Fraction(80, 25) / 8
    assert 1 / bid.at(2, 8) == Fraction(10, 25) + Fraction(80, 25) * Fraction(13, 10) / 8


@pytest.mark.parametrize(
    ("kind", "dense", "spread"),
    [("spread", Fraction(1), Fraction(13, 10) * 2), ("dense", Fraction(0.01), Fraction(13, 10))],
)
def test_the_liar_misreports_one_slowdown(kind, dense, spread):
    hold = Recorder()
    completion_times(kind, 100, Setting(apps=1, demand=16, work=1000.0), 0, hold)
    bid = hold.auctions[0].apps[0]
    ideal = Fraction(1000, 16)
    work = 1000 / ideal
    assert 1 / bid.at(0, 8) == pytest.approx(float(work * dense / 8))
    assert 1 / bid.at(2, 16) == pytest.approx(float(work * spread / 16))


@pytest.mark.parametrize(("fairness", "bidders"), [(0.0, 8), (0.8, 2), (0.9, 1), (1.0, 1), (0.5, 4)])
def test_bidders_of_a_round(fairness, bidders):
    assert Setting(fairness=fairness).bidders == bidders


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apps": 0}, "apps: 0, a whole number from 1 to 64"),
        ({"demand": 65}, "demand: 65, a whole number from 1 to 64"),
        ({"work": 0.0}, "work: 0.0, a number above 0"),
        ({"lease": -1.0}, "lease: -1.0, a number above 0"),
        ({"across": 0.9}, "across: 0.9, a number from 1 to 100"),
        ({"fairness": 1.5}, "fairness: 1.5, a number from 0 to 1"),
        ({"rounding": "up"}, "unknown rounding 'up'; known: floor, value, random"),
    ],
)
def test_settings_that_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        Setting(**change)


def test_other_bad_input():
    with pytest.raises(InputError, match="X = 101 %, 0 to 100 is allowed"):
        themis_truth_telling([101])
    with pytest.raises(InputError, match="unknown lie 'white'; known: spread, dense"):
        themis_truth_telling([0], ["white"])
    with pytest.raises(InputError, match="0 runs, 1 to 1000 are allowed"):
        themis_truth_telling([0], seeds=0)
    with pytest.raises(InputError, match=r"lease: 0\.001 min, a run takes more than 2,000 rounds"):
        completion_times("dense", 0, Setting(work=1000.0, lease=0.001), 0, Recorder())
