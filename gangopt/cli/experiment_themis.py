"""Commands `gangopt experiment NAME` that run THEMIS's rounds of auctions to completion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangopt.cli.experiment_output import check, finish, numbers

__all__ = ["register_themis"]

Cluster = Annotated[str, typer.Option("--cluster", metavar="NAME", help="Named cluster.")]
Apps = Annotated[int, typer.Option("--apps", metavar="N", help="Single-job apps that arrive.")]
Gap = Annotated[float, typer.Option("--gap", metavar="MIN", help="Mean minutes between arrivals.")]
Hours = Annotated[float, typer.Option("--hours", metavar="H", help="Median GPU-hours of an app.")]
Restart = Annotated[float, typer.Option("--restart", metavar="S", help="Seconds lost when an app's GPUs change.")]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Picture (.png, .svg, .pdf) or table (.csv, .json); can repeat."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]


def register_themis(app: typer.Typer) -> None:
    """Add the commands of this module to the experiments."""
    app.command("themis-sensitivity")(_sensitivity)
    app.command("themis-estimation-error")(_estimation_error)


def _sensitivity(
    knobs: Annotated[str | None, typer.Option("--knobs", metavar="A,B", help="f; default 0 to 1.")] = None,
    leases: Annotated[str | None, typer.Option("--leases", metavar="A,B", help="Minutes; default 5 to 40.")] = None,
    cluster: Cluster = "themis-simulator",
    apps: Apps = 12,
    gap: Gap = 10.0,
    hours: Hours = 40.0,
    restart: Restart = 42.5,
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Workloads that are averaged.")] = 1,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Fairness and efficiency over the knob f and the lease (figure 19 of the paper)."""
    from gangopt.experiments import themis_sensitivity as experiment
    from gangopt.experiments.themis_runs import Workload

    check(output, None, 0)
    table = experiment.themis_sensitivity(
        experiment.KNOBS if knobs is None else numbers("--knobs", knobs),
        experiment.LEASES if leases is None else numbers("--leases", leases),
        Workload(cluster=cluster, apps=apps, gap=gap, hours=hours, restart=restart),
        seeds=seeds,
    )
    finish(table, experiment.picture, output, as_json)


def _estimation_error(
    errors: Annotated[
        str | None, typer.Option("--errors", metavar="A,B", help="X in percent; default 0,5,10,20.")
    ] = None,
    cluster: Cluster = "themis-simulator",
    apps: Apps = 12,
    gap: Gap = 10.0,
    hours: Hours = 40.0,
    restart: Restart = 42.5,
    fairness: Annotated[float, typer.Option("--fairness", metavar="F", help="f: the share 1 - f of apps bids.")] = 0.8,
    lease: Annotated[float, typer.Option("--lease", metavar="MIN", help="Minutes of a lease.")] = 10.0,
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Workloads that are averaged.")] = 5,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Agents that estimate work and slowdowns wrongly by up to X % (figure 17 of the paper)."""
    from gangopt.experiments import themis_estimation_error as experiment
    from gangopt.experiments.themis_runs import Workload

    check(output, None, 0)
    table = experiment.themis_estimation_error(
        experiment.ERRORS if errors is None else numbers("--errors", errors),
        Workload(cluster=cluster, apps=apps, gap=gap, hours=hours, restart=restart),
        fairness=fairness,
        lease=lease,
        seeds=seeds,
    )
    finish(table, experiment.picture, output, as_json)
