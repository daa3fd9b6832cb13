"""Patterns of pieces in a machine."""

import itertools

from gangopt.formulations.patterns import patterns_of


def test_patterns_are_all_multisets_that_fit():
    sizes = [1, 2, 5]
    every = (pattern for n in range(6) for pattern in itertools.combinations_with_replacement(sizes[::-1], n))
    assert patterns_of(5, sizes, 100) == sorted(pattern for pattern in every if sum(pattern) <= 5)
    assert patterns_of(0, sizes, 100) == [()]


def test_more_patterns_than_the_limit_are_not_listed():
    assert len(patterns_of(5, [1, 2, 5], 12)) == 13
    assert patterns_of(5, [1, 2, 5], 11) is None
