"""Aligned tables and number formats."""

import math

import pytest

from gangopt.reporting.text import WIDEST_CELL, Table, aligned, format_fixed, format_number, format_short, render


def table(*rows):
    made = Table({"name": "left", "number": "right", "note": "left"})
    for row in rows:
        made.add_row(*row)
    return made


def test_a_rule_below_the_heads_and_a_blank_line_between_sections():
    made = table(("a", "1", "first"))
    made.add_section()
    made.add_row("longer", "1,000", "")
    assert render(made).splitlines() == [
        " name     number   note",
        " " + 23 * "─",
        " a             1   first",
        "",
        " longer    1,000",
    ]


def test_wide_characters_take_two_columns():
    assert render(table(("クラ", "1", ""), ("abcd", "2", ""))).splitlines()[2:] == [
        " クラ        1",
        " abcd        2",
    ]


def test_long_cells_lose_their_middle():
    made = table(("x" * 1000, "1", ""))
    assert len(made.rows[0][0]) == WIDEST_CELL
    assert "..." in made.rows[0][0]


def test_cells_wider_than_a_given_width_push_the_rest():
    assert aligned([("abc", "d"), ("a", "b")], ("left", "left"), widths=(2, 1)) == ["abc  d", "a   b"]


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (format_number(26 / 3), "8.66667"),
        (format_number(26 / 3, digits=10), "8.666666667"),
        (format_number(1234567.25), "1,234,567.25"),
        (format_number(1234567.25, digits=10), "1,234,567.25"),
        (format_short(0.123456), "0.1235"),
        (format_short(12345.6), "12,346"),
        (format_short(math.inf), "inf"),
        (format_fixed(1234.5678, 2), "1,234.57"),
        (format_fixed(None, 2), "-"),
    ],
)
def test_number_formats(shown, text):
    assert shown == text
