"""Command `compare`: many methods on many instances."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gangopt.base.errors import InputError
from gangopt.cli.naming import warn_of_hiding
from gangopt.cli.options import AsJson, Output, Quiet, RelGap, Seed, Threads, TimeLimit
from gangopt.cli.output import INTERRUPTED, check_output, print_json, require_whole, write_output

if TYPE_CHECKING:
    from gangopt.solvers.compare.comparison import Comparison

__all__ = ["compare"]


def compare(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|FILE", help="Names, patterns such as 'parameters/*', or files.")
    ],
    methods: Annotated[
        str | None,
        typer.Option("--methods", metavar="A,B,C", help="Comma-separated methods; each problem runs those it has."),
    ] = None,
    time_limit: TimeLimit = None,
    rel_gap: RelGap = 0.0,
    threads: Threads = 1,
    seed: Seed = 0,
    executor: Annotated[str, typer.Option("--executor", help="serial, processes or dask.")] = "serial",
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", help="Number of worker processes.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Dask scheduler address.")
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods with proven bounds on many instances.

    Prints a table for each problem, with the gap of each method to the best bound. -o saves the rows as .parquet, .csv
    or .json, or a report as .html.
    """
    from gangopt.reporting.comparison import comparison_text
    from gangopt.solvers.compare.compare import compare as run_compare
    from gangopt.solvers.compare.compare import expand
    from gangopt.solvers.compare.comparison import check_suffix

    journal = None if output is None else output.with_name(output.name + ".rows")
    if output is not None:
        check_suffix(output)
        for written in (output, journal):
            check_output(written, inputs=names)
    listed = list(dict.fromkeys(expand(names)))
    for name in listed:
        warn_of_hiding(str(name))
    with _compare_progress(len(listed), quiet) as on_rows:
        comparison = run_compare(
            listed,
            None if methods is None else [item.strip() for item in methods.split(",")],
            time_limit=time_limit,
            executor=executor,
            rel_gap=rel_gap,
            threads=threads,
            seed=seed,
            workers=workers,
            scheduler=scheduler,
            journal=journal,
            on_rows=on_rows,
        )
    require_whole(interrupted=comparison.interrupted)
    failed = [row for row in comparison.rows if row.status == "failed"]
    if len(failed) == len(comparison.rows) and failed:
        _discard(journal)
        raise InputError(str(failed[0].reason))
    try:
        print_json(comparison.to_json()) if as_json else typer.echo(comparison_text(comparison))
    finally:
        _write(comparison, output, journal)
    _end(comparison, journal)


def _write(comparison: Comparison, output: Path | None, journal: Path | None) -> None:
    """Write the comparison and remove the journal, which is no longer needed."""
    if output is not None:
        write_output(output, comparison.write, interrupted=comparison.interrupted)
        if not comparison.interrupted:
            _discard(journal)


def _end(comparison: Comparison, journal: Path | None) -> None:
    """Report missing and failed rows on stderr and end with the matching exit code."""
    from gangopt.reporting.comparison import row_remark

    if comparison.interrupted:
        if journal is not None:
            line = f"gangopt: {journal} keeps the finished rows; run the same command again to resume"
            typer.echo(line, err=True)
        raise typer.Exit(INTERRUPTED)
    failed = [row for row in comparison.rows if row.status == "failed"]
    if failed:
        line = f"gangopt: {len(failed)} of {len(comparison.rows)} rows failed; first {row_remark(failed[0])}"
        typer.echo(line, err=True)
        raise typer.Exit(2)
    if not any(row.objective is not None for row in comparison.rows):
        raise typer.Exit(1)


def _discard(journal: Path | None) -> None:
    from gangopt.solvers.core.journal import discard

    if journal is not None:
        discard(journal)


@contextlib.contextmanager
def _compare_progress(total: int, quiet: bool) -> Iterator[Any]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("instances", total=total)

        def advance(rows: tuple[Any, ...]) -> None:
            progress.update(task, advance=1, description=rows[-1].instance)

        yield advance
