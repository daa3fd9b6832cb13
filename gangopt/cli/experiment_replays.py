"""Commands `gangopt experiment NAME` that replay workloads, beside the figures that the papers print."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from gangopt.cli.experiment_output import check, finish, numbers, whole_numbers, words

__all__ = ["register_replays"]

Given = Annotated[
    str | None,
    typer.Option("--workload", metavar="NAME|FILE", help="Jobs to replay: a generator's name or a job log."),
]
Where = Annotated[
    str | None, typer.Option("--cluster", metavar="NAME|FILE|GPUS", help="Cluster, or GPUs that are only counted.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", metavar="N", help="Jobs to draw where the generator takes it, else the first N.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
Named = Annotated[
    str | None, typer.Option("--policies", metavar="P,...", help="Policies, as srsf,tiresias-l?knob=8; see policies.")
]
AcrossMachines = Annotated[
    float, typer.Option("--across", metavar="S", help="Slowdown of network-intensive jobs across machines.")
]
AcrossRacks = Annotated[float, typer.Option("--across-racks", metavar="S", help="The same across racks.")]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Picture (.png, .svg, .pdf) or table (.csv, .json); can repeat."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]


def register_replays(app: typer.Typer) -> None:
    """Add the commands of this module to the experiments."""
    for name, command in _COMMANDS.items():
        app.command(name)(command)


def _cluster(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


def _policies(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    return default if text is None else tuple(words(text))


def _plain(name: str, summary: str) -> Callable[..., None]:
    """Return the command of an experiment that takes a workload and a cluster and has no options of its own."""

    def command(
        workload: Given = None,
        cluster: Where = None,
        jobs: Jobs = None,
        seed: Seed = 0,
        output: Outputs = None,
        as_json: AsJson = False,
    ) -> None:
        check(output, None, seed)
        experiment = importlib.import_module(f"gangopt.experiments.{name}")
        table = getattr(experiment, name)(workload, _cluster(cluster), jobs=jobs, seed=seed)
        finish(table, experiment.picture, output, as_json)

    command.__doc__ = summary
    return command


def _gittins(
    services: Annotated[
        str | None, typer.Option("--services", metavar="A,B,C", help="GPU s of past jobs; default 4,8,12.")
    ] = None,
    thresholds: Annotated[
        str | None, typer.Option("--thresholds", metavar="A,B", help="GPU s between the queues; default 4.")
    ] = None,
    workload: Given = None,
    points: Annotated[int, typer.Option("--points", metavar="N", help="Attained services.")] = 13,
    jobs: Jobs = None,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Gittins index over attained service, printed and discretised (appendix C of Tiresias)."""
    from gangopt.base.errors import InputError
    from gangopt.experiments import gittins_curve as experiment

    check(output, None, seed)
    if services is not None and workload is not None:
        raise InputError("--services and --workload: only one of them can be given")
    table = experiment.gittins_curve(
        experiment.SERVICES if services is None else numbers("--services", services),
        experiment.THRESHOLDS if thresholds is None else numbers("--thresholds", thresholds),
        workload=workload,
        points=points,
        jobs=jobs,
        seed=seed,
    )
    finish(table, experiment.picture, output, as_json)


def _optimus(
    workload: Given = None,
    cluster: Where = None,
    policies: Named = None,
    jobs: Jobs = None,
    draws: Annotated[int, typer.Option("--draws", metavar="N", help="Workloads drawn, seeds from --seed on.")] = 3,
    restart: Annotated[float, typer.Option("--restart", metavar="S", help="Seconds that a restart costs.")] = 0.0,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Replay Optimus, DRF and Tetris for three ways to arrive (figures 11 and 17 of Optimus)."""
    from gangopt.experiments import optimus_replay as experiment

    check(output, None, seed)
    table = experiment.optimus_replay(
        workload,
        _cluster(cluster),
        policies=_policies(policies, experiment.POLICIES),
        jobs=jobs,
        draws=draws,
        restart=restart,
        seed=seed,
    )
    finish(table, experiment.picture, output, as_json)


def _fairness(
    workload: Given = None,
    cluster: Where = None,
    policies: Named = None,
    jobs: Jobs = None,
    across: AcrossMachines = 1.1,
    across_racks: AcrossRacks = 1.3,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Compare policies by finish-time fairness (figures 9 and 10 of THEMIS)."""
    from gangopt.experiments import themis_fairness as experiment

    check(output, None, seed)
    table = experiment.themis_fairness(
        workload,
        _cluster(cluster),
        policies=_policies(policies, experiment.POLICIES),
        jobs=jobs,
        across_machines=across,
        across_racks=across_racks,
        seed=seed,
    )
    finish(table, experiment.picture, output, as_json)


def _contention(
    workload: Given = None,
    cluster: Where = None,
    policies: Named = None,
    contentions: Annotated[
        str | None, typer.Option("--contentions", metavar="A,B,C", help="Divisors of the cluster; default 1,2,4.")
    ] = None,
    jobs: Jobs = None,
    across: AcrossMachines = 1.1,
    across_racks: AcrossRacks = 1.3,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Halve and quarter the cluster (figure 14 of THEMIS)."""
    from gangopt.experiments import themis_contention as experiment

    check(output, None, seed)
    table = experiment.themis_contention(
        workload,
        _cluster(cluster),
        policies=_policies(policies, experiment.POLICIES),
        contentions=(experiment.CONTENTIONS if contentions is None else whole_numbers("--contentions", contentions)),
        jobs=jobs,
        across_machines=across,
        across_racks=across_racks,
        seed=seed,
    )
    finish(table, experiment.picture, output, as_json)


def _network_share(
    workload: Given = None,
    cluster: Where = None,
    policies: Named = None,
    shares: Annotated[
        str | None, typer.Option("--shares", metavar="A,B,C", help="Percent of apps; default 0 to 100 by 20.")
    ] = None,
    jobs: Jobs = None,
    across: AcrossMachines = 1.1,
    across_racks: AcrossRacks = 1.3,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Vary the share of network-intensive apps (figures 15 and 16 of THEMIS)."""
    from gangopt.experiments import themis_network_share as experiment

    check(output, None, seed)
    table = experiment.themis_network_share(
        workload,
        _cluster(cluster),
        policies=_policies(policies, experiment.POLICIES),
        shares=experiment.SHARES if shares is None else [value / 100 for value in numbers("--shares", shares)],
        jobs=jobs,
        across_machines=across,
        across_racks=across_racks,
        seed=seed,
    )
    finish(table, experiment.picture, output, as_json)


_COMMANDS: dict[str, Callable[..., Any]] = {
    "tiresias-table1": _plain("tiresias_table1", "Compare SF, SRTF and SRSF (table 1 of Tiresias)."),
    "tiresias-table5": _plain("tiresias_table5", "Compare six schedulers with Tiresias-L (table 5 of Tiresias)."),
    "tiresias-sensitivity": _plain(
        "tiresias_sensitivity", "Vary thresholds, K and PROMOTEKNOB (figures 14 and 15 of Tiresias)."
    ),
    "gittins-curve": _gittins,
    "optimus-replay": _optimus,
    "themis-fairness": _fairness,
    "themis-contention": _contention,
    "themis-network-share": _network_share,
}
