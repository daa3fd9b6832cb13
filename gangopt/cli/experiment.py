"""Commands `gangopt experiment NAME`: the ablations and sensitivities of the papers, as a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangopt.cli.experiment_output import check, finish, numbers, whole_numbers, words
from gangopt.cli.experiment_replays import register_replays
from gangopt.cli.experiment_themis import register_themis

__all__ = ["experiment_app"]

experiment_app = typer.Typer(
    name="experiment",
    help="Repeat experiments of the papers: each prints a table and draws a picture.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Picture (.png, .svg, .pdf) or table (.csv, .json); can repeat."
    ),
]
TimeLimit = Annotated[float | None, typer.Option("--time-limit", metavar="S", help="Wall seconds for an exact solve.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]


@experiment_app.command("optimus-ablation")
def optimus_ablation_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|FILE...]", help="Interval instances; default: testbed mixes.")
    ] = None,
    optimum: Annotated[bool, typer.Option("--optimum", help="Add the joint optimum of both decisions.")] = False,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Keep one of Optimus's two decisions and swap the other (figures 18 and 19 of the paper)."""
    from gangopt.experiments import optimus_ablation as experiment

    check(output, time_limit, seed)
    table = experiment.optimus_ablation(
        names or experiment.INSTANCES, optimum=optimum, time_limit=time_limit, seed=seed
    )
    finish(table, experiment.picture, output, as_json)


@experiment_app.command("parameter-balance")
def parameter_balance_command(
    networks: Annotated[
        list[str] | None, typer.Argument(metavar="[NETWORK...]", help="Networks, as resnet50; default: four.")
    ] = None,
    servers: Annotated[
        str | None, typer.Option("--servers", metavar="A,B,C", help="Numbers of parameter servers; default 4 to 20.")
    ] = None,
    workers: Annotated[int, typer.Option("--workers", metavar="W", help="Workers.")] = 10,
    bandwidth: Annotated[float, typer.Option("--bandwidth", metavar="B", help="MB/s of a parameter server.")] = 125.0,
    request_ms: Annotated[
        float, typer.Option("--request-ms", metavar="H", help="Milliseconds for one request of one worker.")
    ] = 0.1,
    draws: Annotated[int, typer.Option("--draws", metavar="N", help="Draws of MXNet's random rule.")] = 10,
    seed: Seed = 0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Step time by eqn 2 with the slowest server's load: MXNet, PAA, optimum (figures 20 and 21 of the paper)."""
    from gangopt.experiments import parameter_balance as experiment

    check(output, None, seed)
    table = experiment.parameter_balance(
        networks or tuple(experiment.COMPUTE),
        servers=experiment.SERVERS if servers is None else whole_numbers("--servers", servers),
        workers=workers,
        bandwidth=bandwidth,
        request_seconds=request_ms / 1000,
        draws=draws,
        seed=seed,
    )
    finish(table, experiment.picture, output, as_json)


@experiment_app.command("prediction-error")
def prediction_error_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|FILE...]", help="Allocation instances; default: two.")
    ] = None,
    errors: Annotated[
        str | None, typer.Option("--errors", metavar="A,B,C", help="Errors in percent; default 0,15,30,45.")
    ] = None,
    kinds: Annotated[
        str | None, typer.Option("--kinds", metavar="A,B", help="Of steps, speed, both, coefficients; default all.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", metavar="A,B", help="Methods of allocation, as optimus?priority=0.9.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Draws of the errors.")] = 10,
    time_limit: TimeLimit = 60.0,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Allocate from wrong steps and speeds and judge by the true ones (figure 15 of the paper)."""
    from gangopt.experiments import prediction_error as experiment

    check(output, time_limit, 0)
    table = experiment.prediction_error(
        names or experiment.INSTANCES,
        errors=experiment.ERRORS if errors is None else [value / 100 for value in numbers("--errors", errors)],
        kinds=experiment.KINDS if kinds is None else words(kinds),
        methods=experiment.METHODS if methods is None else words(methods),
        seeds=seeds,
        time_limit=time_limit,
    )
    finish(table, experiment.picture, output, as_json)


@experiment_app.command("themis-truth-telling")
def themis_truth_telling_command(
    lies: Annotated[str | None, typer.Option("--lies", metavar="A,B,C", help="X in percent; default 0 to 100.")] = None,
    kinds: Annotated[
        str | None, typer.Option("--kinds", metavar="A,B", help="Of spread and dense; default both.")
    ] = None,
    demand: Annotated[int, typer.Option("--demand", metavar="D", help="Most GPUs that an app can use.")] = 16,
    work: Annotated[float, typer.Option("--work", metavar="W", help="GPU-minutes of an app.")] = 960.0,
    across: Annotated[float, typer.Option("--across", metavar="S", help="Slowdown across machines.")] = 1.3,
    fairness: Annotated[float, typer.Option("--fairness", metavar="F", help="f: the share 1 - f of apps bids.")] = 0.8,
    lease: Annotated[float, typer.Option("--lease", metavar="MIN", help="Minutes of a lease.")] = 10.0,
    rounding: Annotated[str, typer.Option("--rounding", metavar="R", help="floor, value or random.")] = "floor",
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Runs that are averaged.")] = 5,
    output: Outputs = None,
    as_json: AsJson = False,
) -> None:
    """Let one of eight equal apps misreport its slowdown in every auction (figure 18 of the paper)."""
    from gangopt.experiments import themis_truth_telling as experiment

    check(output, None, 0)
    table = experiment.themis_truth_telling(
        experiment.LIES if lies is None else numbers("--lies", lies),
        experiment.KINDS if kinds is None else words(kinds),
        experiment.Setting(demand=demand, work=work, across=across, fairness=fairness, lease=lease, rounding=rounding),
        seeds=seeds,
    )
    finish(table, experiment.picture, output, as_json)


register_themis(experiment_app)
register_replays(experiment_app)
