"""What commands print, and the files they are asked to write."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from gangopt.errors import InputError

__all__ = ["check_output", "print_json"]


def print_json(value: object) -> None:
    """Print a value as JSON on stdout."""
    from gangopt.jsonfile import dump_json

    typer.echo(dump_json(value), nl=False)


def check_output(output: Path | None, suffix: str | None = None) -> None:
    """Refuse an output that could not be written, before anything is computed."""
    if output is None:
        return
    if suffix is not None and output.suffix.lower() != suffix:
        raise InputError(f"{output}: suffix {output.suffix or 'missing'}, allowed: {suffix}")
    if output.is_dir():
        raise InputError(f"{output}: is a directory, cannot be written as a file")
    parent = output.parent
    if not parent.is_dir():
        raise InputError(f"{output}: cannot be written (no such directory: {parent})")
    if not os.access(parent, os.W_OK):
        raise InputError(f"{output}: cannot be written (no permission in {parent})")
