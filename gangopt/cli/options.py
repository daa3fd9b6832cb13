"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "FormName", "Name", "Output", "Quiet", "RelGap", "Seed", "Threads", "TimeLimit"]

Name = Annotated[str, typer.Argument(metavar="NAME|FILE", help="Name of an instance, or an instance file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")]
TimeLimit = Annotated[float | None, typer.Option("--time-limit", metavar="S", help="Wall seconds.")]
RelGap = Annotated[float, typer.Option("--rel-gap", metavar="G", help="Relative gap at which to stop; 0 proves.")]
Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Threads of the solver.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]
FormName = Annotated[str | None, typer.Option("--form", metavar="F", help="Form to build.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="File to write.", readable=False)]
