"""Ties of time, service and index against a replay in exact fractions; clocks that begin at the first arrival."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.solvers.bounds import workload_jct_bound
from helpers.rational import Looking, Queues, Rule, index, simulate


def workload(triples, shift=0.0):
    arrival, gpus, duration = zip(*triples, strict=True)
    ids = [f"j{number}" for number in range(len(triples))]
    columns = {"arrival": [shift + float(at) for at in arrival], "duration": [float(length) for length in duration]}
    return gangopt.Workload.from_columns({"id": ids, "gpus": gpus, **columns})


def test_a_job_that_has_done_its_work_is_not_stopped_by_rounding():
    played = gangopt.replay(workload([(4, 2, 11), (4, 3, 4)]), 3, "tiresias-l?thresholds=2&knob=2")
    assert played.end[1] == pytest.approx(47 / 3, abs=1e-9)
    assert played.metrics["preemptions"] == 11


def test_ties_of_the_index_go_by_the_first_start():
    jobs = gangopt.Workload.from_columns(
        {"id": ["a", "b", "c"], "arrival": [5, 10, 8], "gpus": [3, 3, 3], "duration": [12, 7, 6]}
    )
    played = gangopt.replay(jobs, 3, "tiresias-g?thresholds=20+40")
    ends = dict(zip(played.workload.ids, played.end.tolist(), strict=True))
    assert ends == pytest.approx({"a": 29 + 2 / 3, "b": 30, "c": 17 + 2 / 3}, abs=1e-9)


TRIPLES = st.lists(st.tuples(st.integers(0, 24), st.integers(1, 7), st.integers(1, 30)), min_size=1, max_size=8).map(
    sorted
)
UNITS = st.sampled_from([1, 1, 2, 10])
INTERVALS = st.sampled_from(["0.1", "1", "7"])
LIMITS = st.lists(st.integers(1, 60), min_size=1, max_size=3, unique=True).map(sorted)
KNOBS = st.sampled_from([None, "0.5", "1", "2", "3"])
STARVING = st.sampled_from([None, "5", "9.5"])


def in_units(triples, unit):
    return [(Fraction(arrival, unit), gpus, Fraction(length, unit)) for arrival, gpus, length in triples]


def services(jobs):
    return [gpus * length for _, gpus, length in jobs]


def check(jobs, n_gpus, policy, rule):
    ends, starts = simulate(jobs, n_gpus, rule)
    played = gangopt.replay(workload(jobs), n_gpus, policy)
    assert played.end == pytest.approx(np.array(ends, dtype=np.float64), abs=1e-6)
    assert played.starts.tolist() == starts


SORTING = {
    "fifo": Rule(lambda job: job.arrival, preempt=False, skip=False),
    "yarn-cs": Rule(lambda job: job.arrival, preempt=False, skip=False),
    "best-effort": Rule(lambda job: job.arrival, preempt=False),
    "sf": Rule(lambda job: job.gpus),
    "srtf": Rule(lambda job: job.left),
    "srsf": Rule(lambda job: job.left * job.gpus),
}


@pytest.mark.parametrize("policy", SORTING)
@settings(max_examples=25)
@given(triples=TRIPLES, unit=UNITS, n_gpus=st.integers(7, 9))
def test_sorting_policies_are_exact(policy, triples, unit, n_gpus):
    check(in_units(triples, unit), n_gpus, policy, SORTING[policy])


@settings(max_examples=40)
@given(triples=TRIPLES, unit=UNITS, n_gpus=st.integers(7, 9), interval=INTERVALS)
def test_2d_las_is_exact(triples, unit, n_gpus, interval):
    rule = Looking(lambda job: job.attained, interval=Fraction(interval))
    check(in_units(triples, unit), n_gpus, f"2d-las?interval={interval}", rule)


@settings(max_examples=40)
@given(triples=TRIPLES, unit=UNITS, n_gpus=st.integers(7, 9), interval=INTERVALS)
def test_2d_gittins_is_exact(triples, unit, n_gpus, interval):
    jobs = in_units(triples, unit)
    rule = Looking(lambda job: -index(services(jobs), job.attained), interval=Fraction(interval))
    check(jobs, n_gpus, f"2d-gittins?interval={interval}", rule)


@pytest.mark.parametrize("letter", ["l", "g"])
@settings(max_examples=80)
@given(
    triples=TRIPLES, unit=UNITS, n_gpus=st.sampled_from([7, 9, 10]), limits=LIMITS, knob=KNOBS, starve_limit=STARVING
)
def test_tiresias_is_exact(letter, triples, unit, n_gpus, limits, knob, starve_limit):
    jobs = in_units(triples, unit)
    given_limits = {"knob": knob, "starve_limit": starve_limit}
    chosen = {name: value for name, value in given_limits.items() if value is not None}
    policy = f"tiresias-{letter}?thresholds=" + "+".join(map(str, limits))
    policy += "".join(f"&{name}={value}" for name, value in chosen.items())
    past = services(jobs) if letter == "g" else None
    check(jobs, n_gpus, policy, Queues(limits, past, **{name: Fraction(value) for name, value in chosen.items()}))


POLICIES = [
    *SORTING,
    "2d-las",
    "2d-gittins",
    "time-sharing?quantum=7",
    "tiresias-l?thresholds=20&knob=2",
    "tiresias-g?thresholds=20+40",
    "slaq?interval=7",
    "drf?speed=linear&interval=7",
    "optimus?speed=linear&interval=7",
    "tetris?speed=linear&interval=7",
]
LOG = [(0, 3, 120), (3, 2, 77), (7.25, 1, 300), (7.25, 3, 10), (64, 2, 40), (130, 3, 59), (131, 1, 9)]


@pytest.mark.parametrize("shift", [1.7e9, 1e12])
@pytest.mark.parametrize("policy", POLICIES)
def test_clocks_begin_at_the_first_arrival(policy, shift):
    near, far = (gangopt.replay(workload(LOG, by), 3, policy) for by in (0.0, shift))
    assert far.jct.tolist() == near.jct.tolist()
    assert far.queueing.tolist() == near.queueing.tolist()
    assert far.rho.tolist() == near.rho.tolist()
    assert far.metrics == near.metrics
    # tables stay on the clock of the log
    assert far.end == pytest.approx(shift + near.end, abs=1e-3)
    assert far.events()["time"].to_numpy() == pytest.approx(shift + near.events()["time"].to_numpy(), abs=1e-3)
    assert far.jobs()["arrival"].to_list() == [shift + arrival for arrival, *_ in LOG]


def test_bounds_begin_at_the_first_arrival():
    near, far = (workload_jct_bound(workload(LOG[:3], by), 3) for by in (0.0, 1e12))
    assert (far.mean, dict(far.bounds)) == (near.mean, dict(near.bounds))


def test_a_log_that_is_longer_than_microseconds_can_be_counted_is_replayed():
    jobs = [(0, 2, Fraction("10.3")), (10**12, 2, Fraction("77.7")), (10**12 + 3, 3, Fraction("50.9"))]
    played = gangopt.replay(workload(jobs), 4, "tiresias-l?thresholds=30&knob=2")
    ends, starts = simulate(jobs, 4, Queues([30], knob=Fraction(2)))
    assert played.end == pytest.approx(np.array(ends, dtype=np.float64), abs=0.1)
    assert played.starts.tolist() == starts
