"""Plots of comparisons and results with odd names and gaps."""

import itertools

import pytest

from gangopt.reporting.gap_plots import frontier_chart, gap_chart, performance_profile, trajectory_chart
from gangopt.reporting.plots import save_picture, to_svg
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
