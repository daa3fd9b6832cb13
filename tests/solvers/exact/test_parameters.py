"""The exact methods of `parameters` against full enumeration, and the bounds that they prove."""

from __future__ import annotations

import itertools
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.errors import InputError
from gangopt.instances.generators.parameters import network, random
from gangopt.instances.parameters import ParametersInstance, ParametersSolution
from gangopt.instances.parameters_grouping import cut
from gangopt.solvers.contract import Controls
from gangopt.solvers.exact.parameters import exact, frontier, frontier_method, row_bound
from gangopt.solvers.exact.parameters_groups import groupings
from gangopt.solvers.exact.parameters_levels import Clock, LevelSearch, search_of
from gangopt.solvers.heuristics.parameters import mxnet, paa

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
