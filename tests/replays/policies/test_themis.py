"""THEMIS in replays: rounds computed by hand, apps of many jobs and phases, and agreement with the rounds alone."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError, NoSolutionError
from gangopt.replays.costs import Overheads
from gangopt.replays.policies.themis import themis
from gangopt.replays.policies.themis_apps import apps_of
from gangopt.replays.state import State
from gangopt.solvers.auction.arbiter import Offer
from gangopt.solvers.themis.rounds import RoundSettings, run_rounds
from gangopt.solvers.themis.rounds_apps import Crowd, SingleJobApp
from gangopt.topology import PRIORS, Cluster, MachineGroup, Slowdown


def workload(*rows, **columns):
    arrival, gpus, duration = zip(*rows, strict=True)
    ids = [f"j{number}" for number in range(len(rows))]
    return gangopt.Workload.from_columns({"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration, **columns})


def machines(*sizes):
    return Cluster.from_groups([MachineGroup(1, size, name=f"g{number}") for number, size in enumerate(sizes)])


def starts(played, job):
    return played.events().filter(job=job, event="start")["time"].to_list()


TWO = workload((0, 4, 1000), (0, 4, 1000))


def test_one_bidder_a_round_lets_two_apps_take_turns_of_a_lease():
    # both claim infinity at first, the lower index wins; at 600 and 1200 the one without GPUs is the only bidder
    played = gangopt.replay(TWO, machines(2, 2), "themis?f=0.8")
    assert starts(played, 0) == [0, 1200]
    assert starts(played, 1) == [600, 1600]
    assert played.end.tolist() == [1600, 2000]
    # N_avg of j1 is (2 * 1600 + 400) / 2000
    assert played.rho.tolist() == pytest.approx([1600 / 2000, 2000 / 1800])


def test_all_apps_share_when_all_bid():
    played = gangopt.replay(TWO, machines(2, 2), "themis?f=0&payments=false")
    assert played.end.tolist() == [2000, 2000]
    assert played.starts.tolist() == [1, 1]


def test_payments_leave_gpus_idle_when_all_bid():
    # each wins two, but halves the value of the other and keeps c = 1/2 of them; later c is below 1: one is kept
    played = gangopt.replay(TWO, machines(2, 2), "themis?f=0")
    assert played.end.tolist() == [4000, 4000]
    assert played.service.tolist() == [4000, 4000]


def test_an_app_that_arrives_within_a_lease_waits_for_its_end():
    played = gangopt.replay(workload((0, 2, 1000), (100, 2, 1000)), machines(2), "themis")
    assert starts(played, 1) == [600, 1600]
    assert played.end.tolist() == [1600, 2000]


def test_an_app_that_arrives_is_offered_free_gpus_at_once():
    played = gangopt.replay(workload((0, 2, 1000), (100, 2, 1000)), machines(2, 2), "themis")
    assert played.end.tolist() == [1000, 1100]


def test_who_has_waited_longest_comes_first():
    played = gangopt.replay(workload(*[(0, 1, 1000)] * 3), machines(1), "themis")
    assert [starts(played, job) for job in range(3)] == [[0, 1800], [600, 2200], [1200, 2600]]
    assert played.end.tolist() == [2200, 2600, 3000]


@pytest.mark.parametrize("lease", [600, 50])
def test_the_lease_is_how_long_a_round_lasts(lease):
    played = gangopt.replay(workload((0, 1, 100), (0, 1, 100)), machines(1), f"themis?lease={lease}")
    # a lease ends with its app: j1 never waits until 600
    assert played.end.tolist() == ([100, 200] if lease == 600 else [150, 200])


def test_an_app_splits_its_gpus_so_that_the_longest_job_ends_first():
    # 2000 GPU s on two, 1000 GPU s on one
    played = gangopt.replay(workload((0, 2, 1000), (0, 2, 500), app=["a", "a"]), machines(3), "themis")
    assert played.end.tolist() == [1000, 1000]
    assert played.service.tolist() == [2000, 1000]


def test_jobs_beyond_the_gpus_of_their_app_follow_by_length():
    played = gangopt.replay(workload((0, 1, 100), (0, 1, 300), (0, 1, 200), app=["a"] * 3), machines(2), "themis")
    assert played.first_start.tolist() == [200, 0, 0]
    assert played.end.tolist() == [300, 300, 200]
    assert played.starts.tolist() == [1, 1, 1]


def test_a_job_keeps_its_gpus_when_another_of_its_app_ends():
    jobs = workload((0, 2, 1000), (0, 2, 500), app=["a", "a"])
    assert gangopt.replay(jobs, machines(2, 2), "themis?lease=300").starts.tolist() == [1, 1]


def test_phases_follow_each_other_and_have_a_round_at_once():
    jobs = workload((0, 2, 1000), (0, 2, 500), (0, 4, 300), app=["a"] * 3, phase=[0, 0, 1])
    played = gangopt.replay(jobs, machines(2, 2), "themis")
    assert played.end.tolist() == [1000, 500, 1300]
    # 4200 GPU s on four GPUs; two of them are idle while the second job of phase 0 runs alone
    assert played.rho.tolist() == [1300 / 1050]


def test_gpus_that_an_app_no_longer_uses_are_offered_when_its_lease_ends():
    jobs = workload((0, 2, 1000), (0, 2, 600), (0, 2, 100), app=["a", "a", "b"])
    played = gangopt.replay(jobs, machines(2, 2), "themis?lease=700")
    # b alone bids at 700; what it leaves over is a gift to a, whose first job goes on
    assert starts(played, 2) == [700]
    assert played.end.tolist() == [1000, 600, 800]


def test_an_app_takes_no_gpus_that_would_not_let_it_end_earlier():
    # with a third GPU its second job ends with the first one, a fourth changes nothing: b is given it
    jobs = workload((0, 2, 1000), (0, 2, 500), (0, 2, 100), app=["a", "a", "b"])
    played = gangopt.replay(jobs, machines(2, 2), "themis")
    assert played.service.tolist() == [2000, 1000, 200]
    assert played.end.tolist() == [1000, 1000, 200]


def test_an_app_keeps_its_lease_until_its_next_phase_comes():
    jobs = workload((0, 2, 100), (0, 2, 2000), (1000, 2, 100), app=["a", "b", "a"], phase=[0, 0, 1])
    played = gangopt.replay(jobs, machines(2), "themis")
    # b follows at 600 and makes room at 1200, and is alone from 1300 on with 1400 s to go
    assert starts(played, 1) == [600, 1300]
    assert played.end.tolist() == [100, 2700, 1300]


def test_bids_tell_what_spreading_costs():
    # 4000 GPU s: 2000 s on the two of one machine, 3000 s on all four
    jobs = workload((0, 4, 1000), network_intensive=[True])
    costs = Overheads(slowdowns={"rack": 3.0, "cluster": 3.0}, sensitive_only=True)
    assert gangopt.replay(jobs, machines(2, 1, 1), "themis", overheads=costs).end.tolist() == [2000]
    jobs = workload((0, 4, 1000), network_intensive=[False])
    assert gangopt.replay(jobs, machines(2, 1, 1), "themis", overheads=costs).end.tolist() == [1000]


def test_a_replay_repeats_itself():
    jobs = gangopt.Workload.load("workload/themis-2?apps=2&seed=5")
    first, again = (gangopt.replay(jobs, "themis-testbed", "themis?lease=7200", seed=3) for _ in range(2))
    assert first.events().equals(again.events())
    policy = themis(lease=7200.0)
    assert gangopt.replay(jobs, "themis-testbed", policy, seed=3).events().equals(first.events())


def test_gifts_follow_the_seed():
    jobs = workload(*[(0, 1, 1000)] * 8)
    ends = {tuple(gangopt.replay(jobs, machines(2), "themis", seed=seed).end.tolist()) for seed in range(4)}
    assert len(ends) > 1


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("themis?f=1.5", "fairness must be from 0 to 1 (got 1.5)"),
        ("themis?lease=0", "lease must be > 0 seconds (got 0.0)"),
        ("themis?rounding=up", "themis?rounding=up: rounding must be floor or value or random (got up)"),
    ],
)
def test_wrong_arguments_are_refused(policy, message):
    with pytest.raises(InputError) as caught:
        gangopt.replay(TWO, machines(2, 2), policy)
    assert message in str(caught.value)


@pytest.mark.parametrize("policy", ["themis", themis()], ids=["name", "object"])
def test_a_number_of_gpus_is_refused(policy):
    with pytest.raises(InputError, match="policy themis requires a cluster with machines"):
        gangopt.replay(TWO, 4, policy)


def test_payments_that_take_all_end_the_replay():
    jobs = workload((0, 2, 1000), (0, 2, 1000))
    with pytest.raises(
        NoSolutionError, match=r"policy themis at 119400 s: payments took every GPU in 200 .* rounding=random"
    ):
        gangopt.replay(jobs, machines(2), "themis?f=0")
    assert (gangopt.replay(jobs, machines(2), "themis?f=0&rounding=random").end > 2000).all()


def waiting_apps(jobs, cluster):
    state = State(jobs, cluster, len(cluster.gpus), 0)
    state.now = 0.0
    state.submit(np.arange(len(jobs)))
    crowd = Crowd()
    apps, _ = apps_of(state, crowd)
    for app in apps:
        crowd.arrive(app.label, 0.0)
    return apps


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 50)), min_size=1, max_size=4),
    st.integers(0, 6),
)
def test_no_other_split_ends_earlier(rows, spare):
    jobs = workload(*[(0, gpus, seconds) for gpus, seconds in rows], app=["a"] * len(rows))
    (app,) = waiting_apps(jobs, machines(8, 8))
    gpus = len(rows) + spare
    found = app.split(gpus)
    longest = max(Fraction(size * seconds, found[job]) for job, (size, seconds) in enumerate(rows))
    best = min(
        max(Fraction(size * seconds, k) for (size, seconds), k in zip(rows, split, strict=True))
        for split in itertools.product(*(range(1, size + 1) for size, _ in rows))
        if sum(split) <= gpus
    )
    assert longest == best
    assert app.rho(0.0, tuple(range(gpus))) * app._ideal(0.0) == pytest.approx(float(best))


def test_jobs_that_outnumber_the_gpus_take_turns():
    (app,) = waiting_apps(workload((0, 1, 30), (0, 1, 20), (0, 1, 20), app=["a"] * 3), machines(4))
    ideal = app._ideal(0.0)
    # all work over the three GPUs that the app can use
    assert ideal == pytest.approx(70 / 3)
    assert [app.rho(0.0, tuple(range(k))) * ideal for k in (1, 2, 3)] == pytest.approx([70, 35, 30])


def test_a_bid_is_the_table_of_what_is_on_offer():
    jobs = workload((0, 4, 1000), (0, 1, 10), network_intensive=[True, False])
    cluster = machines(2, 2)
    app, other = waiting_apps(jobs, cluster)
    bid = app.bid(Offer(0.0, cluster, (1, 2, 3), (0,)))
    # two apps are present: T_id = 2000 s, and 4000 GPU s are to be done
    assert [float(bid.at(0, k)) for k in (1, 2, 3)] == pytest.approx([1.0, 1.5, 2.0])
    assert float(bid.value_at_zero) == pytest.approx(0.5)
    assert bid.held == ((0, 1),)
    assert (app.demand(0.0, (0,)), other.demand(0.0, ())) == (3, 1)
    assert app.rho(0.0, ()) == math.inf
    assert other.bid(Offer(0.0, cluster, (1,), ())).value_at_zero == 0


def test_work_of_later_phases_counts():
    # 100 s of phase 0 on one GPU, then 400 GPU s on up to four
    jobs = workload((0, 1, 100), (0, 4, 100), app=["a", "a"], phase=[0, 1])
    state = State(jobs, machines(4), 4, 0)
    state.now = 0.0
    state.submit(np.array([0]))
    crowd = Crowd()
    ((app,), _) = apps_of(state, crowd)
    crowd.arrive(app.label, 0.0)
    assert [app.rho(0.0, tuple(range(k))) * 500 / 4 for k in (1, 2, 4)] == pytest.approx([500, 300, 200])
    assert app.demand(0.0, ()) == 1


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("slowdown", [Slowdown(1.0, 1.0, 1.0, 1.0), PRIORS], ids=["none", "priors"])
def test_apps_of_one_job_fare_as_in_the_rounds_alone(seed, slowdown):
    generator = np.random.default_rng(seed)
    arrival = np.cumsum(generator.exponential(300.0, 6))
    gpus, duration = generator.integers(1, 9, 6), generator.exponential(3000.0, 6) + 60.0
    cluster = Cluster.from_groups([MachineGroup(2, 4, name="large"), MachineGroup(2, 2, name="small")])
    f, lease = [0.0, 0.5, 0.8][seed % 3], [600.0, 1200.0][seed % 2]
    jobs = workload(*zip(arrival.tolist(), gpus.tolist(), duration.tolist(), strict=True))
    costs = Overheads(slowdowns={level: slowdown.at(level) for level in ("machine", "rack", "cluster")})
    policy = themis(f=f, lease=lease, rounding="random")
    played = gangopt.replay(jobs, cluster, policy, overheads=costs, seed=seed)
    apps = [
        SingleJobApp(f"j{i}", float(arrival[i]), float(gpus[i] * duration[i]), int(gpus[i]), slowdown=slowdown)
        for i in range(6)
    ]
    alone = run_rounds(apps, cluster, RoundSettings(f, lease, "random"), seed=seed)
    assert played.end.tolist() == pytest.approx([alone.ends[f"j{i}"] for i in range(6)])
    assert played.rho.tolist() == pytest.approx([alone.rho[f"j{i}"] for i in range(6)])
    assert played.service.sum() == pytest.approx(alone.gpu_seconds)
