"""Command `plot`: pictures of saved comparisons and results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangopt.cli.output import check_output

__all__ = ["plot"]


def plot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Saved comparison or result.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Picture: .png, .svg or .pdf.", readable=False)
    ],
) -> None:
    """Draw a saved comparison or result.

    A comparison gives a gap chart and a performance profile, a result its trajectory or Pareto frontier.
    """
    from gangopt.cli.drawing import plot_file

    check_output(output, inputs=[file])
    for path in plot_file(file, output):
        typer.echo(str(path))
