"""Rounds to completion, leases, and the single-job app's bids by equation 1."""

import math
from fractions import Fraction

import pytest

from gangopt.base.errors import InputError, NoSolutionError
from gangopt.solvers.auction.arbiter import Offer
from gangopt.solvers.themis.rounds import Leases, RoundSettings, hold_round, run_rounds
from gangopt.solvers.themis.rounds_apps import Crowd, SingleJobApp
from gangopt.topology import Cluster, MachineGroup, Slowdown

FLAT = Slowdown(1, 1, 1, 1)


def cluster(machines=2, gpus=4):
    return Cluster.uniform(machines_per_rack=machines, gpus_per_slot=gpus)


def joined(app, place=None):
    crowd = Crowd()
    crowd.arrive(app.label, app.arrival)
    app.join(place or cluster(), crowd)
    return app


def test_the_crowd_is_averaged_over_time():
    crowd = Crowd()
    crowd.arrive("a", 0)
    assert crowd.average("a", 0) == 1
    crowd.arrive("b", 10)
    crowd.leave(40)
    assert crowd.average("a", 60) == pytest.approx((10 + 60 + 20) / 60)
    assert crowd.average("b", 40) == 2


def test_rho_is_that_of_equation_1():
    app = joined(SingleJobApp("a", 100.0, 800.0, 4))
    # T_id = 800 / 4 x 1
    assert app.rho(100.0, (0, 1, 2, 3)) == pytest.approx(1.0)
    assert app.rho(300.0, (0, 4)) == pytest.approx((200 + 800 * 1.1 / 2) / 200)
    assert app.rho(300.0, ()) == math.inf
    assert app.final_rho(400.0) == pytest.approx(1.5)


def test_a_bid_has_the_values_of_what_is_held_and_won_together():
    app = joined(SingleJobApp("a", 0.0, 800.0, 4))
    bid = app.bid(Offer(100.0, app.cluster, (1, 4, 5), (0,)))
    table = {(k, level): value for k, level, value in zip(bid.gpus, bid.levels, bid.values, strict=True)}
    assert table[1, 0] == Fraction(200 / (100 + 800 / 2))
    assert table[3, 1] == Fraction(200 / (100 + 800 * 1.1 / 4))
    assert max(k for k, _ in table) == 3
    assert bid.held == ((0, 1),)
    assert bid.value_at_zero == Fraction(1.0 / app.rho(100.0, (0,)))
    alone = app.bid(Offer(100.0, app.cluster, (0,), ()))
    assert set(alone.values) == {Fraction(200 / 900)}  # one GPU is in one machine, whatever the level says
    spread = app.bid(Offer(100.0, app.cluster, (1,), (0, 4)))
    assert set(spread.levels) == {1, 2}


def test_bids_say_what_the_app_tells_and_work_is_what_it_is():
    liar = joined(SingleJobApp("a", 0.0, 800.0, 4, told_slowdown=Slowdown(1, 1, 2, 2), work_error=0.5))
    assert liar.rho(0.0, (0, 4)) == pytest.approx((800 * 0.5 * 2 / 2) / (0.5 * 200))
    assert liar.rate((0, 4)) == pytest.approx(2 / 1.1)


def test_a_restart_costs_its_seconds_once():
    app = joined(SingleJobApp("a", 0.0, 100.0, 2, FLAT, restart=30.0))
    app.moved()
    assert app.seconds_left((0, 1)) == pytest.approx(80)
    app.advance(20.0, (0, 1))
    assert app.left == 100
    app.advance(20.0, (0, 1))
    assert app.left == pytest.approx(80)
    assert app.seconds_left((0, 1)) == pytest.approx(40)
    assert app.seconds_left(()) == math.inf


def test_leases_end_and_are_granted_again():
    leases = Leases()
    leases.grant("a", (0, 1), 10.0)
    leases.grant("b", (2,), 20.0)
    assert leases.held(5.0) == {"a": (0, 1), "b": (2,)}
    assert leases.held(10.0) == {"b": (2,)}
    assert leases.free(4, 10.0) == (0, 1, 3)
    assert leases.next_end() == 10.0
    leases.end((0, 1))
    assert (leases.of("a"), leases.next_end()) == ((), 20.0)


def test_a_round_leaves_running_leases_alone():
    place = cluster()
    apps = [SingleJobApp("a", 0.0, 1e4, 4, FLAT), SingleJobApp("b", 0.0, 1e4, 8, FLAT)]
    crowd = Crowd()
    for app in apps:
        crowd.arrive(app.label, 0.0)
        app.join(place, crowd)
    leases = Leases()
    leases.grant("a", (0, 1), 100.0)
    leases.grant("b", (4, 5), 10.0)
    found = hold_round(place, apps, leases, 10.0, RoundSettings(fairness=0.0, lease=50.0))
    assert found.offered == (2, 3, 4, 5, 6, 7)
    assert {0, 1} <= set(leases.of("a"))
    granted = {gpu for gpus in found.won.values() for gpu in gpus}
    assert granted <= set(found.offered)
    assert leases.held(10.0)["a"][:2] == (0, 1)
    assert leases.held(59.0)
    assert "b" not in leases.held(60.0)


def test_who_has_waited_longest_bids_first():
    # four equal apps, one machine, one bidder a round and no use for what is left: they take turns
    apps = [SingleJobApp(name, 0.0, 4 * 1200.0, 4, FLAT) for name in "abcd"]
    place = Cluster.uniform(machines_per_rack=1, gpus_per_slot=4)
    done = run_rounds(apps, place, RoundSettings(fairness=1.0, lease=600.0))
    assert [r.bidders for r in done.rounds[:4]] == [("a",), ("b",), ("c",), ("d",)]
    leases = Leases()
    leases.arrive("a", 3.0)
    assert leases.waiting("a", 10.0) == 7.0
    leases.grant("a", (0,), 20.0)
    assert (leases.waiting("a", 15.0), leases.waiting("a", 26.0)) == (0.0, 6.0)


def test_one_app_runs_as_if_alone():
    done = run_rounds([SingleJobApp("a", 5.0, 8000.0, 8, FLAT)], cluster())
    assert done.ends == {"a": pytest.approx(1005.0)}
    assert done.rho == {"a": pytest.approx(1.0)}
    assert done.gpu_seconds == pytest.approx(8000.0)
    assert len(done.rounds) == 2  # a second lease after 600 s


def test_an_app_keeps_the_gpus_that_it_wins_again():
    app = SingleJobApp("a", 0.0, 4 * 1300.0, 4, FLAT, restart=50.0)
    done = run_rounds([app], cluster(), RoundSettings(lease=600.0))
    assert done.ends["a"] == pytest.approx(1350.0)  # it is started once, not thrice
    assert len({tuple(r.won["a"]) for r in done.rounds}) == 1


def crowd_of_apps(number=6, **options):
    return [
        SingleJobApp(f"a{i}", 300.0 * i, 3000.0 * (1 + i % 3), (2, 4, 8)[i % 3], restart=20.0, **options)
        for i in range(number)
    ]


@pytest.mark.parametrize("fairness", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("rounding", ["floor", "random"])
def test_all_apps_end_and_no_gpu_is_leased_twice(fairness, rounding):
    place = Cluster.from_groups([MachineGroup(2, 4), MachineGroup(2, 2)])
    leased = []

    def watch(found):
        granted = [gpu for gpus in (*found.won.values(), *found.given.values()) for gpu in gpus]
        assert len(granted) == len(set(granted))
        assert set(granted) <= set(found.offered)
        assert set(found.won) <= set(found.bidders)
        assert not set(found.given) & set(found.bidders)
        leased.append(found)

    apps = crowd_of_apps()
    done = run_rounds(apps, place, RoundSettings(fairness=fairness, rounding=rounding), on_round=watch)
    assert set(done.ends) == {app.label for app in apps}
    assert all(done.ends[app.label] >= app.arrival + app.work / app.max_gpus for app in apps)
    assert all(app.left == pytest.approx(0.0, abs=1e-6) for app in apps)
    assert tuple(leased) == done.rounds
    assert min(r.now for r in done.rounds) == 0.0


def test_a_run_is_reproducible():
    runs = [run_rounds(crowd_of_apps(), cluster(), RoundSettings(fairness=0.6), seed=4) for _ in range(2)]
    assert runs[0].ends == runs[1].ends
    assert [r.won for r in runs[0].rounds] == [r.won for r in runs[1].rounds]


def test_payments_that_take_all_end_the_run_with_a_reason():
    apps = [SingleJobApp(name, 0.0, 1e5, 1, FLAT) for name in "abc"]
    # three apps that want one GPU of two each: whoever bids pays its whole GPU for the others
    place = Cluster.uniform(machines_per_rack=1, gpus_per_slot=1)
    twin = [SingleJobApp(name, 0.0, 1e5, 2, FLAT) for name in "ab"]
    two = Cluster.uniform(machines_per_rack=1, gpus_per_slot=2)
    assert set(run_rounds(apps, place, RoundSettings(fairness=0.0)).ends) == {"a", "b", "c"}
    with pytest.raises(NoSolutionError, match="no app kept a GPU in 200 rounds"):
        run_rounds(twin, two, RoundSettings(fairness=0.0))
    assert set(run_rounds(twin, two, RoundSettings(fairness=0.0, rounding="random")).ends) == {"a", "b"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"work": 0.0}, r"work must be > 0 \(got 0.0\)"),
        ({"arrival": -1.0}, r"arrival must be >= 0 seconds \(got -1.0\)"),
        ({"restart": math.inf}, r"restart must be >= 0 seconds \(got inf\)"),
        ({"max_gpus": 0}, r"max_gpus must be an integer >= 1 \(got 0\)"),
        ({"work_error": -0.5}, r"work_error must be > 0 \(got -0.5\)"),
    ],
)
def test_a_defective_app_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        SingleJobApp(**({"label": "a", "arrival": 0.0, "work": 1.0, "max_gpus": 1} | change))


def test_defective_rounds_are_refused():
    with pytest.raises(InputError, match=r"fairness must be from 0 to 1 \(got 2\)"):
        RoundSettings(fairness=2)
    with pytest.raises(InputError, match=r"lease must be > 0 seconds \(got 0\)"):
        RoundSettings(lease=0)
    with pytest.raises(InputError, match="have the same label"):
        run_rounds([SingleJobApp("a", 0.0, 1.0, 1)] * 2, cluster())


@pytest.mark.parametrize("lease", [1e-11, 5e-324])
def test_a_lease_that_vanishes_in_the_clock_is_refused(lease):
    app = SingleJobApp("a", 1e6, 100.0, 1)
    with pytest.raises(InputError, match=r"lease=.* at 1e\+06 s: too short to advance the clock"):
        run_rounds([app], cluster(), RoundSettings(lease=lease))


def test_an_arrival_beyond_the_clock_is_refused():
    with pytest.raises(InputError, match=r"app a: arrival must be <= 1e\+12 seconds \(got 1e\+17\)"):
        SingleJobApp("a", 1e17, 100.0, 1)
    late = SingleJobApp("a", 0.0, 100.0, 1)
    late.arrival = float("nan")
    with pytest.raises(InputError, match=r"app a: arrival must be from 0 to 1e\+12 seconds \(got nan\)"):
        run_rounds([late], cluster())
    last = SingleJobApp("a", 1e12, 100.0, 1)
    assert run_rounds([last], cluster()).ends["a"] == 1e12 + 100
