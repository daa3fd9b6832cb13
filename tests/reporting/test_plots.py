"""Lettering, time axes and files of plots."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.reporting.plots import line_style, new_figure, plain_text, save_picture, time_unit


@pytest.mark.parametrize(
    ("seconds", "unit"), [(0, (1.0, "s")), (7199, (1.0, "s")), (7200, (3600.0, "h")), (2e5, (86400.0, "days"))]
)
def test_time_axes_have_a_fitting_unit(seconds, unit):
    assert time_unit(seconds) == unit


def test_forty_lines_differ():
    assert len({tuple(line_style(number).items()) for number in range(40)}) == 40


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=90))
@settings(max_examples=300)
def test_no_name_is_mathematics(text):
    from matplotlib.cbook import is_math_text

    shown = plain_text(text)
    assert not is_math_text(shown)
    assert not shown.startswith("_")
    assert len(shown.replace(r"\$", "$")) <= 49


def test_names_that_differ_in_unknown_letters_stay_apart():
    assert plain_text("\u30af") == r"\u30af"
    assert plain_text("\u30af") != plain_text("\u30e9")
    assert plain_text("caf\u00e9") == "caf\u00e9"


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"suffix .gif, allowed: .png, .svg, .pdf"):
        save_picture(new_figure(3, 2)[0], tmp_path / "a.gif")
