"""Command `certify`: fairness properties of a saved allocation, each with a witness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangopt.cli.options import AsJson, JsonOutput, Seed, Threads, TimeLimit
from gangopt.cli.output import check_output, print_json, require_whole

__all__ = ["certify"]


def certify(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Saved result or solution of fair_share or auction.", readable=False),
    ],
    instance: Annotated[
        str | None,
        typer.Option("--instance", metavar="NAME|FILE", help="Instance; default: the one named in the result."),
    ] = None,
    time_limit: TimeLimit = None,
    threads: Threads = 1,
    seed: Seed = 0,
    output: JsonOutput = None,
    as_json: AsJson = False,
) -> None:
    """Check the fairness properties of a saved allocation.

    Reports whether it is Pareto efficient, envy-free and gives every app its sharing incentive, with a witness for each
    property that fails. Exit code 1 if the file holds no solution or the time limit left a property undecided.
    """
    from gangopt.base.jsonfile import write_json
    from gangopt.reporting.certificates import certificates_json, certificates_text
    from gangopt.solvers.fair_share.certificates import certify as run_certify
    from gangopt.solvers.fair_share.certificates import read_allocation_file
    from gangopt.solvers.solve import checked_controls

    controls = checked_controls(time_limit, 0.0, threads, seed)
    check_output(output, ".json", inputs=(file, instance))
    saved = read_allocation_file(file, instance)
    found = run_certify(saved.market, saved.rows, controls)
    require_whole()
    record = certificates_json(saved, found)
    if output is not None:
        write_json(output, record)
    print_json(record) if as_json else typer.echo(certificates_text(saved, found))
    if found.pareto_efficient is None:
        raise typer.Exit(1)
