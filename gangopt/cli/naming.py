"""From what a command is given to an instance, with a warning where a file hides a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gangopt.base.errors import shorten

if TYPE_CHECKING:
    from gangopt.base.contract import Instance

__all__ = ["load_instance", "warn_of_hiding"]


def load_instance(name: str) -> Instance:
    """Return the instance of a name or file; a file that is read in place of a named instance is told on stderr."""
    from gangopt.catalogue import load

    warn_of_hiding(name)
    return load(name)


def warn_of_hiding(name: str) -> None:
    """Tell on stderr that a name is taken for a local file of the same name.

    Parameters
    ----------
    name : str
        What the command was given.
    """
    from gangopt.catalogue import is_hidden

    if is_hidden(name):
        typer.echo(f"gangopt: {shorten(name)} is read from the local file, not from the library", err=True)
