"""Bounds on mean completion times: known values, duality against enumeration, and what is refused."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.workload.workload import Workload
from gangopt.solvers.bounds import BOUNDS, jct_bound, usable_gpus, workload_jct_bound
from gangopt.solvers.bounds.completion import Completion
from gangopt.solvers.bounds.job_prices import JobPrices
from gangopt.solvers.bounds.jobs import gang_jobs
from gangopt.solvers.bounds.mean_busy import MeanBusy
from gangopt.solvers.bounds.prices import Grid
from gangopt.solvers.bounds.single_machine import durations, exclusive, mean_busy, shortest_remaining

FIGURE7 = (2, [(0, 2, 2), (0, 1, 8), (0, 2, 6)])
TWO_EQUAL = (1, [(0, 1, 2), (0, 1, 2)])
INTERRUPTED = (1, [(0, 1, 4), (1, 1, 1)])
HALVES = (2, [(0, 1, 1)] * 3 + [(0, 2, 2)] * 2)
FULL = (4, [(0, 4, 2.30728899), (1.1774238, 4, 2.78487372)])


def jobs_of(case):
    n_gpus, rows = case
    arrival, gpus, duration = zip(*rows, strict=True)
    return gang_jobs(arrival, gpus, duration, n_gpus)


def bound_of(case, **options):
    n_gpus, rows = case
    arrival, gpus, duration = zip(*rows, strict=True)
    return jct_bound(arrival, gpus, duration, n_gpus, **options)


@pytest.mark.parametrize(
    ("bound", "case", "total"),
    [
        (durations, FIGURE7, 16),
        (shortest_remaining, FIGURE7, 20),
        (mean_busy, FIGURE7, 22),
        (mean_busy, TWO_EQUAL, 6),
        (shortest_remaining, INTERRUPTED, 6),
        (mean_busy, INTERRUPTED, 5.75),
        (shortest_remaining, HALVES, 12),
        (mean_busy, HALVES, 12.75),
        (shortest_remaining, FULL, 6.2220279),
        (mean_busy, FULL, 6.2220279),
    ],
)
def test_closed_bounds_have_their_values_by_hand(bound, case, total):
    value = bound(jobs_of(case))
    assert value <= total
    assert value == pytest.approx(total, rel=1e-7)


def test_exclusive_jobs_count_as_the_whole_cluster():
    # two gangs of 2 of 3 GPUs exclude each other; as areas they would overlap
    case = (3, [(0, 2, 3), (0, 2, 3)])
    assert exclusive(jobs_of(case)) == pytest.approx(9)
    # the cluster's third GPU is never used, so that the areas see as much
    assert shortest_remaining(jobs_of(case)) == pytest.approx(9)
    mixed = (3, [(0, 2, 3), (0, 2, 3), (0, 1, 1)])
    assert exclusive(jobs_of(mixed)) == pytest.approx(10)
    assert exclusive(jobs_of(mixed)) > shortest_remaining(jobs_of(mixed))


@pytest.mark.parametrize(
    ("case", "points", "prices", "smooth", "sharp"),
    [
        (FIGURE7, [0, 2, 8, 16], [1, 0.5, 0], 20.5, 23),
        (FIGURE7, [0, 2, 8, 16], [0.5, 0.25, 0], 19.0 + 5 / 24, 19.5),
        (FIGURE7, [0, 2, 8, 16], [1, 0.4, 0.1], 19.36, 20.4),
        (TWO_EQUAL, [0, 2, 4], [0.5, 0], 4.75, 5),
        (TWO_EQUAL, [0, 2, 4], [1, 0], 5, 6),
        (INTERRUPTED, [0, 1, 2, 5], [0, 1, 0], 5.5, 6),
        (INTERRUPTED, [0, 1, 2, 5], [0, 3, 0], 3.75, 4),
        (INTERRUPTED, [0, 1, 2, 5], [0, 0.5, 0], 5.4375, 5.5),
    ],
)
def test_duals_have_their_values_by_hand(case, points, prices, smooth, sharp):
    jobs = jobs_of(case)
    grid = Grid.of(np.array(points, dtype=float), jobs)
    assert MeanBusy(jobs, grid).value(np.array(prices, dtype=float))[0] == pytest.approx(smooth, abs=1e-9)
    assert Completion(jobs, grid).value(np.array(prices, dtype=float))[0] == pytest.approx(sharp, abs=1e-9)


@st.composite
def priced(draw):
    n_gpus = draw(st.integers(1, 8))
    count = draw(st.integers(1, 5))
    rows = [
        (draw(st.integers(0, 12)) / 2, draw(st.integers(1, n_gpus)), draw(st.integers(1, 12)) / 2) for _ in range(count)
    ]
    weight = [draw(st.integers(1, 4)) / 2 for _ in range(count)]
    inner = draw(st.lists(st.integers(1, 29), min_size=0, max_size=5, unique=True))
    points = np.array([0.0, *sorted(value / 2 for value in inner), 15.0])
    prices = np.array([draw(st.integers(0, 6)) / 4 for _ in points[1:]])
    arrival, gpus, duration = zip(*rows, strict=True)
    return gang_jobs(arrival, gpus, duration, n_gpus, weight), points, prices


def enumerated(jobs, points, prices):
    """Dual of the completion form by enumeration."""
    rows = zip(jobs.arrival, jobs.gpus, jobs.duration, jobs.weight, strict=True)
    worth = sum(dearest_choice(r, d, v, points, W * prices) for r, W, d, v in rows)
    return worth - jobs.n_gpus * float(prices @ np.diff(points))


@given(priced())
def test_completion_form_equals_enumeration(case):
    jobs, points, prices = case
    value, _, _ = Completion(jobs, Grid.of(points, jobs)).value(prices)
    assert value == pytest.approx(enumerated(jobs, points, prices), abs=1e-9)


@given(priced(), st.integers(0, 2**32 - 1))
def test_supergradients_overestimate_and_mean_busy_is_below_completion(case, seed):
    jobs, points, prices = case
    grid = Grid.of(points, jobs)
    other = np.random.default_rng(seed).uniform(0.0, 2.0, len(prices))
    for dual in (MeanBusy(jobs, grid), Completion(jobs, grid)):
        value, gradient, _ = dual.value(prices)
        assert dual.value(other)[0] <= value + gradient @ (other - prices) + 1e-7
        # what a value was computed after must not matter
        assert dual.value(prices)[0] == pytest.approx(value, abs=1e-9)
    assert MeanBusy(jobs, grid).value(prices)[0] <= Completion(jobs, grid).value(prices)[0] + 1e-9


def test_best_bound_is_named_and_all_are_given():
    bound = bound_of(FIGURE7)
    assert set(bound.bounds) <= set(BOUNDS)
    assert bound.mean == max(bound.bounds.values()) == bound.bounds[bound.name]
    assert bound.name == "job_prices"
    assert 25.9 / 3 <= bound.mean <= 26 / 3
    assert bound.gap(26 / 3) == pytest.approx((26 / 3 - bound.mean) / bound.mean)
    assert bound.bounds == bound_of(FIGURE7).bounds


def test_durations_are_the_optimum_where_nobody_waits():
    bound = bound_of((3, [(0, 1, 2), (0, 2, 2), (2, 3, 1)]))
    assert bound.name == "durations"
    assert bound.mean == pytest.approx(5 / 3)
    assert list(bound.bounds) == ["durations"]


def test_small_case_whose_gangs_do_not_fit_together_has_a_bound_near_its_optimum():
    assert 12.9 / 5 <= bound_of(HALVES).mean <= 13 / 5


def test_time_limit_of_zero_leaves_the_closed_bounds():
    bound = bound_of(FIGURE7, time_limit=0.0)
    assert bound.mean >= 22 / 3 - 1e-9


def test_equal_weights_change_nothing_and_no_weight_drops_a_job():
    _, rows = FIGURE7
    arrival, gpus, duration = zip(*rows, strict=True)
    plain = jct_bound(arrival, gpus, duration, 2)
    assert jct_bound(arrival, gpus, duration, 2, weight=[3, 3, 3]).mean == pytest.approx(plain.mean, rel=1e-12)
    alone = jct_bound(arrival, gpus, duration, 2, weight=[1, 0, 1])
    assert alone.mean == pytest.approx((2 + 8) / 2, rel=1e-6)


def test_workload_gives_its_columns():
    columns = {"id": ["a", "b"], "arrival": [0.0, 0.0], "gpus": [1, 1], "duration": [2.0, 2.0]}
    assert workload_jct_bound(Workload.from_columns(columns), 1).mean == pytest.approx(3.0, rel=1e-6)
    with pytest.raises(InputError, match="have no duration"):
        workload_jct_bound(Workload.from_columns(columns | {"duration": [2.0, None]}), 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [3], [1], 2), r"gpus\[0\] must be an integer from 1 to 2 \(got 3\)"),
        (([0], [1.5], [1], 2), r"gpus\[0\] must be an integer .* \(got 1.5\)"),
        (([0], [1], [0], 2), r"duration\[0\] must be > 0 \(got 0\)"),
        (([np.inf], [1], [1], 2), r"arrival\[0\] must be finite \(got inf\)"),
        (([0, 1], [1], [1], 2), r"gpus must have one number per job \(got shape \(1,\)\)"),
        (([0], ["x"], [1], 2), "gpus must be numbers"),
        (([0], [1], [1], 0), r"n_gpus must be an integer >= 1 \(got 0\)"),
        (([], [], [], 2), "no job has a weight > 0"),
    ],
)
def test_refuses_what_is_no_job(arguments, message):
    with pytest.raises(InputError, match=message):
        jct_bound(*arguments)


def test_refuses_negative_weights_and_times():
    with pytest.raises(InputError, match=r"weight\[0\] must be >= 0 \(got -1\)"):
        jct_bound([0], [1], [1], 2, weight=[-1])
    with pytest.raises(InputError, match=r"time_limit must be >= 0 seconds \(got -1\)"):
        jct_bound([0], [1], [1], 2, time_limit=-1)


def dearest_set(jobs, prices, end):
    """Largest sum of prices of jobs that have arrived before the end and fit together."""
    present = [j for j in range(len(jobs)) if jobs.arrival[j] < end]
    return max(
        sum(prices[j] for j in chosen)
        for size in range(len(present) + 1)
        for chosen in combinations(present, size)
        if sum(jobs.gpus[j] for j in chosen) <= jobs.n_gpus
    )


@given(priced(), st.integers(0, 2**32 - 1))
def test_job_prices_equal_enumeration_and_are_never_below_one_price_for_all(case, seed):
    jobs, points, one_price = case
    rng = np.random.default_rng(seed)
    prices = rng.integers(0, 7, (len(jobs), len(one_price))) / 4
    dual = JobPrices(jobs, Grid.of(points, jobs))
    value, gradient, _ = dual.value(prices.ravel())
    alone = sum(
        dearest_choice(r, d, v, points, own)
        for r, d, v, own in zip(jobs.arrival, jobs.duration, jobs.weight, prices, strict=True)
    )
    paid = sum(
        dearest_set(jobs, prices[:, k], points[k + 1]) * (points[k + 1] - points[k]) for k in range(len(one_price))
    )
    assert value == pytest.approx(alone - paid, abs=1e-9)
    other = rng.uniform(0.0, 2.0, prices.shape)
    assert dual.value(other.ravel())[0] <= value + gradient @ (other - prices).ravel() + 1e-7
    together = dual.value((jobs.gpus[:, None] * one_price[None, :]).ravel())[0]
    assert together >= Completion(jobs, Grid.of(points, jobs)).value(one_price)[0] - 1e-9


def dearest_choice(r, d, v, points, prices):
    """Least cost of one job by trying every C on a lattice that contains its best points."""
    ends, begins = np.append(points[1:], 40.0), np.append(points[:-1], points[-1])
    cost = np.append(prices, 0.0)
    order = np.argsort(cost, kind="stable")
    values = []
    for C in np.arange(r + d, 24.0, 0.25):
        length = np.maximum(np.minimum(ends, C) - np.maximum(begins, r), 0.0)[order]
        taken = np.clip(d - (np.cumsum(length) - length), 0.0, length)
        values.append(v * (C - r) + float(taken @ cost[order]))
    return min(values)


@pytest.mark.parametrize(
    ("gangs", "machines", "usable"),
    [([2, 2, 2], (3, 3), 4), ([2, 1], (3, 3), 6), ([2, 4], (3, 3), 6), ([3, 3], (4, 2), 3), ([3, 2], (4, 4, 1), 6)],
)
def test_gpus_that_gangs_can_use_on_machines(gangs, machines, usable):
    assert usable_gpus(gangs, machines) == usable


def test_nothing_more_is_proven_than_what_is_attained():
    jobs = ([0, 0], [1, 1], [600, 600])
    short = jct_bound(*jobs, 1, attained=900.0)
    assert short.mean == pytest.approx(900)
    assert "completion_prices" not in short.bounds
    assert "completion_prices" in jct_bound(*jobs, 1).bounds
