"""What every experiment of the command line shares: its checks, its lists of values, its table and its picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gangopt.base.arguments import number_in
from gangopt.base.errors import InputError, shown
from gangopt.cli.output import check_output, require_whole

if TYPE_CHECKING:
    from gangopt.reporting.experiment import ExperimentTable

__all__ = ["check", "finish", "numbers", "whole_numbers", "words"]


def check(output: list[Path] | None, time_limit: float | None, seed: int) -> None:
    """Refuse what could not be written or run, before anything is computed."""
    from gangopt.reporting.experiment import TABLE_SUFFIXES
    from gangopt.reporting.gap_plots import PICTURE_SUFFIXES
    from gangopt.solvers.solve import checked_controls

    checked_controls(time_limit, 0.0, 1, seed)
    allowed = (*PICTURE_SUFFIXES, *TABLE_SUFFIXES)
    for path in output or []:
        if path.suffix.lower() not in allowed:
            raise InputError(f"{path}: suffix {path.suffix or 'missing'}, allowed: {', '.join(allowed)}")
        check_output(path)


def finish(table: ExperimentTable, draw: Callable[[Any], Any], output: list[Path] | None, as_json: bool) -> None:
    """Write what was asked for and print the table."""
    from gangopt.base.jsonfile import dump_json
    from gangopt.reporting.experiment import TABLE_SUFFIXES
    from gangopt.reporting.gap_plots import save_picture

    require_whole()
    for path in output or []:
        if path.suffix.lower() in TABLE_SUFFIXES:
            table.write(path)
        else:
            save_picture(draw(table), path)
    typer.echo(dump_json(table.to_json()), nl=False) if as_json else typer.echo(table.text())


def words(text: str) -> list[str]:
    """Return the parts of a list with commas."""
    return [part.strip() for part in text.split(",")]


def numbers(option: str, text: str) -> list[float]:
    """Return the numbers of an option's list with commas."""
    found = [value for part in text.split(",") if (value := number_in(part)) is not None]
    if len(found) != text.count(",") + 1:
        raise InputError(f"{option} {shown(text)}: numbers separated by commas are needed")
    return [float(value) for value in found]


def whole_numbers(option: str, text: str) -> list[int]:
    """Return the whole numbers from 1 to 10,000 of an option's list with commas."""
    values = numbers(option, text)
    if any(not value.is_integer() or not 1 <= value <= 10_000 for value in values):
        raise InputError(f"{option} {shown(text)}: whole numbers from 1 to 10,000 are needed")
    return [int(value) for value in values]
