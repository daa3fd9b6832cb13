"""Instances by name or file, with a warning where a local file hides a named instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gangopt.base.errors import shorten

if TYPE_CHECKING:
    from gangopt.base.contract import Instance

__all__ = ["load_instance", "warn_of_hiding"]


def load_instance(name: str) -> Instance:
    """Return the instance of a name or file, after `warn_of_hiding`."""
    from gangopt.catalogue import load

    warn_of_hiding(name)
    return load(name)


def warn_of_hiding(name: str) -> None:
    """Warn on stderr that a local file is read instead of the named instance with the same name.

    Parameters
    ----------
    name : str
        Name or path given to the command.
    """
    from gangopt.catalogue import is_hidden

    if is_hidden(name):
        typer.echo(f"gangopt: {shorten(name)} is read from the local file, not from the library", err=True)
