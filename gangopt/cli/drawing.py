"""Plots of saved comparisons and results for `gangopt plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from gangopt.base.errors import InputError, shorten
from gangopt.base.jsonfile import file_kind, read_json
from gangopt.base.suffixes import check_suffix
from gangopt.registry.records import problems
from gangopt.reporting.gap_plots import frontier_chart, gap_chart, performance_profile, trajectory_chart
from gangopt.reporting.plots import check_picture_suffix, plain_text, save_picture
from gangopt.solvers.compare.comparison import Comparison
from gangopt.solvers.core.resultfile import topology_in
from gangopt.topology import State, draw

__all__ = ["plot_file"]

READABLE = (".parquet", ".csv", ".json")
"""Suffixes of saved comparisons and results; an HTML report cannot be read back."""


def plot_file(file: Path, output: Path) -> list[Path]:
    """Plot a saved comparison or result.

    Parameters
    ----------
    file : Path
        A comparison saved as .parquet, .csv or .json, or a result saved as .json.
    output : Path
        Plot to write. Beside it, the performance profile of a comparison is written as `<name>-profile<suffix>`, and
        the trajectory of a solution that is drawn on its cluster as `<name>-trajectory<suffix>`.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        If the file is neither, has nothing to plot, or the output cannot be written.
    """
    check_picture_suffix(output)
    name = shorten(str(file))
    kind = file_kind(file)
    if kind == "absent":
        raise InputError(f"{name}: no such file")
    if kind == "directory":
        raise InputError(f"{name} must be a file (is a directory)")
    if check_suffix(file, READABLE) == ".json":
        value = read_json(file)
        if isinstance(value, dict) and "termination" in value:
            return _plot_result(value, file, output)
    return _plot_comparison(Comparison.read(file), file, output)


def _plot_comparison(comparison: Comparison, file: Path, output: Path) -> list[Path]:
    if not any(row.rel_gap is not None for row in comparison.rows):
        raise InputError(f"{file}: no row has a gap, so there is nothing to plot")
    profile = output.with_name(f"{output.stem}-profile{output.suffix}")
    save_picture(gap_chart(comparison), output)
    save_picture(performance_profile(comparison), profile)
    return [output, profile]


def _plot_result(value: dict[str, Any], file: Path, output: Path) -> list[Path]:
    title = f"{value.get('instance')}: {value.get('method')}"
    where = topology_in(value, shorten(str(file)))
    if where is None:
        reason = (value.get("topology") or {}).get("reason")
        if reason is not None:
            typer.echo(f"{shorten(str(file))}: the solution is not drawn: {shorten(str(reason))}", err=True)
    else:
        return _plot_places(where, title, value, file, output)
    _plot_course(value, title, file, output)
    return [output]


def _plot_places(where: State, title: str, value: dict[str, Any], file: Path, output: Path) -> list[Path]:
    figure = draw(where)
    figure.suptitle(plain_text(title), fontsize=10)
    written = [output]
    if value.get("trajectory"):
        written.append(output.with_name(f"{output.stem}-trajectory{output.suffix}"))
        # first, so that an invalid trajectory leaves nothing written
        _plot_course(value, title, file, written[-1])
    save_picture(figure, output)
    return written


def _plot_course(value: dict[str, Any], title: str, file: Path, output: Path) -> None:
    metrics = value.get("metrics")
    frontier = metrics.get("frontier") if isinstance(metrics, dict) else None
    trajectory = value.get("trajectory")
    try:
        if frontier:
            save_picture(frontier_chart(frontier, title), output)
        elif trajectory:
            unit = problems[str(value.get("problem"))].unit
            save_picture(trajectory_chart(trajectory, title, unit), output)
        else:
            raise InputError(f"{file}: the result has neither a trajectory nor a frontier to plot")
    except (TypeError, KeyError, IndexError, AttributeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: not a result saved by gangopt ({type(error).__name__}: {error})") from None
