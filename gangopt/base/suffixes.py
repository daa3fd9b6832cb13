"""The suffixes of the files that a command or function can write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gangopt.base.errors import InputError, shorten

__all__ = ["check_suffix"]


def check_suffix(path: str | os.PathLike[str], allowed: Sequence[str]) -> str:
    """Return the suffix of a path in lower case.

    Parameters
    ----------
    path : str or path-like
        File to write or read.
    allowed : sequence of str
        Accepted suffixes, e.g. `.json`.

    Returns
    -------
    str
        One of `allowed`.

    Raises
    ------
    InputError
        If the path has another suffix or none.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in allowed:
        name = shorten(os.fspath(path))
        raise InputError(f"{name}: suffix {Path(path).suffix or 'missing'}, allowed: {', '.join(allowed)}")
    return suffix
