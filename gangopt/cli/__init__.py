"""The command line: results on stdout, progress and errors on stderr, exit 0, 1 (no solution) or 2 (bad input)."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gangopt import __version__
from gangopt.cli.experiment import experiment_app
from gangopt.cli.fit import fit_app
from gangopt.cli.profile import profile
from gangopt.errors import GangoptError, InputError

if TYPE_CHECKING:
    from gangopt.instances.contract import Instance
    from gangopt.solvers.contract import ProgressEvent

__all__ = ["app", "main", "run"]

app = typer.Typer(
    name="gangopt",
    help="GPU-cluster scheduling decisions as explicit optimisation models: solve them, score heuristics against them.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.add_typer(fit_app)
app.add_typer(experiment_app)

Name = Annotated[str, typer.Argument(metavar="NAME|FILE", help="Name of an instance, or an instance file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")]
TimeLimit = Annotated[float | None, typer.Option("--time-limit", metavar="S", help="Wall seconds.")]
RelGap = Annotated[float, typer.Option("--rel-gap", metavar="G", help="Relative gap at which to stop; 0 proves.")]
Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Threads of the solver.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
FormName = Annotated[str | None, typer.Option("--form", metavar="F", help="Form to build.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="File to write.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gangopt {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Carry the options that stand before a command."""


@app.command("list")
def list_command(
    pattern: Annotated[str, typer.Argument(metavar="[PATTERN]", help="Shell pattern or part of a name.")] = "*",
    as_json: AsJson = False,
) -> None:
    """List named instances, generator families and clusters."""
    from gangopt.cli.listing import listing_json, listing_text

    _print_json(listing_json(pattern)) if as_json else typer.echo(listing_text(pattern))


@app.command()
def show(name: Name, as_json: AsJson = False, output: Output = None) -> None:
    """Show an instance or a cluster.

    --json prints the file that `solve` reads back; -o writes it, or draws a cluster.
    """
    from gangopt.cli.showing import cluster_of, picture_of, text_of
    from gangopt.jsonfile import write_json

    cluster = cluster_of(name)
    subject = cluster if cluster is not None else _load(name)
    if output is not None and output.suffix.lower() == ".json":
        write_json(output, _document(subject))
    elif output is not None:
        picture_of(subject, output)
    if as_json:
        _print_json(_document(subject))
    elif output is None:
        typer.echo(text_of(subject))


@app.command()
def solve(
    name: Name,
    method: Annotated[
        str, typer.Option("--method", metavar="M", help="Method, as exact or optimus?skip=true.")
    ] = "exact",
    form: FormName = None,
    time_limit: TimeLimit = None,
    rel_gap: RelGap = 0.0,
    threads: Threads = 1,
    seed: Seed = 0,
    solver: Annotated[str, typer.Option("--solver", help="highs, or a solver installed for Pyomo.")] = "highs",
    start: Annotated[
        Path | None, typer.Option("--start", metavar="FILE", help="Result or solution to start from.")
    ] = None,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Take one decision by one method; exit 1 if there is no solution."""
    from gangopt.jsonfile import write_json
    from gangopt.solvers.report import result_text
    from gangopt.solvers.resultfile import read_solution, result_json
    from gangopt.solvers.solve import checked_controls
    from gangopt.solvers.solve import solve as run_solve

    checked_controls(time_limit, rel_gap, threads, seed, solver)
    _check_output(output, ".json")
    instance = _load(name)
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
    record = result_json(result)
    if output is not None:
        write_json(output, record)
    _print_json(record) if as_json else typer.echo(result_text(result))
    if result.solution_status == "none":
        raise typer.Exit(1)


@app.command()
def compare(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|FILE...", help="Names, patterns as 'parameters/*', or files.")
    ],
    methods: Annotated[
        str | None, typer.Option("--methods", metavar="A,B,C", help="Methods, separated by commas.")
    ] = None,
    time_limit: TimeLimit = None,
    rel_gap: RelGap = 0.0,
    threads: Threads = 1,
    seed: Seed = 0,
    executor: Annotated[str, typer.Option("--executor", help="serial, processes or dask.")] = "serial",
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", help="Worker processes.")] = None,
    scheduler: Annotated[str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Dask scheduler.")] = None,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score methods against proven bounds.

    One table a decision, and how far each method is from the bound.
    """
    from gangopt.solvers.compare import compare as run_compare
    from gangopt.solvers.comparison import check_suffix
    from gangopt.solvers.report import comparison_text, failure_lines

    if output is not None:
        check_suffix(output)
        _check_output(output)
    listed = _expand(names)
    journal = None if output is None else output.with_name(output.name + ".rows")
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
    failed = [row for row in comparison.rows if row.status == "failed"]
    if len(failed) == len(comparison.rows) and failed:
        _discard(journal)
        raise InputError(str(failed[0].reason))
    if output is not None:
        comparison.write(output)
        if not comparison.interrupted:
            _discard(journal)
    _print_json(comparison.to_json()) if as_json else typer.echo(comparison_text(comparison))
    if comparison.interrupted:
        typer.echo("gangopt: interrupted; the rows are those that were finished", err=True)
    if failed:
        line = f"gangopt: {len(failed)} of {len(comparison.rows)} rows failed; first {failure_lines(comparison)[0]}"
        typer.echo(line, err=True)
        raise typer.Exit(2)
    if not any(row.objective is not None for row in comparison.rows):
        raise typer.Exit(1)


@app.command()
def export(
    name: Name,
    file_format: Annotated[str, typer.Option("--format", metavar="mps|lp|nl|json", help="Format of the file.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="File to write.")],
    form: FormName = None,
) -> None:
    """Write a form of an instance as a model file."""
    from gangopt.solvers.export import export as run_export

    _check_output(output)
    written = run_export(_load(name), output, form=form, file_format=file_format)
    typer.echo(f"{output}: form {written} as {file_format}")


@app.command()
def schema(
    noun: Annotated[str, typer.Argument(metavar="NOUN", help="Decision, as allocation.")],
    solution: Annotated[bool, typer.Option("--solution", help="Schema of solution files.")] = False,
    output: Output = None,
) -> None:
    """Print the JSON Schema of a decision's instance files."""
    from gangopt.decisions import problems
    from gangopt.jsonfile import write_json
    from gangopt.registry import resolve

    problem = problems[noun]
    document = resolve(problem.solution_document if solution else problem.document)
    record = {"$schema": "https://json-schema.org/draft/2020-12/schema", **document.model_json_schema()}
    write_json(output, record) if output is not None else _print_json(record)


@app.command()
def plot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Saved comparison or result.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Picture: .png, .svg or .pdf.")],
) -> None:
    """Draw a saved comparison or result.

    A comparison gives a gap chart and a performance profile, a result its trajectory or Pareto frontier.
    """
    from gangopt.cli.plotting import plot_file

    for path in plot_file(file, output):
        typer.echo(str(path))


app.command("profile")(profile)


def _load(name: str) -> Instance:
    from gangopt.instances.catalogue import load

    return load(name)


def _document(subject: Any) -> Any:  # noqa: ANN401 - an instance or a cluster
    from gangopt.cli.showing import document_of

    return document_of(subject)


def _expand(names: list[str]) -> list[str]:
    from gangopt.instances.catalogue import names as known

    listed: list[str] = []
    for name in names:
        matches = [name]
        if any(mark in name for mark in "*[") and not Path(name).exists():
            matches = known(name)
            if not matches:
                raise InputError(f"no named instance matches {name!r}; `gangopt list` prints the names")
        listed += [item for item in matches if item not in listed]
    return listed


def _print_json(value: object) -> None:
    from gangopt.jsonfile import dump_json

    typer.echo(dump_json(value), nl=False)


def _check_output(output: Path | None, suffix: str | None = None) -> None:
    """Refuse an output that could not be written, before anything is computed."""
    if output is None:
        return
    if suffix is not None and output.suffix.lower() != suffix:
        raise InputError(f"{output}: suffix {output.suffix or 'missing'}, allowed: {suffix}")
    if output.is_dir():
        raise InputError(f"{output}: is a directory, cannot be written as a file")
    parent = output.parent
    if not parent.is_dir():
        raise InputError(f"{output}: cannot be written (no such directory: {parent})")
    if not os.access(parent, os.W_OK):
        raise InputError(f"{output}: cannot be written (no permission in {parent})")


def _discard(journal: Path | None) -> None:
    if journal is not None:
        journal.unlink(missing_ok=True)


@contextlib.contextmanager
def _solve_progress(quiet: bool) -> Iterator[Any]:
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    from gangopt.solvers.report import format_number

    with Console(stderr=True).status("solving") as status:

        def update(event: ProgressEvent) -> None:
            incumbent, bound = format_number(event.objective), format_number(event.bound)
            status.update(f"{event.seconds:.0f} s, incumbent {incumbent}, bound {bound}")

        yield update


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


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : what stands behind `gangopt`

    Returns
    -------
    int
        0 on success, 1 when there is no solution, 2 on bad input, 130 after Ctrl-C.
    """
    if not arguments:
        arguments = ["--help"]
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        return _complain(error)
    # typer turns Ctrl-C into this code, older releases into Abort
    return _complain(KeyboardInterrupt()) if code == INTERRUPTED else code if isinstance(code, int) else 0


INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

_ENDINGS: tuple[tuple[type[BaseException], int, str | None], ...] = (
    (InputError, 2, None),
    (GangoptError, 1, None),
    (MemoryError, 2, "not enough memory for this instance"),
    (KeyboardInterrupt, INTERRUPTED, "interrupted"),
    (typer.Abort, INTERRUPTED, "interrupted"),
)
"""Kind of error, exit code, and the line to print instead of the error's own."""


def _complain(error: BaseException) -> int:
    """Print one line for an expected error and return its exit code; re-raise what nobody expected."""
    expected = next(((code, text) for kind, code, text in _ENDINGS if isinstance(error, kind)), None)
    if expected is None and not hasattr(error, "format_message"):
        raise error
    code, text = expected or (2, str(error.format_message()))  # type: ignore[attr-defined]
    line = " ".join((text or str(error)).split()) or type(error).__name__
    sys.stderr.write(f"gangopt: {line}\n")
    return code


def main() -> None:
    """Entry point of the command `gangopt`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))
