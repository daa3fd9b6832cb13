import itertools
import random as plain
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.instances.bid.generate import random
from gangopt.solvers.bid import exact as exact_bid
from gangopt.solvers.bid import queues as bid_queues
from gangopt.solvers.bid.exact import exact, fastest_counts, fewest_gpus
from gangopt.solvers.bid.queues import (
    longest_queue,
    lower_bound,
    queues_with_solver,
    queues_without_solver,
    whole_times,
)
from gangopt.solvers.bid.queues_flow import queues_by_flow
from gangopt.solvers.bid.queues_improve import improved
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.highs import SolveSettings


def shortest_queues(times, gpus, settings=None):
    best = queues_without_solver(times, gpus)
    return best if settings is None else queues_with_solver(times, gpus, best, settings)


def least_longest(times, gpus):
    """Return the least length of the longest queue over all assignments, the first job on GPU 0."""
    loads = {(times[0], *[0] * (gpus - 1))}
    for item in times[1:]:
        loads = {
            tuple(sorted((*state[:k], state[k] + item, *state[k + 1 :]), reverse=True))
            for state in loads
            for k in range(gpus)
        }
    return min(max(state) for state in loads)


small_times = st.lists(st.integers(1, 12), min_size=1, max_size=8)


@settings(max_examples=150)
@given(small_times, st.integers(1, 4))
def test_shortest_queues_are_brute_force(times, gpus):
    found = shortest_queues(times, gpus, SolveSettings)
    best = least_longest(times, gpus)
    assert found.proven
    assert found.longest == found.bound == longest_queue(times, found.queues) == best
    assert lower_bound(times, gpus) <= best
    assert set(found.queues) <= set(range(gpus))


def test_integer_flows_find_and_prove_the_shortest_where_the_relaxed_one_says_nothing(monkeypatch):
    from gangopt.solvers.bid import queues_flow as bid_queues_flow

    def integer_only(times, gpus, length, settings, *, relaxed=False):
        return bid_queues_flow.FlowAnswer(True) if relaxed else queues_by_flow(times, gpus, length, settings)

    monkeypatch.setattr(bid_queues_flow, "queues_by_flow", integer_only)
    monkeypatch.setattr(bid_queues, "improved", lambda times, queues, *_, **__: queues)
    monkeypatch.setattr(bid_queues, "LOOKS", 0)
    asked = 0
    for seed in range(40):
        times = np.random.default_rng(seed).integers(5, 20, 7).tolist()
        best = least_longest(times, 3)
        found = shortest_queues(times, 3, SolveSettings)
        assert (found.longest, found.bound) == (best, best)
        asked += best > lower_bound(times, 3)
    assert asked > 5


@settings(max_examples=60)
@given(small_times, st.integers(1, 4), st.integers(0, 6))
def test_flows_say_whether_jobs_fit(times, gpus, more):
    best = least_longest(times, gpus)
    length = max(1, best - 3 + more)
    answer = queues_by_flow(times, gpus, length, SolveSettings())
    assert answer.fits is (length >= best)
    relaxed = queues_by_flow(times, gpus, length, SolveSettings(), relaxed=True)
    assert relaxed.fits or not answer.fits
    if answer.fits:
        assert longest_queue(times, answer.queues) <= length


@settings(max_examples=60)
@given(st.lists(st.integers(1, 10**9), min_size=2, max_size=12), st.integers(1, 5), st.integers(0, 99))
def test_improved_queues_are_never_longer(times, gpus, seed):
    queues = plain.Random(seed).choices(range(gpus), k=len(times))
    better = improved(times, queues, gpus, lower_bound(times, gpus), steps=20)
    assert longest_queue(times, better) <= longest_queue(times, queues)


def test_parting_pairs_anew_meets_the_bound_that_longest_first_misses():
    times = np.random.default_rng(3).integers(60, 141, 64).tolist()
    found = shortest_queues(times, 16)
    assert found.proven


def test_where_two_jobs_share_a_gpu_the_flow_proves_what_the_bound_misses():
    times = np.random.default_rng(1).integers(60, 141, 64).tolist()
    alone = shortest_queues(times, 32)
    found = shortest_queues(times, 32, SolveSettings)
    assert found.proven
    assert not alone.proven
    assert alone.bound < found.bound


def test_without_time_a_bound_is_left():
    times = np.random.default_rng(1).integers(60, 141, 64).tolist()
    found = shortest_queues(times, 32, lambda: None)
    assert lower_bound(times, 32) <= found.bound < found.longest


def test_a_graph_too_large_is_not_built():
    times = [10**9 + 7**k % 10**8 for k in range(60)]
    assert queues_by_flow(times, 8, sum(times) // 8 + 10**8, SolveSettings()).fits is None


def test_times_are_whole_multiples_of_a_unit_without_rounding():
    assert whole_times([640.0, 800.0, 960.0]) == ([4, 5, 6], 160)
    multiples, unit = whole_times([0.1, 0.25])
    assert [float(item * unit) for item in multiples] == [0.1, 0.25]


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.sampled_from([1.0, 1.3, 2.5]), st.integers(1, 4)), min_size=1, max_size=4
    ),
    st.integers(0, 6),
)
def test_fastest_counts_are_brute_force(jobs, more):
    single = np.array([float(work) for work, _, _ in jobs])
    spread = single * np.array([factor for _, factor, _ in jobs])
    most = np.array([cap for _, _, cap in jobs])
    gpus = len(jobs) + more

    def length(held):
        return max(s if k == 1 else t / k for s, t, k in zip(single, spread, held, strict=True))

    choices = itertools.product(*(range(1, cap + 1) for cap in most))
    best = min(length(held) for held in choices if sum(held) <= gpus)
    found = fastest_counts(single, spread, most, gpus)
    assert length(found.tolist()) == best
    assert found.sum() <= gpus
    assert (found <= most).all()
    # the fewest that do: one GPU less of any job is slower
    for j in range(len(jobs)):
        if found[j] > 1:
            fewer = found.copy()
            fewer[j] -= 1
            assert length(fewer.tolist()) > best


def test_fewest_gpus_is_beyond_any_cluster_where_a_length_is_out_of_reach():
    found = fewest_gpus(np.array([10.0, 10.0]), np.array([10.0, 10.0]), np.array([2, 8]), 3.0)
    assert found.tolist() == [10**12, 4]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tuner", ["halving", "curves", "single"])
def test_exact_is_never_worse_than_the_rules(tuner, seed):
    instance = random(jobs=12, gpus=16, tuner=tuner, seed=seed)
    best = gangopt.solve(instance)
    assert best.termination == "optimal"
    assert best.rel_gap == 0
    for method in ("even", "lpt"):
        assert gangopt.solve(instance, method).objective >= best.objective * (1 - 1e-12)


def test_sharing_gpus_is_no_slower_than_whole_ones_where_nothing_slows_down():
    for seed in range(4):
        instance = random(jobs=9, gpus=8, seed=seed)
        flat = np.ones_like(instance.slowdown)
        whole, shared = (
            gangopt.solve(exact_bid.replace(instance, slowdown=flat, split=split)).objective
            for split in ("whole", "shared")
        )
        assert shared <= whole * (1 + 1e-12)


def test_out_of_time_there_is_a_table_and_a_bound():
    instance = random(jobs=64, gpus=64, seed=1)
    outcome = exact(instance, Controls(time_limit=1e-9, started=time.perf_counter() - 1))
    assert outcome.termination == "time_limit"
    assert instance.check(outcome.solution) == []
    assert outcome.bound < instance.evaluate(outcome.solution).objective
    assert outcome.options == {"solves": 0}
    assert "not proven" in outcome.reason


def test_rows_of_a_better_start_are_kept():
    instance = random(jobs=64, gpus=64, seed=1)
    best = gangopt.solve(instance).solution
    outcome = exact(instance, Controls(time_limit=1e-9, start=best, started=time.perf_counter() - 1))
    assert outcome.termination == "time_limit"
    assert instance.evaluate(outcome.solution).objective == instance.evaluate(best).objective


def test_an_interrupt_leaves_a_table_and_a_bound(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bid_queues, "LOOKS", 0)
    monkeypatch.setattr(exact_bid, "queues_with_solver", interrupted)
    instance = random(jobs=64, gpus=64, seed=1)
    outcome = exact(instance, Controls())
    assert outcome.termination == "interrupted"
    assert instance.check(outcome.solution) == []


def perfect(gpus, phases, seed):
    """Return an app whose jobs, three a GPU in every phase, fill 10,000 s of each GPU to the second."""
    rng = plain.Random(seed)
    iterations, phase = [], []
    for i in range(phases):
        cuts = [sorted(rng.sample(range(1, 10_000), 2)) for _ in range(gpus)]
        iterations += [part for a, b in cuts for part in (a, b - a, 10_000 - b)]
        phase += [i] * 3 * gpus
    jobs = len(phase)
    plainly = random(jobs=jobs, gpus=gpus, seed=0)
    return exact_bid.replace(
        plainly,
        jobs=tuple(f"j{j}" for j in range(jobs)),
        phase=np.array(phase),
        iterations=np.array(iterations, dtype=float),
        seconds=np.ones(jobs),
        max_gpus=np.ones(jobs, dtype=int),
        slowdown=np.ones((jobs, plainly.slowdown.shape[1])),
        offer_gpus=np.array([gpus]),
        offer_levels=plainly.offer_levels[:1],
        elapsed=0.0,
    )


@pytest.mark.parametrize(("gpus", "phases"), [(10, 1), (20, 1), (10, 4)])
def test_queues_without_a_gap_are_found_and_proven_without_a_solver(gpus, phases):
    instance = perfect(gpus, phases, seed=gpus)
    outcome = exact(instance, Controls())
    assert outcome.termination == "optimal"
    assert outcome.options == {"solves": 0}
    assert outcome.solution.rows[0].seconds == (10_000.0,) * phases
    assert outcome.bound == instance.evaluate(outcome.solution).objective


class Watch(Controls):
    """Controls on a clock that only moves when it is told to."""

    def elapsed(self):
        return self.seconds[0]


def watched(limit):
    controls = Watch(time_limit=limit)
    object.__setattr__(controls, "seconds", [0.0])
    return controls


def test_time_that_a_phase_leaves_goes_to_the_open_ones(monkeypatch):
    instance = perfect(10, phases=3, seed=10)
    controls = watched(12.0)
    monkeypatch.setattr(bid_queues, "LOOKS", 0)
    shares = []

    def slow_first_phase(times, gpus, best, settings, *, stopped):
        left = settings().time_limit
        shares.append(left)
        proven = len(shares) != 1
        controls.seconds[0] += 0.5 if proven else left
        return exact_bid.QueueSplit(best.queues, best.longest, best.longest if proven else best.bound)

    monkeypatch.setattr(exact_bid, "queues_with_solver", slow_first_phase)
    outcome = exact(instance, controls)
    assert outcome.termination == "optimal"
    # 12 s for three phases, 8 s for two, 7.5 s for one; then the 7 s that are left for the one that was cut off
    assert shares == [4.0, 4.0, 7.5, 7.0]


def test_a_gap_that_no_time_would_close_is_no_time_limit(monkeypatch):
    instance = perfect(10, phases=1, seed=10)
    monkeypatch.setattr(bid_queues, "LOOKS", 0)
    monkeypatch.setattr(exact_bid, "queues_with_solver", lambda times, gpus, best, *_, **__: best)
    monkeypatch.setattr(exact_bid._Search, "_by_highs", lambda search, alone, item, chosen: item.found)
    outcome = exact(instance, watched(60.0))
    assert outcome.termination == "completed"
    assert "not proven" in outcome.reason


def test_phases_share_the_time_and_each_has_its_turn():
    instance = random(jobs=60, gpus=32, tuner="curves", seed=0)
    outcome = exact(instance, Controls(time_limit=1.0))
    assert instance.check(outcome.solution) == []
    assert outcome.bound >= 0.99 * instance.evaluate(outcome.solution).objective


def test_highs_takes_over_where_a_flow_is_too_large(monkeypatch):
    monkeypatch.setattr("gangopt.solvers.bid.queues_flow.MAX_ARCS", 0)
    monkeypatch.setattr(bid_queues, "LOOKS", 0)
    instance = random(jobs=7, gpus=4, tuner="curves", seed=0)
    plainly = exact(instance, Controls())
    monkeypatch.undo()
    assert plainly.termination == "optimal"
    assert plainly.options["solves"] > 0
    assert plainly.bound == pytest.approx(gangopt.solve(instance).objective, rel=1e-9)
