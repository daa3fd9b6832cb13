"""Pictures of comparisons and results; every function returns a matplotlib Figure and touches no global state."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.errors import InputError
from gangopt.jsonfile import write_bytes
from gangopt.solvers.comparison import Comparison, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "PICTURE_SUFFIXES",
    "frontier_chart",
    "gap_chart",
    "performance_profile",
    "save_picture",
    "to_svg",
    "trajectory_chart",
]

PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


MARKERS = "oDsv^P*X<>hpd"
"""Thirteen markers and ten colours: the two together repeat only after 130 methods."""


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _methods(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows if row.method))


def _decisions(comparison: Comparison) -> list[list[Row]]:
    nouns = dict.fromkeys(row.problem for row in comparison.rows if row.rel_gap is not None)
    return [[row for row in comparison.rows if row.problem == noun and row.rel_gap is not None] for noun in nouns]


def gap_chart(comparison: Comparison) -> Figure:
    """Return the gap of every method on every instance, one panel a decision, one group of points an instance.

    Gaps are in percent on an axis that is linear below 0.1 % and logarithmic above; infinite gaps are hollow points
    on the right edge.

    Parameters
    ----------
    comparison : rows of one decision or several

    Returns
    -------
    Figure
    """
    from matplotlib.figure import Figure

    decisions = _decisions(comparison)
    heights = [_panel_height(rows) for rows in decisions]
    names = [row.instance for rows in decisions for row in rows]
    left = 0.3 + CHARACTER * max(map(len, names), default=0)
    right = 0.6 + CHARACTER * max((len(row.method) for row in comparison.rows), default=0)
    width, height = left + 5.5 + right, 0.2 + sum(heights) + 0.6 * len(heights)
    figure = Figure(figsize=(width, height))
    top = height - 0.2
    for rows, inches in zip(decisions, heights, strict=True):
        axes = figure.add_axes((left / width, (top - inches) / height, 5.5 / width, inches / height))
        _gap_panel(axes, rows)
        top -= inches + 0.6
    if decisions:
        figure.axes[-1].set_xlabel("gap to the best proven bound (%)")
    return figure


LABELS = 80
"""Most instances that are labelled in one panel."""

CHARACTER = 0.085
"""Inches that a character of a label takes."""


def _panel_height(rows: list[Row]) -> float:
    """Return inches that hold the instances on the left and the legend on the right; many instances share 14 inches."""
    instances = len({row.instance for row in rows})
    return 0.3 + max(min(14.0, 0.34 * instances), 0.27 * len(_methods(rows)))


def _gap_panel(axes: Axes, rows: list[Row]) -> None:
    instances = list(dict.fromkeys(row.instance for row in rows))
    methods = _methods(rows)
    edge = axes.get_yaxis_transform()
    for number, method in enumerate(methods):
        offset = 0.6 * ((number + 0.5) / len(methods) - 0.5)
        own = [(row.rel_gap or 0.0, instances.index(row.instance) + offset) for row in rows if row.method == method]
        look: dict[str, Any] = {
            "linestyle": "none",
            "marker": MARKERS[number % len(MARKERS)],
            "color": f"C{number % 10}",
        }
        finite = [(100 * max(0.0, gap), place) for gap, place in own if math.isfinite(gap)]
        axes.plot([gap for gap, _ in finite], [place for _, place in finite], label=method, **look)
        beyond = [place for gap, place in own if not math.isfinite(gap)]
        axes.plot([1.0] * len(beyond), beyond, transform=edge, clip_on=False, markerfacecolor="none", **look)
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(left=-0.02)
    labelled = range(0, len(instances), 1 + len(instances) // LABELS)
    axes.set_yticks(list(labelled), [instances[index] for index in labelled])
    axes.set_ylim(len(instances) - 0.45, -0.55)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)


def performance_profile(comparison: Comparison) -> Figure:
    """Return the share of instances that each method solves within a gap, against the gap, one panel a decision.

    Parameters
    ----------
    comparison : rows of one decision or several

    Returns
    -------
    Figure
    """
    from matplotlib.figure import Figure

    nouns = list(dict.fromkeys(rows[0].problem for rows in _decisions(comparison))) or [""]
    figure = Figure(figsize=(8.0, 3.2 * len(nouns)), layout="constrained")
    panels = figure.subplots(len(nouns), 1, squeeze=False)[:, 0]
    for axes, noun in zip(panels, nouns, strict=True):
        _profile_panel(axes, noun, [row for row in comparison.rows if row.problem == noun])
    panels[-1].set_xlabel("gap to the best proven bound, at most (%)")
    return figure


def _profile_panel(axes: Axes, noun: str, rows: list[Row]) -> None:
    finite = [100 * gap for gap in _gaps(rows) if math.isfinite(gap)]
    right = max([1.0, *finite]) * 1.5
    for number, method in enumerate(_methods(rows)):
        own = [row for row in rows if row.method == method]
        gaps = sorted(max(0.0, 100 * gap) for gap in _gaps(own) if math.isfinite(gap))
        shares = [(rank + 1) / len(own) for rank in range(len(gaps))]
        style = ("-", "--", "-.", ":")[number // 10 % 4]
        steps = [0.0, *shares, shares[-1] if shares else 0.0]
        axes.step([0.0, *gaps, right], steps, style, where="post", label=method)
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(0, right)
    axes.set_ylim(0, 1.03)
    axes.set_ylabel("share of instances")
    axes.set_title(noun, loc="left", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _gaps(rows: Sequence[Row]) -> list[float]:
    return [row.rel_gap for row in rows if row.rel_gap is not None]


def trajectory_chart(trajectory: Sequence[Sequence[float | None]], title: str, unit: str) -> Figure:
    """Return incumbent and bound against wall seconds.

    Parameters
    ----------
    trajectory : (seconds, objective, bound) at every change
    title : title of the picture
    unit : unit of objective and bound

    Returns
    -------
    Figure
    """
    figure, axes = _figure(7.0, 3.6)
    for column, label in ((1, "incumbent"), (2, "bound")):
        points = [(item[0] or 0.0, value) for item in trajectory if (value := item[column]) is not None]
        axes.step([x for x, _ in points], [y for _, y in points], where="post", marker=".", label=label)
    axes.set_title(title)
    axes.set_xlabel("wall seconds")
    axes.set_ylabel(f"objective ({unit})")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def frontier_chart(points: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Return a Pareto frontier of two figures, with its lower bounds.

    Parameters
    ----------
    points : records with an abscissa first, an ordinate second and `bound` of the ordinate
    title : title of the picture

    Returns
    -------
    Figure
    """
    figure, axes = _figure(7.0, 3.8)
    across, upward = list(points[0])[:2]
    axes.plot([item[across] for item in points], [item[upward] for item in points], "o-", label=upward)
    axes.plot([item[across] for item in points], [item["bound"] for item in points], "_", ms=14, label="bound")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylabel(upward)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG text without XML header, the same for the same figure."""
    return _bytes(figure, "svg").decode("utf-8").partition("<svg")[2].join(["<svg", ""])


def _bytes(figure: Figure, kind: str) -> bytes:
    import matplotlib as mpl

    buffer = io.BytesIO()
    stamp = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with mpl.rc_context({"svg.hashsalt": "gangopt"}):
        figure.savefig(buffer, format=kind, dpi=150, metadata=stamp)
    return buffer.getvalue()


def save_picture(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF by the suffix of the path, whole or not at all.

    Parameters
    ----------
    figure : what to write
    path : ends in .png, .svg or .pdf

    Raises
    ------
    InputError
        If the suffix is another or the file cannot be written.
    """
    suffix = check_picture_suffix(path)
    write_bytes(path, _bytes(figure, suffix[1:]))


def check_picture_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a picture's path, refusing those that cannot be written."""
    suffix = Path(path).suffix.lower()
    if suffix not in PICTURE_SUFFIXES:
        raise InputError(f"{os.fspath(path)}: suffix {suffix or 'missing'}, allowed: {', '.join(PICTURE_SUFFIXES)}")
    return suffix
