"""Arguments and options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Formulation", "JsonOutput", "Name", "Output", "Quiet", "RelGap", "Seed", "Threads", "TimeLimit"]

Name = Annotated[str, typer.Argument(metavar="NAME|FILE", help="Name of an instance, or an instance file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Suppress progress output.")]
TimeLimit = Annotated[float | None, typer.Option("--time-limit", metavar="S", help="Time limit in wall-clock seconds.")]
RelGap = Annotated[float, typer.Option("--rel-gap", metavar="G", help="Stop at this gap; 0 proves optimality.")]
Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Solver threads.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")]
Formulation = Annotated[
    str | None,
    typer.Option("--formulation", "--form", metavar="F", help="Formulation to use instead of the default one."),
]
JsonOutput = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE.json", help="Save the result.", readable=False)
]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Output file.", readable=False)]
