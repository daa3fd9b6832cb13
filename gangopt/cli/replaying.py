"""Commands `replay` and `policies`: job logs replayed under policies and compared with a proven bound."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from gangopt.base.errors import InputError
from gangopt.cli.options import AsJson, Quiet, Seed
from gangopt.cli.output import INTERRUPTED, check_output, print_json, require_whole, write_output
from gangopt.cli.workload_options import (
    End,
    Form,
    GpuType,
    Lenient,
    Load,
    Reading,
    Source,
    Start,
    Throughputs,
    User,
    Vc,
)

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload
    from gangopt.replays.contest import Contest
    from gangopt.replays.costs import Overheads
    from gangopt.topology import Cluster

__all__ = ["policies_command", "replay"]


Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Events (.parquet), jobs (.csv), metrics (.json), report (.html) or plot (.png, .svg, .pdf); repeatable.",
    ),
]


def replay(
    source: Source,
    cluster: Annotated[
        str, typer.Option("--cluster", metavar="NAME|FILE|N", help="Cluster, or a number of GPUs without machines.")
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            metavar="P[,P...]",
            help="Comma-separated policies; see `gangopt policies`.",
        ),
    ],
    placement: Annotated[
        str | None, typer.Option("--placement", metavar="R", help="Placement rule; default: that of each policy.")
    ] = None,
    start_seconds: Annotated[
        float, typer.Option("--start-seconds", metavar="S", help="Seconds without progress at each start.")
    ] = 0.0,
    restart_seconds: Annotated[
        float, typer.Option("--restart-seconds", metavar="S", help="Additional seconds at each start after the first.")
    ] = 0.0,
    checkpoints: Annotated[
        bool, typer.Option("--checkpoints", help="Add the checkpoint time of the job's model to each restart.")
    ] = False,
    slowdown: Annotated[
        list[str] | None,
        typer.Option(
            "--slowdown", metavar="LOCALITY=F", help="Factor on step times by locality, e.g. rack=1.1; repeatable."
        ),
    ] = None,
    sensitive_only: Annotated[
        bool, typer.Option("--sensitive-only", help="Slow down only jobs that the log marks as network-intensive.")
    ] = False,
    bound: Annotated[
        bool, typer.Option("--bound/--no-bound", help="Prove a bound on the mean completion time.")
    ] = True,
    executor: Annotated[str, typer.Option("--executor", help="serial or processes.")] = "serial",
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", help="Number of worker processes.")] = None,
    form: Form = None,
    lenient: Lenient = False,
    start: Start = None,
    end: End = None,
    user: User = None,
    vc: Vc = None,
    load: Load = 1.0,
    throughputs: Throughputs = None,
    gpu_type: GpuType = None,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Replay a job log under policies, against a proven bound.

    Prints a table with one row for each policy: `factor` is the mean completion time of the first policy divided by
    that of the row, and `gap %` is the distance to a lower bound that holds for any scheduler of fixed gangs.
    """
    from gangopt.replays.contest import contest

    _check_outputs(output, [source, cluster, throughputs])
    overheads = _overheads(start_seconds, restart_seconds, checkpoints, slowdown, sensitive_only)
    where = _cluster(cluster)
    reading = Reading(source, form, lenient, start, end, user, vc, load, throughputs, gpu_type)
    jobs = _jobs(reading, where)
    names = [item.strip() for item in policy.split(",") if item.strip()]
    with _progress(len(jobs), names, quiet) as on_progress:
        played = contest(
            jobs,
            where,
            names,
            overheads=overheads,
            placement=placement,
            seed=seed,
            bound=bound,
            executor=cast(Literal["serial", "processes"], executor),
            workers=workers,
            on_progress=on_progress,
        )
    _report(played, output or [], as_json)


def policies_command(as_json: AsJson = False) -> None:
    """List the policies of `replay` and their arguments."""
    from gangopt.base.arguments import parameters_of
    from gangopt.registry.problem import resolve
    from gangopt.replays.registry import policies
    from gangopt.reporting.text import aligned

    rows = []
    for record in policies.values():
        try:
            arguments = [item.describe() for item in parameters_of(resolve(record.target)).values()]
        except Exception as error:  # a plugin with errors must not break the list
            policies.excuse(record.name, error)
            continue
        rows.append({"policy": record.name, "arguments": arguments, "summary": record.summary})
    if as_json:
        print_json({"policies": rows})
        return
    lines = []
    for row in rows:
        lines.append((str(row["policy"]), str(row["summary"])))
        if row["arguments"]:
            lines.append(("", "  " + "  ".join(row["arguments"])))
    typer.echo("\n".join(aligned(lines, ("left", "left"))))


def _check_outputs(output: list[Path] | None, inputs: list[str | Path | None]) -> None:
    from gangopt.reporting.contest import check_output_suffix

    for path in output or []:
        check_output_suffix(path)
        check_output(path, inputs=inputs)


def _overheads(start: float, restart: float, checkpoints: bool, slowdown: list[str] | None, some: bool) -> Overheads:
    from gangopt.base.arguments import number_in
    from gangopt.replays.costs import Overheads

    factors = {}
    for text in slowdown or []:
        level, equals, value = text.partition("=")
        factor = number_in(value)
        if not equals or factor is None:
            raise InputError(f"--slowdown must be LOCALITY=FACTOR, e.g. rack=1.1 (got {text!r})")
        factors[level.strip()] = float(factor)
    return Overheads(start=start, restart=restart, by_model=checkpoints, slowdowns=factors, sensitive_only=some)


def _cluster(text: str) -> Cluster | int:
    from gangopt.replays.run import resolve_cluster

    number = text.strip().replace(",", "")
    cluster, n_gpus = resolve_cluster(int(number) if number.isascii() and number.isdigit() else text)
    return n_gpus if cluster is None else cluster


def _jobs(reading: Reading, where: Cluster | int) -> Workload:
    """Return the jobs to replay, after printing the warnings about them on stderr."""
    from gangopt.instances.workload.text import notice_lines
    from gangopt.replays.ready import replayable

    jobs = reading.read(None if isinstance(where, int) or not reading.lenient else where)
    if reading.lenient:
        jobs = replayable(jobs, where if isinstance(where, int) else len(where.gpus))
    for line in notice_lines(jobs.notices):
        typer.echo(line, err=True)
    if not len(jobs):
        raise InputError(f"{reading.source}: no jobs left to simulate")
    return jobs


def _report(played: Contest, output: list[Path], as_json: bool) -> None:
    from gangopt.instances.workload.text import notice_lines
    from gangopt.reporting.contest import contest_json, contest_text, write_contest

    require_whole(interrupted=played.interrupted)
    done = [entry for entry in played.entries if entry.replay is not None]
    failed = [entry for entry in played.entries if entry.replay is None]
    if not done and failed and not played.interrupted:
        raise InputError(failed[0].reason or "")
    for line in notice_lines(played.notices):
        typer.echo(line, err=True)
    for entry in failed if as_json else []:
        typer.echo(f"gangopt: {entry.policy} was not replayed: {entry.reason}", err=True)
    try:
        print_json(contest_json(played)) if as_json else typer.echo(contest_text(played))
    finally:  # files are written even if the reader of stdout has gone
        for path in output if done else []:
            write_output(path, partial(write_contest, played), interrupted=played.interrupted)
    lost = [entry for entry in failed if entry.lost]
    if lost and not played.interrupted:
        count = f"{len(lost)} of {len(played.entries)} policies"
        raise InputError(f"{count} failed; first {lost[0].policy}: {lost[0].reason}")
    if played.interrupted:
        typer.echo("gangopt: interrupted; the results of finished policies are kept", err=True)
        raise typer.Exit(INTERRUPTED)


@contextlib.contextmanager
def _progress(jobs: int, names: list[str], quiet: bool) -> Iterator[Any]:
    """Show a progress bar of the jobs that have ended under all policies."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("replay", total=max(1, jobs * len(names)))
        ended: dict[str, int] = {}
        shown = -1.0

        def update(name: str, finished: int, total: int, _now: float) -> None:
            nonlocal shown
            ended[name] = finished
            clock = time.monotonic()
            if finished == total or clock - shown > 0.1:
                shown = clock
                progress.update(task, completed=sum(ended.values()), description=name)

        yield update
