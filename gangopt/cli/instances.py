"""Commands `list`, `show` and `schema`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gangopt.base.errors import InputError
from gangopt.cli.naming import load_instance
from gangopt.cli.options import AsJson, Output
from gangopt.cli.output import check_output, print_json

__all__ = ["list_command", "schema", "show"]


def list_command(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="Shell pattern or part of a name.")] = "*",
    as_json: AsJson = False,
) -> None:
    """List named instances, generators, clusters and file formats."""
    from gangopt.cli.listing import listing_json, listing_text

    print_json(listing_json(pattern)) if as_json else typer.echo(listing_text(pattern))


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Name of an instance or cluster, or a file of either.")
    ],
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Show an instance or a cluster.

    --json prints it as the JSON file that other commands read; -o writes that file, or plots a cluster as .png, .svg or
    .pdf.
    """
    from gangopt.base.jsonfile import write_json
    from gangopt.cli.showing import cluster_of, document_of, picture_of

    check_output(output, inputs=[name])
    cluster = cluster_of(name)
    subject = cluster if cluster is not None else load_instance(name)
    if output is not None and output.suffix.lower() == ".json":
        write_json(output, document_of(subject))
    elif output is not None:
        picture_of(subject, output)
    if as_json:
        print_json(document_of(subject))
    elif output is None:
        typer.echo(str(subject))


def schema(
    noun: Annotated[
        str, typer.Argument(metavar="PROBLEM|cluster", help="Problem, e.g. allocation; or the word cluster.")
    ],
    solution: Annotated[
        bool, typer.Option("--solution", help="Print the schema of solution files instead of instance files.")
    ] = False,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="Version of instance files; default: the newest.")
    ] = None,
    output: Output = None,
) -> None:
    """Print the JSON Schema of instance, solution or cluster files."""
    from gangopt.base.jsonfile import write_json

    check_output(output)
    content = _cluster_schema(solution, version) if noun == "cluster" else _problem_schema(noun, solution, version)
    record = {"$schema": "https://json-schema.org/draft/2020-12/schema", **content}
    write_json(output, record) if output is not None else print_json(record)


def _cluster_schema(solution: bool, version: int | None) -> dict[str, Any]:
    from gangopt.topology import cluster_schema

    if solution:
        raise InputError("--solution is for problems; a cluster has no solution")
    if version is not None:
        raise InputError("--version is for instance files of problems; cluster files have one version")
    return cluster_schema()


def _problem_schema(noun: str, solution: bool, version: int | None) -> dict[str, Any]:
    from gangopt.base.arguments import unknown
    from gangopt.registry.problem import resolve
    from gangopt.registry.records import problems

    if noun not in problems:
        raise unknown("problem", noun, [*problems, "cluster"])
    problem = problems[noun]
    if solution:
        if version is not None:
            raise InputError("--version is for instance files; solution files have one version")
        return resolve(problem.solution_document).model_json_schema()  # type: ignore[no-any-return]
    documents = problem.documents()
    chosen = max(documents) if version is None else version
    if chosen not in documents:
        raise InputError(f"--version must be {' or '.join(map(str, documents))} for {noun} (got {chosen})")
    return documents[chosen].model_json_schema()
