import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.instances.bid.generate import random
from gangopt.solvers.bid.heuristics import even, lpt
from gangopt.solvers.bid.splits import deal, deal_to_longest, fold, longest_first


def ints(*values):
    return np.array(values, dtype=np.int64)


def floats(*values):
    return np.array(values, dtype=np.float64)


def test_a_deal_goes_round_by_round_the_longest_first():
    assert deal(floats(5, 9, 9), ints(3, 3, 1), 6).tolist() == [1, 2, 0, 1, 0, 1]
    # nobody can take a seventh but job 0, then all have their most
    assert deal(floats(5, 9, 9), ints(3, 3, 1), 20).tolist() == [1, 2, 0, 1, 0, 1, 0]


def test_a_fold_pairs_the_longest_with_the_shortest():
    assert fold(floats(80, 100, 100, 120), 2).tolist() == [0, 1, 1, 0]
    assert fold(floats(1, 1, 1, 1, 1), 2).tolist() == [0, 1, 1, 0, 0]


def test_longest_first_takes_the_least_loaded_gpu():
    assert longest_first(floats(3, 7, 4, 3), 2).tolist() == [1, 0, 1, 0]
    assert longest_first(floats(1, 1, 1), 3).tolist() == [0, 1, 2]


def test_further_gpus_go_to_the_longest_until_it_gains_nothing():
    single, most = floats(10, 30), ints(8, 8)
    assert deal_to_longest(single, single, most, 4).tolist() == [1, 3]
    assert deal_to_longest(single, single, ints(8, 2), 6).tolist() == [1, 2]
    # two GPUs across machines are no faster than one
    assert deal_to_longest(single, floats(10, 60), most, 4).tolist() == [1, 1]


@settings(max_examples=60)
@given(
    st.sampled_from(["halving", "curves", "single"]),
    st.sampled_from(["whole", "shared"]),
    st.integers(1, 9),
    st.integers(1, 12),
    st.integers(0, 999),
)
def test_tables_keep_all_rules_and_are_no_better_than_the_optimum(tuner, split, jobs, gpus, seed):
    instance = random(jobs=jobs, gpus=gpus, tuner=tuner, split=split, seed=seed)
    best = gangopt.solve(instance).objective
    for method in (even, lpt):
        table = method(instance)
        assert instance.check(table) == []
        assert instance.evaluate(table).objective >= best * (1 - 1e-12)
        assert table == method(instance)


@settings(max_examples=60)
@given(st.integers(2, 12), st.integers(1, 11), st.integers(0, 999))
def test_longest_first_keeps_grahams_guarantee(jobs, gpus, seed):
    instance = random(jobs=jobs, gpus=16, seed=seed)
    if gpus >= jobs:
        return
    times = instance.work[:jobs]
    queues = longest_first(times, gpus)
    longest = np.bincount(queues, times, minlength=gpus).max()
    from gangopt.solvers.bid.queues import queues_with_solver, queues_without_solver, whole_times
    from gangopt.solvers.highs import SolveSettings

    whole, unit = whole_times(times.tolist())
    assert (
        longest
        <= float(queues_with_solver(whole, gpus, queues_without_solver(whole, gpus), SolveSettings).longest * unit)
        * (4 / 3 - 1 / (3 * gpus))
        + 1e-9
    )


def test_even_shares_let_all_jobs_of_a_phase_end_together():
    instance = random(jobs=6, gpus=4, split="shared", seed=2)
    for offer, row in enumerate(even(instance).rows):
        ends = instance.demands(offer) / np.array(row.shares)
        for runs, length in zip(instance.phases, row.seconds, strict=True):
            assert ends[list(runs)] == pytest.approx(length)


def test_longest_first_with_shared_gpus_lasts_as_long_as_with_whole_ones():
    instance = random(jobs=6, gpus=4, split="shared", seed=2)
    assert instance.evaluate(lpt(instance)).objective > instance.evaluate(even(instance)).objective
