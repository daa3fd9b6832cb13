"""Gittins index over attained service, compared with values by hand, and bad input."""

from fractions import Fraction

import pytest

from gangopt import Workload
from gangopt.base.errors import InputError
from gangopt.experiments.gittins_curve import gittins_curve, picture

PRINTED = ["1/8", "1/7", "1/6", "1/3", "1/6", "1/5", "1/4", "1/2", "1/4", "1/3", "1/2", "1", "0"]
"""Index of figure 7's three jobs at attained services of 0 to 12 by the printed formula, by hand."""

DISCRETISED = ["1/12", "1/11", "1/10", "1/9"]
"""The same for a quantum of 4 at 0 to 3: one of three jobs ends within it."""


def test_figure7_by_hand():
    table = gittins_curve()
    assert [row["attained"] for row in table.rows] == list(range(13))
    assert [row["printed"] for row in table.rows] == pytest.approx([float(Fraction(item)) for item in PRINTED])
    assert [row["queue"] for row in table.rows] == [1] * 4 + [2] * 9
    assert [row["discretised"] for row in table.rows[:4]] == pytest.approx(
        [float(Fraction(item)) for item in DISCRETISED]
    )
    assert {row["discretised"] for row in table.rows[4:]} == {0.0}


def test_the_printed_index_is_no_less_than_that_of_any_quantum():
    for row in gittins_curve((1, 2, 3, 10, 40), (2, 6, 50), points=81).rows:
        assert row["printed"] >= row["discretised"] - 1e-12


def test_services_of_a_workload():
    workload = Workload.from_columns(
        {"id": ["a", "b"], "arrival": [0, 0], "gpus": [2, 1], "duration": [5, 30]}, name="two"
    )
    table = gittins_curve(workload=workload, points=3)
    assert [row["attained"] for row in table.rows] == [0, 10, 30]
    assert [row["printed"] for row in table.rows] == pytest.approx([1 / 20, 1 / 20, 0])
    assert table.notes[0] == "services: of the 2 jobs of two"
    assert gittins_curve(workload=workload, points=3, jobs=1).rows[-1]["attained"] == 10


def test_picture():
    axes = picture(gittins_curve()).axes[0]
    assert [line.get_label() for line in axes.get_lines()] == ["printed", "discretised"]
    assert axes.get_xscale() == "linear"
    assert picture(gittins_curve(workload="workload/tiresias-testbed")).axes[0].get_xscale() == "symlog"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"points": 1}, r"points must be an integer from 2 to 10,000 \(got 1\)"),
        ({"thresholds": (4, 4)}, r"thresholds must be > 0 GPU s and ascending \(got 4, 4\)"),
        ({"thresholds": ()}, r"ascending \(got none\)"),
        ({"thresholds": (0,)}, r"ascending \(got 0\)"),
        ({"thresholds": (float("nan"),)}, r"ascending \(got nan\)"),
        ({"services": ()}, "services must not be empty"),
        ({"services": (4, -1)}, r"services must be finite numbers > 0 GPU s \(got -1\)"),
        ({"workload": "workload/none"}, "unknown workload"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        gittins_curve(**arguments)
