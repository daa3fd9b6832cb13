"""The proof by covering: never more than enumeration finds, and decisive where few servers are left to fill."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.solvers.parameters.cover import is_least_difference


def least_difference(sizes, servers):
    best = None
    for places in itertools.product(range(servers), repeat=len(sizes)):
        loads = [0] * servers
        for size, place in zip(sizes, places, strict=True):
            loads[place] += size
        best = max(loads) - min(loads) if best is None else min(best, max(loads) - min(loads))
    return best


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(1, 4), st.sampled_from((1, 4)), st.data())
def test_what_is_proven_is_true(sizes, servers, unit, data):
    sizes = [size * unit for size in sizes]
    optimum = least_difference(sizes, servers)
    claimed = data.draw(st.integers(0, optimum + 40))
    if is_least_difference(sizes, servers, claimed):
        assert claimed <= optimum


def test_two_servers_left_to_fill_are_decided_by_the_sums_of_the_small_blocks():
    sizes, servers = [1000, 100, 7, 7, 5], 4
    optimum = least_difference(sizes, servers)
    assert is_least_difference(sizes, servers, optimum)
    assert not is_least_difference(sizes, servers, optimum + 1)


def test_a_server_that_gets_nothing_is_counted():
    assert is_least_difference([9, 5], 3, 9)


def test_more_servers_are_decided_by_a_search():
    sizes, servers = [90, 90, 8, 8, 8, 8, 5, 5, 3], 6
    optimum = least_difference([90, 8, 8, 8, 5, 5], 4)
    assert is_least_difference([90, 8, 8, 8, 5, 5], 4, optimum)
    assert not is_least_difference(sizes, servers, 90)


def test_vgg_is_proven_without_a_solver():
    result = gangopt.solve("parameters/vgg16-p10")
    assert (result.objective, result.proven) == (101_307_608, True)
    assert result.form == "levels"
