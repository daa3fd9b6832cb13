"""The exact methods of `parameters` against full enumeration, and the bounds that they prove."""

from __future__ import annotations

import dataclasses
import itertools
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.catalogue import load
from gangopt.instances.parameters.generate import network, random
from gangopt.instances.parameters.grouping import cut, spread
from gangopt.instances.parameters.instance import ParametersInstance
from gangopt.solvers.core.clock import Clock, CountedClock, OutOfTime
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.parameters.counts import even_split
from gangopt.solvers.parameters.exact import exact, frontier, frontier_method, row_bound
from gangopt.solvers.parameters.groups import groupings
from gangopt.solvers.parameters.heuristics import mxnet, paa
from gangopt.solvers.parameters.lattice import lattices
from gangopt.solvers.parameters.levels import LevelSearch, search_of
from gangopt.solvers.parameters.pack import _repair

OBJECTIVES = ("size_difference", "requests", "request_difference")


def make(sizes, servers):
    return ParametersInstance(name="test", shapes=tuple((size,) for size in sizes), servers=servers)


@lru_cache(maxsize=200)
def reachable(sizes, servers):
    """Every (size difference, requests, request difference), from every way to spread every block."""
    states = {((0,) * servers, (0,) * servers)}
    for size in sizes:
        splits = [
            tuple(b - a - 1 for a, b in itertools.pairwise((-1, *bars, size + servers - 1)))
            for bars in itertools.combinations(range(size + servers - 1), servers - 1)
        ]
        # servers are interchangeable, so sorted states suffice
        states = {
            tuple(
                zip(
                    *sorted(
                        (load + part, count + (part > 0))
                        for load, count, part in zip(loads, counts, split, strict=True)
                    ),
                    strict=True,
                )
            )
            for loads, counts in states
            for split in splits
        }
    return {(max(loads) - min(loads), sum(counts), max(counts) - min(counts)) for loads, counts in states}


small = st.tuples(st.lists(st.integers(1, 7), min_size=1, max_size=4).map(tuple), st.integers(1, 3))
medium = st.tuples(st.lists(st.integers(1, 60), min_size=1, max_size=8).map(tuple), st.integers(1, 4))


def best_whole(sizes, servers):
    """Least size difference without cuts, by enumeration."""
    best = sum(sizes)
    for chosen in itertools.product(range(servers), repeat=len(sizes)):
        loads = [0] * servers
        for size, server in zip(sizes, chosen, strict=True):
            loads[server] += size
        best = min(best, max(loads) - min(loads))
    return best


@pytest.mark.parametrize(
    ("sizes", "servers", "expected"),
    [
        ((7, 5, 4), 3, (3, 1, 1)),
        ((9, 2, 2, 2), 3, (7, 2, 0)),
        ((6, 5, 5), 2, (4, 0)),
        ((5, 5, 5), 2, (5, 1)),
        ((5, 5, 5, 5), 3, (5, 3, 1)),
        ((8, 7, 6, 5, 4), 2, (0, 0)),
    ],
)
def test_levels_of_known_small_cases(sizes, servers, expected):
    levels = [search_of(make(sizes, servers)).level(cuts, Clock()) for cuts in range(len(expected))]
    assert tuple(level.assignment.difference for level in levels) == expected
    assert tuple(level.bound for level in levels) == expected


@settings(max_examples=60, deadline=None)
@given(small)
def test_levels_equal_the_enumeration_at_every_number_of_cuts(case):
    sizes, servers = case
    instance = make(sizes, servers)
    everything = reachable(sizes, servers)
    for cuts in range(servers):
        truth = min(size for size, requests, _ in everything if requests <= len(sizes) + cuts)
        level = search_of(instance).level(cuts, Clock())
        solution = cut(instance, level.assignment)
        assert instance.check(solution) == []
        metrics = instance.evaluate(solution).metrics
        assert metrics["requests"] <= len(sizes) + cuts
        assert metrics["size_difference"] == level.assignment.difference >= truth
        assert level.bound <= truth
        outcome = exact(instance, Controls(), order="size_difference", requests=len(sizes) + cuts)
        assert (outcome.termination, outcome.bound) == ("optimal", truth)
        assert instance.evaluate(outcome.solution).metrics["size_difference"] == truth


@settings(max_examples=60, deadline=None)
@given(medium)
def test_the_bound_without_cuts_is_never_above_the_enumeration(case):
    sizes, servers = case
    level = LevelSearch(list(sizes), servers).level(0, Clock())
    assert level.bound <= best_whole(sizes, servers) <= level.assignment.difference


@settings(max_examples=25, deadline=None)
@given(st.tuples(st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple), st.integers(1, 3)))
@pytest.mark.parametrize("order", ["+".join(names) for names in itertools.permutations(OBJECTIVES)])
def test_every_order_of_the_objectives_equals_the_enumeration(order, case):
    sizes, servers = case
    instance = make(sizes, servers)
    outcome = exact(instance, Controls(), order=order)
    assert instance.check(outcome.solution) == []
    metrics = instance.evaluate(outcome.solution).metrics
    names = order.split("+")
    key = [OBJECTIVES.index(name) for name in names]
    everything = reachable(sizes, servers)
    truth = min(tuple(point[k] for k in key) for point in everything)
    assert tuple(metrics[name] for name in names) == truth
    assert outcome.metrics["stages"] == [
        {"objective": name, "value": value, "bound": value} for name, value in zip(names, truth, strict=True)
    ]
    least = min(size for size, requests, _ in everything if requests <= metrics["requests"])
    assert outcome.bound <= least
    assert outcome.termination == ("optimal" if metrics["size_difference"] <= outcome.bound else "completed")
    if outcome.termination == "completed":
        assert "every stage is proven" in outcome.reason


@settings(max_examples=40, deadline=None)
@given(small)
def test_the_frontier_equals_the_enumeration(case):
    sizes, servers = case
    points = frontier(make(sizes, servers))
    everything = reachable(sizes, servers)
    truth = {}
    for cuts in range(servers):
        best = min(size for size, requests, _ in everything if requests <= len(sizes) + cuts)
        if best not in truth.values():
            truth[len(sizes) + cuts] = best
    proven = {point.requests: point.size_difference for point in points if point.proven}
    assert all(truth.get(requests) == value for requests, value in proven.items())
    assert all(point.bound <= min(v for r, v in truth.items() if r <= point.requests) for point in points)
    assert points[-1].proven


RESNET50 = {
    4: {157: 58, 158: 29, 159: 1},
    6: {157: 1920, 158: 20, 159: 14, 160: 7, 161: 2, 162: 1},
    8: {157: 1920, 158: 1600, 159: 1375, 160: 29, 161: 26, 162: 2, 163: 1},
    10: {157: 1920, 158: 1600, 159: 1375, 160: 1213, 161: 1082, 162: 7, 163: 6, 164: 2, 166: 1},
}


@pytest.mark.parametrize("servers", RESNET50)
def test_the_frontier_of_resnet50_is_proven(servers):
    instance = network("resnet50", servers)
    points = frontier(instance)
    assert {point.requests: point.size_difference for point in points} == RESNET50[servers]
    assert all(point.proven for point in points)
    for point in points:
        assert instance.check(point.solution) == []
        metrics = instance.evaluate(point.solution).metrics
        assert metrics["size_difference"] == point.size_difference
        assert metrics["requests"] <= point.requests


@pytest.mark.parametrize("servers", [12, 16, 20])
def test_blocks_above_the_fair_share_are_set_apart(servers):
    outcome = exact(network("resnet50", servers), Controls())
    assert outcome.termination == "optimal"
    assert outcome.bound == {12: 313_216, 16: 1_061_690, 20: 1_454_906}[servers]


def test_the_default_needs_no_general_solver_on_resnet50():
    outcome = exact(network("resnet50", 10), Controls())
    assert (outcome.termination, outcome.bound, outcome.form) == ("optimal", 1920, "levels")
    assert outcome.metrics["stages"][0] == {"objective": "requests", "value": 157, "bound": 157}


def test_a_cap_on_requests_puts_the_size_difference_first():
    outcome = exact(network("resnet50", 10), Controls(), requests=165)
    assert outcome.options == {"order": "size_difference+requests", "requests": 165}
    assert [item["value"] for item in outcome.metrics["stages"]] == [2, 164]
    assert outcome.termination == "optimal"


def test_too_few_requests_are_infeasible_with_the_reason():
    outcome = exact(make((5, 4, 3), 2), Controls(), requests=2)
    assert (outcome.termination, outcome.solution) == ("infeasible", None)
    assert outcome.reason == "requests must be >= 3, one for every block (got 2)"


@pytest.mark.parametrize(
    ("order", "message"), [("size", "order: 'size', allowed"), ("requests+requests", "duplicate 'requests'")]
)
def test_bad_orders_are_refused(order, message):
    with pytest.raises(InputError, match=message):
        exact(make((5, 4), 2), Controls(), order=order)


def test_out_of_time_there_is_still_a_solution_and_a_valid_bound():
    instance = network("vgg16", 10)
    search_of.cache_clear()
    outcome = exact(instance, Controls(time_limit=0.0))
    assert outcome.termination == "time_limit"
    assert "size_difference is 101307608, proven at least 101296748" in (outcome.reason or "")
    assert instance.check(outcome.solution) == []
    assert 0 < outcome.bound <= 101_307_608
    # what was cut short is not remembered
    assert search_of(instance).level(1, Clock()).bound == 48_926_244


def test_the_third_objective_out_of_time_is_not_called_optimal():
    instance = network("resnet50", 10)
    outcome = exact(instance, Controls(time_limit=1.0), order="requests+size_difference+request_difference")
    assert outcome.termination == "time_limit"
    last = outcome.metrics["stages"][-1]
    assert last["objective"] == "request_difference"
    assert last["bound"] < last["value"]
    assert outcome.bound == instance.evaluate(outcome.solution).metrics["size_difference"] == 1920


def test_interrupted_searches_return_what_they_have(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    search_of.cache_clear()
    monkeypatch.setattr(LevelSearch, "_raise_bound", interrupt)
    instance = make((31, 29, 23, 17, 11, 7), 3)
    outcome = exact(instance, Controls(time_limit=60.0), order="size_difference", requests=6)
    assert outcome.termination == "interrupted"
    assert instance.check(outcome.solution) == []
    search_of.cache_clear()


def test_a_start_is_taken_if_it_keeps_the_cap():
    instance = make((9, 7, 5, 3, 3), 3)
    best = exact(instance, Controls()).solution
    assert exact(instance, Controls(start=best), order="requests").solution == best
    split = exact(instance, Controls(), order="size_difference").solution
    capped = exact(instance, Controls(start=split), order="requests", requests=5).solution
    assert instance.evaluate(capped).metrics["requests"] == 5


def test_progress_tells_every_stage():
    events = []
    exact(network("resnet50", 8), Controls(on_progress=events.append))
    assert [event.objective for event in events][-1] == 1920
    assert events[-1].bound == 1920


def test_the_frontier_method_reports_open_points():
    outcome = frontier_method(network("alexnet", 10), Controls())
    points = outcome.metrics["frontier"]
    assert outcome.termination == "completed"
    assert outcome.reason == f"{sum(not point['proven'] for point in points)} of {len(points)} points are not proven"
    assert all(point["bound"] < point["size_difference"] for point in points if not point["proven"])
    assert outcome.bound == points[0]["bound"]


def test_the_bound_of_a_row_is_for_its_own_requests():
    instance = network("resnet50", 10)
    for method, expected in ((paa, 1920), (mxnet, 1)):
        score = instance.evaluate(method(instance))
        assert row_bound(instance, score, Controls()) == expected <= score.objective


def test_without_a_limit_the_bound_of_a_row_does_not_depend_on_the_clock(monkeypatch):
    instance = random(blocks=60, servers=12, seed=3)
    score = instance.evaluate(paa(instance))
    bounds = []
    for step in (0.0, 1e3):
        search_of.cache_clear()
        ticks = itertools.count(0.0, step)
        monkeypatch.setattr("time.perf_counter", lambda ticks=ticks: next(ticks))
        bounds.append(row_bound(instance, score, Controls()))
    assert bounds == [1.0, 1.0]


def test_a_counted_clock_stops_after_its_looks_or_at_its_moment():
    assert [CountedClock(0).expired(), CountedClock(1).expired()] == [True, False]
    clock = CountedClock(2)
    clock.require()
    clock.require()
    with pytest.raises(OutOfTime):
        clock.require()
    assert CountedClock(9, seconds=0.0).expired()
    assert not CountedClock(9, seconds=1e6).expired()


def test_what_a_solver_proved_is_kept_for_the_rows():
    search_of.cache_clear()
    instance = network("alexnet", 10)
    score = instance.evaluate(paa(instance))
    before = search_of(instance).level(0, Clock()).bound
    assert exact(instance, Controls()).bound == 26_209_184 > before
    assert search_of(instance).level(0, Clock()).bound == 26_209_184
    assert row_bound(instance, score, Controls()) <= score.objective


def test_groupings_are_partitions_from_the_most_even():
    assert list(groupings(6, 3)) == [(2, 2, 2), (3, 2, 1), (4, 1, 1)]
    assert list(groupings(3, 3)) == [(1, 1, 1)]
    assert list(groupings(3, 4)) == []
    assert next(groupings(10_000, 6_000)) == (2,) * 4_000 + (1,) * 2_000


def test_one_server_takes_everything():
    outcome = exact(make((5, 4), 1), Controls())
    assert (outcome.termination, outcome.bound) == ("optimal", 0)


def test_more_servers_than_blocks_leave_some_empty_without_cuts():
    points = frontier(make((5, 4), 4))
    assert [(point.requests, point.size_difference) for point in points] == [(2, 5), (3, 4), (4, 1)]


def test_random_blocks_are_proven_by_the_grouped_model():
    instance = random(blocks=15, servers=5, largest=50)
    outcome = exact(instance, Controls(time_limit=20))
    assert (outcome.termination, outcome.bound, outcome.form) == ("optimal", 3, "levels, groups")


structured = st.lists(st.sampled_from([1, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64, 100]), min_size=4, max_size=8)


@settings(max_examples=50, deadline=None)
@given(structured, st.integers(2, 4))
def test_lattices_never_exclude_what_the_enumeration_of_groups_reaches(sizes, servers):
    for cuts in range(servers):
        truth = sum(sizes)
        for counts in groupings(servers, servers - cuts):
            totals = {(0,) * len(counts)}
            for size in sizes:
                totals = {
                    tuple(total + size * (group == at) for at, total in enumerate(state))
                    for state in totals
                    for group in range(len(counts))
                }
            truth = min(truth, *(spread(state, counts) for state in totals))
        level = LevelSearch(sizes, servers).level(cuts, Clock())
        assert level.bound <= truth <= level.assignment.difference


def test_thousands_of_servers_are_no_trouble():
    instance = random(blocks=20_000, servers=2_000, largest=1_000)
    outcome = exact(instance, Controls(time_limit=30.0))
    assert (outcome.termination, outcome.bound, outcome.form) == ("optimal", 1, "levels")


def ticking(looks):
    """Return a clock that expires at the given look at it."""
    count = itertools.count()
    return Clock(looks, lambda: next(count))


@pytest.mark.parametrize("looks", [1, 2, 4, 8, 30, 200])
def test_levels_cut_short_at_any_look_are_true(looks):
    instance = load("parameters/resnet50-p12")
    known = LevelSearch(instance.sizes.tolist(), 12).level(0, Clock())
    search = LevelSearch(instance.sizes.tolist(), 12)
    level = search.level(0, ticking(looks))
    assert level.bound <= known.bound <= known.assignment.difference <= level.assignment.difference
    # what was cut short is not remembered
    assert search.level(0, Clock()).bound == known.bound


def test_relaxations_of_sizes_with_many_divisors_stop_at_the_clock():
    generator = np.random.default_rng(0)
    sizes = np.prod(generator.choice([2, 3, 5, 7, 11, 13, 17, 19, 23], (400, 7)), axis=1).tolist()
    with pytest.raises(OutOfTime):
        lattices(sizes, 10, ticking(5))
    # one look a unit and threshold, not one a pair of units
    lattices(sizes, 10, ticking(2000))


def test_splitting_every_block_stops_at_the_clock():
    instance = make([30] * 40, 4)
    assert instance.evaluate(even_split(instance)).metrics["size_difference"] == 0
    with pytest.raises(OutOfTime):
        even_split(instance, ticking(20))


def test_sharing_blocks_anew_stops_at_the_clock_and_at_its_memory(monkeypatch):
    sizes = [7, 5, 4, 3, 3, 2]
    assert _repair(sizes, [[0, 1, 2], [3, 4, 5]], [12, 12], [12, 12], Clock())
    with pytest.raises(OutOfTime):
        _repair(sizes, [[0, 1, 2], [3, 4, 5]], [12, 12], [12, 12], ticking(1))
    monkeypatch.setattr("gangopt.solvers.parameters.pack._MAX_TABLE", 10)
    assert not _repair(sizes, [[0, 1, 2], [3, 4, 5]], [12, 12], [12, 12], Clock())


@pytest.mark.parametrize(("error", "termination"), [(OutOfTime(), "time_limit"), (ModelTooLargeError(), "completed")])
def test_form_that_cannot_be_built_leaves_what_the_levels_found(monkeypatch, error, termination):
    def failing(*_):
        raise error

    monkeypatch.setattr("gangopt.solvers.parameters.stages.improve", failing)
    instance = make([11, 7, 5, 3, 2], 3)
    outcome = exact(instance, Controls(), order="request_difference+size_difference", requests=6)
    assert (outcome.termination, outcome.form) == (termination, "levels")
    assert instance.check(outcome.solution) == []
    assert outcome.reason.startswith("size_difference is ")


@pytest.mark.parametrize(("more", "holds"), [(-1, False), (0, True), (1, True)])
def test_the_bound_of_a_row_takes_those_of_rows_with_as_many_requests_or_more(more, holds):
    instance = make([7, 5, 4], 3)
    score = instance.evaluate(paa(instance))
    own = row_bound(instance, score, Controls())
    other = dataclasses.replace(score, metrics={**score.metrics, "requests": score.metrics["requests"] + more})
    assert row_bound(instance, score, Controls(), [(other, own + 1.0)]) == own + holds
