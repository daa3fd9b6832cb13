"""The commands of `gangopt`, in the order of its help."""

from __future__ import annotations

from typing import Annotated

import typer

from gangopt.base.version import __version__
from gangopt.cli.certify import certify
from gangopt.cli.comparing import compare
from gangopt.cli.experiment import experiment_app
from gangopt.cli.fit import fit_app
from gangopt.cli.group import Group
from gangopt.cli.instances import list_command, schema, show
from gangopt.cli.plotting import plot
from gangopt.cli.profile import profile
from gangopt.cli.replaying import policies_command, replay
from gangopt.cli.solving import export, solve
from gangopt.cli.workload import workload

__all__ = ["app"]

app = typer.Typer(
    name="gangopt",
    cls=Group,
    help="Exact optimisation models of GPU-cluster scheduling problems, and heuristics compared with proven bounds.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gangopt {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Global options."""


app.command("list")(list_command)
app.command()(show)
app.command()(solve)
app.command()(compare)
app.command()(export)
app.command()(schema)
app.command()(certify)
app.command()(plot)
app.command()(profile)
app.command()(workload)
app.command()(replay)
app.command("policies")(policies_command)
app.add_typer(fit_app)
app.add_typer(experiment_app, short_help="Repeat experiments of the papers.")
