"""Command `workload`: read, check, cut, summarise, convert and draw job logs and generated workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangopt.cli.options import AsJson, Output
from gangopt.cli.output import check_output, print_json
from gangopt.errors import InputError

if TYPE_CHECKING:
    from gangopt.instances.workload import Workload

__all__ = ["workload"]

_PICTURES = (".png", ".svg", ".pdf")


def workload(
    source: Annotated[
        str, typer.Argument(metavar="FILE|NAME", help="Job log, or a name as workload/tiresias-testbed?seed=1.")
    ],
    form: Annotated[
        str | None, typer.Option("--format", metavar="F", help="Format of the file, instead of looking at it.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="C", help="Cluster that the jobs have to fit: a name or a list of machines."),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Leave out defective rows and jobs that do not fit, and count them.")
    ] = False,
    start: Annotated[float | None, typer.Option("--from", metavar="S", help="First arrival to keep, s.")] = None,
    end: Annotated[float | None, typer.Option("--to", metavar="S", help="First arrival to leave out, s.")] = None,
    user: Annotated[str | None, typer.Option("--user", metavar="U", help="Keep this user's jobs.")] = None,
    vc: Annotated[str | None, typer.Option("--vc", metavar="V", help="Keep this virtual cluster's jobs.")] = None,
    load: Annotated[
        float, typer.Option("--load", metavar="X", help="Multiply the load: divide times between arrivals by X.")
    ] = 1.0,
    throughputs: Annotated[
        Path | None, typer.Option("--throughputs", metavar="FILE", help="Measured speeds in Gavel's layout.")
    ] = None,
    gpu_type: Annotated[
        str | None, typer.Option("--gpu-type", metavar="T", help="GPU type in --throughputs; v100 by default.")
    ] = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Summarise a job log or a generated workload; write it as parquet, CSV or JSON, or draw it.

    What is odd in a log goes to stderr, one line for each kind of finding.
    """
    from gangopt.instances.workload_catalogue import load_workload
    from gangopt.instances.workload_machines import load_machines
    from gangopt.instances.workload_summary import summarise
    from gangopt.instances.workload_text import notice_lines, summary_text

    _check_suffix(output)
    check_output(output, inputs=[source, cluster, throughputs])
    machines = None if cluster is None else load_machines(cluster)
    jobs = load_workload(
        source, format=form, cluster=machines, lenient=lenient, throughputs=throughputs, gpu_type=gpu_type
    )
    jobs = jobs.slice(start, end, user=user, vc=vc)
    if load != 1.0:
        jobs = jobs.scale_load(load)
    for line in notice_lines(jobs.notices):
        typer.echo(line, err=True)
    gpus = None if machines is None else len(machines.gpus)
    if output is not None:
        _write(jobs, output, gpus)
    summary = summarise(jobs)
    if as_json:
        notices = [vars(item) for item in jobs.notices]
        print_json({**summary.as_dict(), "cluster_gpus": gpus, "notices": notices})
    else:
        typer.echo(summary_text(summary, gpus))


def _check_suffix(output: Path | None) -> None:
    from gangopt.instances.workload_files import ENDINGS

    if output is not None and output.suffix.lower() not in (*ENDINGS, *_PICTURES):
        raise InputError(f"{output}: suffix {output.suffix or 'missing'}, allowed: {', '.join((*ENDINGS, *_PICTURES))}")


def _write(jobs: Workload, output: Path, gpus: int | None) -> None:
    if output.suffix.lower() not in _PICTURES:
        jobs.save(output)
        return
    from gangopt.solvers.pictures import save_picture
    from gangopt.solvers.workload_pictures import workload_chart

    save_picture(workload_chart(jobs, gpus), output)
