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


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _methods(comparison: Comparison) -> list[str]:
    return list(dict.fromkeys(row.method for row in comparison.rows if row.method))


def gap_chart(comparison: Comparison) -> Figure:
    """Return the gap of every method on every instance, one group of points an instance.

    Gaps are in percent on an axis that is linear below 0.1 % and logarithmic above; infinite gaps are left out.

    Parameters
    ----------
    comparison : rows of one decision or several

    Returns
    -------
    Figure
    """
    instances = list(dict.fromkeys(row.instance for row in comparison.rows if row.rel_gap is not None))
    figure, axes = _figure(9.0, max(2.6, 1.4 + 0.32 * len(instances)))
    for number, method in enumerate(_methods(comparison)):
        points = [
            (100 * row.rel_gap, instances.index(row.instance))
            for row in comparison.rows
            if row.method == method and row.rel_gap is not None and math.isfinite(row.rel_gap)
        ]
        offset = 0.5 * ((number + 0.5) / max(1, len(_methods(comparison))) - 0.5)
        axes.plot(
            [max(0.0, gap) for gap, _ in points],
            [place + offset for _, place in points],
            linestyle="none",
            marker="oDsv^P*X<>"[number % 10],
            label=method,
        )
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(left=-0.02)
    axes.set_yticks(range(len(instances)), instances)
    axes.set_ylim(len(instances) - 0.4, -0.6)
    axes.set_xlabel("gap to the best proven bound (%)")
    axes.grid(axis="x", alpha=0.3)
    if instances:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def performance_profile(comparison: Comparison) -> Figure:
    """Return the share of instances that each method solves within a gap, against the gap.

    Parameters
    ----------
    comparison : rows of one decision or several

    Returns
    -------
    Figure
    """
    figure, axes = _figure(7.0, 3.6)
    finite = [100 * gap for gap in _gaps(comparison.rows) if math.isfinite(gap)]
    right = max([1.0, *finite]) * 1.5
    for method in _methods(comparison):
        rows = [row for row in comparison.rows if row.method == method]
        gaps = sorted(max(0.0, 100 * gap) for gap in _gaps(rows) if math.isfinite(gap))
        shares = [(rank + 1) / len(rows) for rank in range(len(gaps))]
        axes.step([0.0, *gaps, right], [0.0, *shares, shares[-1] if shares else 0.0], where="post", label=method)
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlim(0, right)
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("gap to the best proven bound, at most (%)")
    axes.set_ylabel("share of instances")
    axes.grid(alpha=0.3)
    if _methods(comparison):
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


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
