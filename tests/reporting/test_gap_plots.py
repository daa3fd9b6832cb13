"""Pictures of whatever names and gaps there are: they are drawn, without a warning, and names stay apart."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.reporting.gap_plots import (
    frontier_chart,
    gap_chart,
    performance_profile,
    plain_text,
    save_picture,
    to_svg,
    trajectory_chart,
)
from gangopt.solvers.compare.comparison import Comparison
from gangopt.solvers.core.row import Row


def row(instance, method, gap, problem="parameters"):
    return Row(instance, problem, method, 1.0, 1.0, gap, proven=False, seconds=0.0, status="feasible", unit="u")


COMPARISONS = {
    "dollars": [row("a$b$", "exact", 0.1), row(r"x$\frac$ {", r"lpt?x=$y\$", 0.2)],
    "underscores": [row("_a", "_x", 0.1), row("b", "__y", 0.2)],
    "letters": [row("\u30af\u30e9\u30b9\u30bf", "\u65b9\u6cd5", 0.1), row("\U0001f600", "m", 0.3)],
    "long": [row("a" * 500, "m" * 500, 0.1)],
    "many": [row(f"i{k}", f"m{j}", 0.1 * j) for k in range(100) for j in range(40)],
    "huge": [row("a", "x", 1e300), row("b", "x", 1e-300), row("c", "y", float("inf")), row("d", "y", 1e308)],
    "below the bound": [row("a", "x", -1e-3)],
    "infinite only": [row("a", "x", float("inf"))],
    "without a gap": [row("a", "x", None)],
    "two decisions": [row("a", "x", 0.1), row("b", "y", 0.2, problem="placement")],
}


@pytest.mark.parametrize(("kind", "draw"), list(itertools.product(COMPARISONS, (gap_chart, performance_profile))))
def test_every_comparison_is_drawn(kind, draw, tmp_path):
    figure = draw(Comparison(tuple(COMPARISONS[kind])))
    assert to_svg(figure).startswith("<svg")
    for suffix, head in ((".png", b"\x89PNG"), (".pdf", b"%PDF")):
        save_picture(figure, tmp_path / f"a{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes().startswith(head)


def test_gaps_that_have_no_place_on_the_axis_are_on_its_edge():
    (axes,) = gap_chart(Comparison(tuple(COMPARISONS["huge"]))).axes
    drawn = {
        line.get_label(): list(map(float, line.get_xdata()))
        for line in axes.lines
        if not line.get_label().startswith("_")
    }
    assert drawn == {"x": [pytest.approx(1e-298, rel=1e-9, abs=0.0)], "y": []}
    on_the_edge = [len(line.get_xdata()) for line in axes.lines if line.get_label().startswith("_")]
    assert on_the_edge == [1, 2]


def test_a_profile_counts_huge_gaps_as_never_closed():
    (axes,) = performance_profile(Comparison(tuple(COMPARISONS["huge"]))).axes
    assert [max(line.get_ydata()) for line in axes.lines] == [0.5, 0.0]


def test_legends_name_every_method():
    for kind, names in (("underscores", [" _x", " __y"]), ("dollars", ["exact", r"lpt?x=\$y\\$"])):
        for draw in (gap_chart, performance_profile):
            (axes,) = draw(Comparison(tuple(COMPARISONS[kind]))).axes
            assert [text.get_text() for text in axes.get_legend().get_texts()] == names


@pytest.mark.parametrize(
    "trajectory",
    [
        [(0, 1, None), (1.0, 5e307, 1e307)],
        [(0, -1e308, 1e308)],
        [(1e300, 1, 1), (0.0, None, None)],
        [(0.0, 2.0, 1.0), (1.0, 1.5, 1.5)],
    ],
)
def test_every_trajectory_is_drawn(trajectory):
    figure = trajectory_chart(trajectory, "a$b$ " + "x" * 600, "u$x$")
    assert to_svg(figure).startswith("<svg")


@pytest.mark.parametrize(
    "points",
    [
        [{"requests": 1, "size": 1e300, "bound": 0}],
        [{"a$": 1, "_b$": 2, "bound": 1}, {"a$": 2, "_b$": 1, "bound": 1}],
    ],
)
def test_every_frontier_is_drawn(points):
    assert to_svg(frontier_chart(points, "\u65e5\u672c$a$")).startswith("<svg")


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
        save_picture(gap_chart(Comparison(())), tmp_path / "a.gif")
