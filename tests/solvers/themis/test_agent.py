"""Agents of apps with tuners: equal tables by rows and by subsets, and rounds to their end."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.apps.app import JobInfo, average_apps, rho_of_single_job
from gangopt.instances.apps.tuners import CurveJob, CurveStopping, HalvingPhase, SuccessiveHalving, halvings
from gangopt.solvers.auction.arbiter import Offer
from gangopt.solvers.themis.agent import TunedApp, bid_rows, subset_rhos
from gangopt.solvers.themis.agent_lengths import lengths_on, total_lengths
from gangopt.solvers.themis.rounds import RoundSettings, run_rounds
from gangopt.solvers.themis.rounds_apps import Crowd, SingleJobApp
from gangopt.topology import LOCALITIES, PRIORS, Cluster, Slowdown, locality

FLAT = Slowdown(1, 1, 1, 1)


def halving(seconds=(80, 100, 100, 120), slowdown=PRIORS, first=2):
    jobs = [JobInfo(f"job{k}", 1, item, 1, slowdown) for k, item in enumerate(seconds)]
    return SuccessiveHalving(jobs, halvings(len(jobs), 8, first))


def curves(slowdown=PRIORS):
    return CurveStopping(
        [CurveJob(JobInfo("a", 100, 10, 2, slowdown), 60), CurveJob(JobInfo("b", 50, 20, 3, slowdown), 40)]
    )


def cluster(racks=2, machines=2, gpus=3):
    return Cluster.uniform(racks=racks, machines_per_rack=machines, gpus_per_slot=gpus)


def joined(app, place=None):
    crowd = Crowd()
    crowd.arrive(app.label, app.arrival)
    app.join(place or cluster(), crowd)
    return app


@st.composite
def tuners(draw):
    sensitivity = st.sampled_from([PRIORS, FLAT, Slowdown(1, 1, 0.9, 1.3), Slowdown(1, 1.2, 2.5, 2.5)])
    seconds = draw(st.lists(st.integers(50, 150), min_size=1, max_size=6))
    jobs = [JobInfo(f"job{k}", 20, item, draw(st.integers(1, 4)), draw(sensitivity)) for k, item in enumerate(seconds)]
    if draw(st.booleans()):
        return CurveStopping([CurveJob(job, draw(st.integers(1, 20))) for job in jobs])
    return SuccessiveHalving(jobs, halvings(len(jobs), 8, draw(st.integers(1, 3))))


@settings(max_examples=40)
@given(tuners(), st.integers(0, 3), st.integers(1, 6), st.sampled_from(["even", "lpt", "exact"]))
def test_rows_and_subsets_value_every_bundle_alike(tuner, held, offered, split):
    place = cluster()
    keeps, gpus = tuple(range(held)), tuple(range(held, held + offered))
    common = {"elapsed": 70.0, "ideal": 900.0, "split": split}
    level = locality(place, keeps) if held else "machine"
    rows = bid_rows(tuner, most=offered, held=held, narrowest="machine" if level == "slot" else level, **common)
    table = {(row.gpus, row.level): row.rho for row in rows}
    seen = 0
    for subset, rho in subset_rhos(tuner, place, gpus, held=keeps, **common):
        if subset:
            where = locality(place, (*keeps, *subset))
            assert rho == table[len(subset), "machine" if where == "slot" else where]
            seen += 1
    assert seen == 2**offered - 1


@settings(max_examples=40)
@given(tuners(), st.integers(1, 9), st.sampled_from(["even", "lpt", "exact"]))
def test_tables_are_those_of_the_decision(tuner, most, split):
    app = joined(TunedApp("a", 0.0, tuner, split=split), Cluster.uniform(machines_per_rack=1, gpus_per_slot=9))
    rows = app.table(Offer(50.0, app.cluster, tuple(range(most)), ()))
    if not rows:
        return
    instance = app.instance(50.0, [(row.gpus, row.level) for row in rows])
    solved = gangopt.solve(instance, split)
    assert [row.rho for row in rows] == pytest.approx([row.rho for row in solved.solution.rows], rel=1e-12)


@settings(max_examples=30)
@given(tuners(), st.integers(1, 12))
def test_all_numbers_at_once_are_each_number_alone(tuner, most):
    phases = tuner.truth()
    together = total_lengths(phases, most)
    offers = list(itertools.product(range(1, most + 1), LOCALITIES))
    for (gpus, level), seconds in zip(offers, lengths_on(phases, offers, "even"), strict=True):
        assert together[LOCALITIES.index(level), gpus - 1] == pytest.approx(math.fsum(seconds), rel=1e-12)


def test_the_worked_example_as_a_bid():
    plan = (HalvingPhase(4, 8, 8), HalvingPhase(2, 16, 8), HalvingPhase(1, 36, 8))
    jobs = [JobInfo(f"job{k}", 1, item, 8, FLAT) for k, item in enumerate((80, 100, 100, 120))]
    place = Cluster.uniform(machines_per_rack=1, gpus_per_slot=16)
    app = joined(TunedApp("a", 0.0, SuccessiveHalving(jobs, plan)), place)
    for other in "bcd":
        app.crowd.arrive(other, 0.0)
    assert app.ideal(0.0) == 2500
    rho = {row.gpus: row.rho for row in app.table(Offer(0.0, place, tuple(range(16)), ())) if row.level == "machine"}
    assert [rho[k] for k in (1, 2, 4, 8, 16)] == pytest.approx([4, 2, 1.064, 0.532, 0.356])


def test_a_bid_is_the_table_in_values_with_what_is_held():
    app = joined(TunedApp("a", 10.0, halving()))
    offer = Offer(60.0, app.cluster, (3, 6), (0, 1))
    rows = app.table(offer)
    assert [(row.gpus, row.level) for row in rows] == [
        (k, level) for k in (1, 2) for level in ("machine", "rack", "cluster")
    ]
    bid = app.bid(offer)
    assert bid.values == tuple(Fraction(1.0 / row.rho) for row in rows)
    assert bid.held == ((0, 2),)
    assert bid.value_at_zero == Fraction(1.0 / app.rho(60.0, (0, 1)))
    assert app.bid(Offer(60.0, app.cluster, (3,), ())).value_at_zero == 0
    spread = app.table(Offer(60.0, app.cluster, (1,), (0, 3)))
    assert {row.level for row in spread} == {"rack", "cluster"}


def test_rho_grows_with_waiting_and_falls_with_gpus():
    app = joined(TunedApp("a", 10.0, curves()))
    assert app.rho(10.0, ()) == math.inf
    assert app.rho(10.0, (0,)) > app.rho(10.0, (0, 1)) > app.rho(10.0, (0, 1, 2, 3, 4))
    assert app.rho(500.0, (0,)) > app.rho(10.0, (0,))
    # the latest forecasts, on one GPU each: 100 x 10 and 50 x 20
    assert app.rho(10.0, (0, 1)) == pytest.approx(1000 / (2000 / 5))


def test_a_slowdown_that_falls_with_the_width_promises_nothing_more():
    app = joined(TunedApp("a", 0.0, curves(Slowdown(1, 1, 0.9, 0.8))))
    rows = app.table(Offer(0.0, app.cluster, (0, 1, 3), ()))
    by_number = {k: {row.rho for row in rows if row.gpus == k} for k in (1, 2, 3)}
    assert all(len(values) == 1 for values in by_number.values())


def test_demand_is_what_any_phase_left_can_use():
    app = TunedApp("a", 0.0, halving(first=2))
    assert app.demand(0.0, ()) == 8
    assert app.demand(0.0, (0, 1, 2)) == 5
    done = halving(seconds=(100,))
    done.advance(1)
    assert TunedApp("a", 0.0, done).demand(0.0, ()) == 0
    assert joined(TunedApp("a", 0.0, done)).table(Offer(0.0, cluster(), (0,), ())) == []


@settings(max_examples=40)
@given(tuners(), st.lists(st.tuples(st.floats(1, 900), st.integers(0, 6)), min_size=1, max_size=6))
def test_work_done_in_steps_adds_up(tuner, steps):
    app = joined(TunedApp("a", 0.0, tuner))
    for seconds, number in steps:
        gpus = tuple(range(number))
        before = app.seconds_left(gpus)
        app.advance(seconds, gpus)
        if number:
            assert app.seconds_left(gpus) == pytest.approx(max(0.0, before - seconds), rel=1e-6, abs=1e-6)
        else:
            assert before == math.inf
    app.advance(app.seconds_left((0, 1)), (0, 1))
    assert app.seconds_left((0, 1)) == 0
    assert app.tuner.truth() == []


def test_moving_costs_a_restart():
    app = joined(TunedApp("a", 0.0, curves(), restart=30.0))
    before = app.seconds_left((0, 1))
    app.moved()
    assert app.seconds_left((0, 1)) == before + 30
    app.advance(20, (0, 1))
    app.advance(20, ())
    assert app.seconds_left((0, 1)) == pytest.approx(before + 10)
    app.advance(20, (0, 1))
    assert app.seconds_left((0, 1)) == pytest.approx(before - 10)


def test_rounds_of_tuned_and_single_apps_run_to_their_end():
    def apps():
        return [
            TunedApp("halving", 0.0, halving(), restart=20.0),
            TunedApp("curves", 100.0, curves(), split="lpt"),
            SingleJobApp("single", 200.0, 4000.0, 4),
        ]

    place = cluster()
    found = run_rounds(apps(), place, RoundSettings(fairness=0.5, lease=300.0), seed=1)
    assert set(found.ends) == {"halving", "curves", "single"}
    assert all(0 < rho < 100 for rho in found.rho.values())
    again = run_rounds(apps(), place, RoundSettings(fairness=0.5, lease=300.0), seed=1)
    assert again.ends == found.ends
    # the crowd's average is that of the stays
    arrivals = {"halving": 0.0, "curves": 100.0, "single": 200.0}
    stays = [(arrivals[label], end) for label, end in found.ends.items()]
    ideal = 2000 / 5 * average_apps(stays, 100.0, found.ends["curves"])
    assert found.rho["curves"] == pytest.approx((found.ends["curves"] - 100) / ideal, rel=1e-6)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"app a: arrival must be >= 0 seconds \(got -1\.0\)"):
        TunedApp("a", -1.0, curves())
    with pytest.raises(InputError, match=r"app a: restart must be >= 0 seconds \(got inf\)"):
        TunedApp("a", 0.0, curves(), restart=math.inf)
    with pytest.raises(InputError, match="gpus: 17 on offer; subsets are enumerated for at most 16; use rows"):
        next(subset_rhos(curves(), cluster(), range(17), elapsed=0.0, ideal=1.0))
    with pytest.raises(InputError, match="unknown split 'odd'"):
        lengths_on(curves().truth(), [(1, "machine")], "odd")


@settings(max_examples=40)
@given(
    st.integers(2, 6), st.integers(1, 500), st.integers(1, 400), st.lists(st.integers(0, 11), unique=True, max_size=6)
)
def test_a_tuner_of_one_job_is_a_single_job_app(most, iterations, now, held):
    """Equations 1 and 2 agree, and so do the agents and the plain function, in rho and in bids.

    Jobs of one GPU are left out: on several spread GPUs a tuner's job uses one of them, so nothing slows it down.
    """
    job = JobInfo("a", iterations, 7.0, most)
    place, held = cluster(), tuple(sorted(held))
    tuned = joined(TunedApp("a", 0.0, CurveStopping([CurveJob(job, iterations)])), place)
    single = joined(SingleJobApp("a", 0.0, 7.0 * iterations, most), place)
    assert tuned.rho(now, held) == pytest.approx(single.rho(now, held))
    plain_rho = rho_of_single_job(
        job,
        gpus=len(held),
        level=locality(place, held) if held else "slot",
        elapsed=now,
        iterations=iterations,
        cluster_gpus=12,
        average_apps=1.0,
    )
    assert plain_rho == pytest.approx(single.rho(now, held))
    offer = Offer(float(now), place, tuple(gpu for gpu in range(12) if gpu not in held), held)
    if single.demand(now, held):
        ours, theirs = tuned.bid(offer), single.bid(offer)
        assert (ours.gpus, ours.levels, ours.held) == (theirs.gpus, theirs.levels, theirs.held)
        assert list(map(float, ours.values)) == pytest.approx(list(map(float, theirs.values)))
