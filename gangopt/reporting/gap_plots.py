"""Plots of comparisons and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gangopt.reporting.plots import label, line_style, new_figure, plain_text
from gangopt.solvers.compare.comparison import Comparison
from gangopt.solvers.core.row import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "frontier_chart",
    "gap_chart",
    "performance_profile",
    "trajectory_chart",
]

MARKERS = "oDsv^P*X<>hpd"
"""Thirteen markers and ten colours: the two together repeat only after 130 methods."""


def _methods(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows if row.method))


def _problems(comparison: Comparison) -> list[list[Row]]:
    nouns = dict.fromkeys(row.problem for row in comparison.rows if row.rel_gap is not None)
    return [[row for row in comparison.rows if row.problem == noun and row.rel_gap is not None] for noun in nouns]


def gap_chart(comparison: Comparison) -> Figure:
    """Plot the gap of each method on each instance, with one panel for each problem.

    The axis of the gaps, in percent, is linear below 0.1 % and logarithmic above. Infinite gaps and gaps above `WIDEST`
    are hollow points on the right edge.

    Parameters
    ----------
    comparison : Comparison
        Rows of one or more problems.
    """
    per_problem = _problems(comparison)
    names = [row.instance for rows in per_problem for row in rows]
    figure, panels = _stack(
        [_panel_height(rows) for rows in per_problem], _inches(names), _inches(_methods(comparison.rows))
    )
    for axes, rows in zip(panels, per_problem, strict=True):
        _gap_panel(axes, rows)
    if panels:
        panels[-1].set_xlabel("gap to the best proven bound (%)")
    return figure


LABELS = 80
"""Maximum number of instance labels in a panel."""

CHARACTER = 0.085
"""Width of a character of a label, in inches."""

WIDEST = 1e9
"""Largest gap, in percent, shown on an axis."""


def _inches(labels: Sequence[str]) -> float:
    return CHARACTER * max((len(plain_text(label)) for label in labels), default=0)


def _stack(heights: Sequence[float], left: float, right: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with stacked panels and margins, in inches, for labels (left) and legends (right)."""
    from matplotlib.figure import Figure

    left, middle, between = left + 0.4, 5.5, 0.7
    width, height = left + middle + right + 0.7, 0.3 + sum(heights) + between * len(heights)
    figure = Figure(figsize=(width, height))
    panels, top = [], height - 0.3
    for inches in heights:
        place = (left / width, (top - inches) / height, middle / width, inches / height)
        panels.append(figure.add_axes(place))
        top -= inches + between
    return figure, panels


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)


def _panel_height(rows: list[Row]) -> float:
    """Return the height, in inches, for the instances and the legend; at most 14 inches for the instances."""
    instances = len({row.instance for row in rows})
    return max(0.3 + min(14.0, 0.34 * instances), _legend_height(rows))


def _legend_height(rows: list[Row]) -> float:
    return 0.3 + 0.27 * len(_methods(rows))


def _gap_panel(axes: Axes, rows: list[Row]) -> None:
    instances = {name: place for place, name in enumerate(dict.fromkeys(row.instance for row in rows))}
    methods = _methods(rows)
    edge = axes.get_yaxis_transform()
    for number, method in enumerate(methods):
        offset = 0.6 * ((number + 0.5) / len(methods) - 0.5)
        own = [(_percent(row), instances[row.instance] + offset) for row in rows if row.method == method]
        look: dict[str, Any] = {
            "linestyle": "none",
            "marker": MARKERS[number % len(MARKERS)],
            "color": f"C{number % 10}",
        }
        shown = [(gap, place) for gap, place in own if gap <= WIDEST]
        axes.plot([gap for gap, _ in shown], [place for _, place in shown], label=plain_text(method), **look)
        beyond = [place for gap, place in own if gap > WIDEST]
        axes.plot([1.0] * len(beyond), beyond, transform=edge, clip_on=False, markerfacecolor="none", **look)
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(left=-0.02)
    labels = list(map(plain_text, instances))
    labelled = range(0, len(labels), 1 + len(labels) // LABELS)
    axes.set_yticks(list(labelled), [labels[index] for index in labelled])
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.grid(axis="x", alpha=0.3)
    _legend(axes)


def _percent(row: Row) -> float:
    return 100 * max(0.0, row.rel_gap or 0.0)


def performance_profile(comparison: Comparison) -> Figure:
    """Plot the share of instances that each method solves within a gap, with one panel for each problem.

    Gaps above `WIDEST` percent count as never closed.

    Parameters
    ----------
    comparison : Comparison
        Rows of one or more problems.
    """
    per_problem = _problems(comparison)
    nouns = [rows[0].problem for rows in per_problem]
    every = [[row for row in comparison.rows if row.problem == noun] for noun in nouns]
    heights = [max(2.4, _legend_height(rows)) for rows in every]
    figure, panels = _stack(heights, 0.3, _inches(_methods(comparison.rows)))
    for axes, noun, rows in zip(panels, nouns, every, strict=True):
        _profile_panel(axes, noun, rows)
    if panels:
        panels[-1].set_xlabel("gap to the best proven bound, at most (%)")
    return figure


def _profile_panel(axes: Axes, noun: str, rows: list[Row]) -> None:
    closed = [(row.method, gap) for row in rows if row.rel_gap is not None and (gap := _percent(row)) <= WIDEST]
    right = max([1.0, *(gap for _, gap in closed)]) * 1.5
    for number, method in enumerate(_methods(rows)):
        count = sum(row.method == method for row in rows)
        gaps = sorted(gap for name, gap in closed if name == method)
        shares = [(rank + 1) / count for rank in range(len(gaps))]
        steps = [0.0, *shares, shares[-1] if shares else 0.0]
        axes.step([0.0, *gaps, right], steps, where="post", label=plain_text(method), **line_style(number))
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(0, right)
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("share of instances")
    axes.set_title(plain_text(noun), loc="left", fontsize=10)
    axes.grid(alpha=0.3)
    _legend(axes)


def trajectory_chart(trajectory: Sequence[Sequence[float | None]], title: str, unit: str) -> Figure:
    """Plot incumbent and bound against wall-clock seconds.

    Parameters
    ----------
    trajectory : sequence of sequence of float or None
        Triples (seconds, objective, bound), one for each change.
    title : str
        Title of the plot.
    unit : str
        Unit of objective and bound.
    """
    figure, axes = new_figure(7.0, 3.6)
    for column, name in ((1, "incumbent"), (2, "bound")):
        points = [(item[0] or 0.0, value) for item in trajectory if (value := item[column]) is not None]
        drawn = [(x, y) for x, y in points if abs(x) <= FARTHEST and abs(y) <= FARTHEST]
        axes.step([x for x, _ in drawn], [y for _, y in drawn], where="post", marker=".", label=name)
    label(axes, "wall-clock seconds", f"objective ({plain_text(unit)})", plain_text(title, TITLE), legend=True)
    return figure


def frontier_chart(points: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Plot a Pareto frontier of two metrics with its lower bounds.

    Parameters
    ----------
    points : sequence of mapping of str to object
        Records whose first field is the abscissa and second the ordinate, with the `bound` of the ordinate.
    title : str
        Title of the plot.
    """
    figure, axes = new_figure(7.0, 3.8)
    across, upward = list(points[0])[:2]
    for column, style, name in ((upward, "o-", plain_text(upward)), ("bound", "_", "bound")):
        drawn = [item for item in points if abs(item[across]) <= FARTHEST and abs(item[column]) <= FARTHEST]
        axes.plot([item[across] for item in drawn], [item[column] for item in drawn], style, ms=8, label=name)
    axes.set_yscale("symlog", linthresh=1)
    label(axes, plain_text(across), plain_text(upward), plain_text(title, TITLE), legend=True)
    return figure


FARTHEST = 1e100
"""Largest number shown in a plot; logarithms and differences of larger ones overflow."""

TITLE = 72
"""Maximum length of a title."""
