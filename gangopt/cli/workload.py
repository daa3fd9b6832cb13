"""Command `workload`: summaries, conversion and plots of job logs and generated workloads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangopt.base.suffixes import check_suffix
from gangopt.cli.options import AsJson, Output
from gangopt.cli.output import check_output, print_json
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

__all__ = ["workload"]


def workload(
    source: Source,
    form: Form = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="C",
            help="Cluster that the jobs must fit: name, file or list of machines.",
        ),
    ] = None,
    lenient: Lenient = False,
    start: Start = None,
    end: End = None,
    user: User = None,
    vc: Vc = None,
    load: Load = 1.0,
    throughputs: Throughputs = None,
    gpu_type: GpuType = None,
    ended: Annotated[bool, typer.Option("--ended", help="Skip jobs still running at the end of the log.")] = False,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Summarise, convert or plot a job log or generated workload.

    -o writes the workload as .parquet, .csv or .json, a report as .html, or a plot as .png, .svg or .pdf. Warnings
    about the log go to stderr, one line for each kind.
    """
    from gangopt.instances.workload.machines import load_machines
    from gangopt.instances.workload.summary import summarise
    from gangopt.instances.workload.text import notice_lines, summary_text

    _check_suffix(output)
    check_output(output, inputs=[source, cluster, throughputs])
    machines = None if cluster is None else load_machines(cluster)
    jobs = Reading(source, form, lenient, start, end, user, vc, load, throughputs, gpu_type).read(machines)
    if ended:
        jobs = jobs.ended()
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
    from gangopt.instances.workload.files import ENDINGS
    from gangopt.reporting.plots import PICTURE_SUFFIXES

    if output is not None:
        check_suffix(output, (*ENDINGS, ".html", *PICTURE_SUFFIXES))


def _write(jobs: Workload, output: Path, gpus: int | None) -> None:
    from gangopt.base.jsonfile import write_text
    from gangopt.instances.workload.files import ENDINGS
    from gangopt.reporting.plots import save_picture
    from gangopt.reporting.workload import workload_report
    from gangopt.reporting.workload_plots import workload_chart

    suffix = output.suffix.lower()
    if suffix in ENDINGS:
        jobs.save(output)
    elif suffix == ".html":
        write_text(output, workload_report(jobs, gpus))
    else:
        save_picture(workload_chart(jobs, gpus), output)
