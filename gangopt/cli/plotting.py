"""Command `plot`: plots of saved comparisons and results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangopt.cli.output import check_output

__all__ = ["plot"]


def plot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Saved comparison or result.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Plot: .png, .svg or .pdf.", readable=False)
    ],
) -> None:
    """Plot a saved comparison or result.

    Plots the gaps and a performance profile of a comparison, or the trajectory or Pareto
    frontier of a result. A solution on a cluster is drawn there, with its trajectory in a second plot.
    """
    from gangopt.cli.drawing import plot_file

    check_output(output, inputs=[file])
    for path in plot_file(file, output):
        typer.echo(str(path))
