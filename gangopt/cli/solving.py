"""Commands `solve` and `export`, which take one instance."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gangopt.cli.naming import load_instance
from gangopt.cli.options import AsJson, Formulation, JsonOutput, Name, Quiet, RelGap, Seed, Threads, TimeLimit
from gangopt.cli.output import INTERRUPTED, check_output, print_json, require_whole, write_output

if TYPE_CHECKING:
    from gangopt.solvers.core.contract import ProgressEvent

__all__ = ["export", "solve"]


def solve(
    name: Name,
    method: Annotated[
        str, typer.Option("--method", metavar="M", help="Method, e.g. exact or optimus?skip=true.")
    ] = "exact",
    form: Formulation = None,
    time_limit: TimeLimit = None,
    rel_gap: RelGap = 0.0,
    threads: Threads = 1,
    seed: Seed = 0,
    solver: Annotated[str, typer.Option("--solver", help="highs, or a solver that Pyomo finds.")] = "highs",
    start: Annotated[
        Path | None, typer.Option("--start", metavar="FILE", help="Result or solution file to start from.")
    ] = None,
    output: JsonOutput = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Solve one instance with one method.

    Prints the result and the decision. Exit code 1 if no solution is found.
    """
    from gangopt.base.jsonfile import write_json
    from gangopt.reporting.text import result_text
    from gangopt.solvers.core.resultfile import read_solution, result_json
    from gangopt.solvers.solve import checked_controls
    from gangopt.solvers.solve import solve as run_solve

    checked_controls(time_limit, rel_gap, threads, seed, solver)
    check_output(output, ".json", inputs=[name, start])
    instance = load_instance(name)
    initial = None if start is None else read_solution(start, instance)
    with _solve_progress(quiet) as on_progress:
        result = run_solve(
            instance,
            method,
            form=form,
            time_limit=time_limit,
            rel_gap=rel_gap,
            threads=threads,
            seed=seed,
            start=initial,
            solver=solver,
            on_progress=on_progress,
        )
    interrupted = result.termination == "interrupted"
    require_whole(interrupted=interrupted)
    # the record of a large placed solution takes seconds, so that it is made only where it goes somewhere
    record = result_json(result, instance) if as_json or output is not None else {}
    try:
        print_json(record) if as_json else typer.echo(result_text(result, instance))
    finally:  # the result is saved even if the reader of stdout has gone, and printed even if it cannot be saved
        if output is not None:
            write_output(output, lambda path: write_json(path, record), interrupted=interrupted)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if result.solution_status == "none":
        raise typer.Exit(1)


@contextlib.contextmanager
def _solve_progress(quiet: bool) -> Iterator[Any]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    from gangopt.reporting.text import format_number

    with Console(stderr=True).status("solving") as status:

        def update(event: ProgressEvent) -> None:
            incumbent, bound = format_number(event.objective), format_number(event.bound)
            status.update(f"{event.seconds:.0f} s, incumbent {incumbent}, bound {bound}")

        yield update


def export(
    name: Name,
    file_format: Annotated[str, typer.Option("--format", metavar="mps|lp|nl|json", help="File format.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Output file.", readable=False)],
    form: Formulation = None,
) -> None:
    """Write a formulation of an instance as a model file."""
    from gangopt.base.jsonfile import file_kind
    from gangopt.registry.records import problems
    from gangopt.solvers.export import export as run_export

    check_output(output, inputs=[name])
    instance = load_instance(name)
    written = run_export(instance, output, form=form, file_format=file_format)
    negated = file_format == "mps" and problems[instance.noun].sense == "maximise"
    remark = "; the objective is negated, to be minimised" if negated else ""
    # a model written to stdout must not be mixed with this line
    typer.echo(f"{output}: formulation {written} as {file_format}{remark}", err=file_kind(output) == "stream")
