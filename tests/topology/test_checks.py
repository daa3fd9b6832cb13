"""Checks of single values and the order of labels."""

from hypothesis import given
from hypothesis import strategies as st

from gangopt.topology import _checks


@given(st.lists(st.text("s2m09.", max_size=5), unique=True))
def test_natural_order_is_total_and_independent_of_the_given_order(words):
    ordered = sorted(words, key=_checks.natural_key)
    assert sorted(words, key=_checks.natural_key) == ordered
    assert len({_checks.natural_key(word) for word in words}) == len(words)


@given(st.lists(st.integers(0, 10**30), unique=True))
def test_natural_order_of_numbered_labels_is_the_order_of_the_numbers(numbers):
    ordered = sorted((f"m{number}" for number in numbers), key=_checks.natural_key)
    assert ordered == [f"m{number}" for number in sorted(numbers)]


def test_natural_order_takes_digit_runs_that_int_would_refuse():
    assert sorted(["m" + "9" * 5000, "m1"], key=_checks.natural_key) == ["m1", "m" + "9" * 5000]


class Unprintable:
    def __repr__(self):
        raise RuntimeError


def test_shown_is_one_short_line_whatever_the_value():
    assert _checks.shown("a\nb") == "'a\\nb'"
    assert len(_checks.shown("x" * 1000)) == 60
    assert _checks.shown(Unprintable()) == "<Unprintable>"
