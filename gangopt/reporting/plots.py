"""Helpers of all plots: figures, axis labels, line styles, lettering and files.

Plots are matplotlib Figures of their own and change no global state.
"""

from __future__ import annotations

import io
import os
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import shorten
from gangopt.base.jsonfile import write_bytes
from gangopt.base.suffixes import check_suffix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "PICTURE_SUFFIXES",
    "check_picture_suffix",
    "label",
    "line_style",
    "new_figure",
    "plain_text",
    "save_picture",
    "time_unit",
    "to_png",
    "to_svg",
]

PICTURE_SUFFIXES = (".png", ".svg", ".pdf")

_TIME_UNITS = ((172_800.0, 86_400.0, "days"), (7200.0, 3600.0, "h"))


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure of the given size in inches, with one pair of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def label(axes: Axes, x: str = "", y: str = "", title: str = "", *, grid: bool = True, legend: bool = False) -> None:
    """Label axes in the style of all plots.

    Parameters
    ----------
    axes : Axes
        Axes that are drawn on.
    x, y, title : str, optional
        Labels of the axes and title above them.
    grid : bool, optional
        Whether to draw faint grid lines.
    legend : bool, optional
        Whether to add a legend without a frame inside the axes.
    """
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=10)
    if grid:
        axes.grid(alpha=0.3)
    if legend:
        axes.legend(frameon=False)


def line_style(number: int) -> dict[str, Any]:
    """Return colour and dashes of a numbered line; the two together repeat after 40 lines."""
    return {"color": f"C{number % 10}", "linestyle": ("-", "--", "-.", ":")[number // 10 % 4]}


def time_unit(seconds: float) -> tuple[float, str]:
    """Return the seconds and the name of the unit for a time axis that ends at `seconds`."""
    return next(((size, unit) for limit, size, unit in _TIME_UNITS if seconds >= limit), (1.0, "s"))


def plain_text(text: str, longest: int = 48) -> str:
    """Return a text for a plot: never mathematics, never too long, only characters of the font.

    Parameters
    ----------
    text : str
        Name of an instance or method.
    longest : int, optional
        Maximum number of characters.

    Returns
    -------
    str
        Dollar signs are escaped; a leading underscore, which would hide the text from legends, follows a blank.
    """
    known = _characters()
    drawn = "".join(item if ord(item) in known else ascii(item)[1:-1] for item in text)
    cut = shorten(drawn, longest).replace("$", r"\$")
    return f" {cut}" if cut.startswith("_") else cut


@cache
def _characters() -> frozenset[int]:
    """Return the code points of the font of plots."""
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    return frozenset(font.get_charmap())


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG text without XML header, the same for the same figure."""
    return _bytes(figure, "svg").decode("utf-8").partition("<svg")[2].join(["<svg", ""])


def to_png(figure: Figure) -> bytes:
    """Return a figure as PNG, the same for the same figure."""
    return _bytes(figure, "png")


def _bytes(figure: Figure, kind: str) -> bytes:
    import matplotlib as mpl

    buffer = io.BytesIO()
    stamp = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with mpl.rc_context({"svg.hashsalt": "gangopt"}), warnings.catch_warnings():
        # figures of other modules may hold characters that the font lacks; the box drawn instead needs no warning
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(buffer, format=kind, dpi=150, metadata=stamp)
    return buffer.getvalue()


def save_picture(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF; a write that fails leaves no file behind.

    Parameters
    ----------
    figure : Figure
        The plot.
    path : str or path-like
        Path with suffix .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the path has another suffix or cannot be written.
    """
    suffix = check_picture_suffix(path)
    write_bytes(path, _bytes(figure, suffix[1:]))


def check_picture_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a plot file, or raise InputError if plots cannot be written in its format."""
    return check_suffix(path, PICTURE_SUFFIXES)
