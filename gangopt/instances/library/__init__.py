"""Named instances: small packaged files with a provenance record each, and the names that generators rebuild."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from gangopt.base.jsonfile import parse_json

__all__ = ["folder", "read"]


def folder(noun: str) -> Traversable:
    """Return the folder with the named instances of a decision, which need not exist."""
    return resources.files(__name__) / noun


def read(folder: Traversable, file: str) -> object:
    """Return the parsed JSON of a packaged file."""
    return parse_json((folder / file).read_text("utf-8"), file)
