"""Versions of gangopt, of the libraries that it stands on, and of the machine's system, for reports of faults."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from gangopt.base.version import __version__

__all__ = ["Versions", "show_versions"]

_LIBRARIES = (
    "highspy",
    "pyomo",
    "networkx",
    "numpy",
    "scipy",
    "pydantic",
    "polars",
    "typer",
    "rich",
    "matplotlib",
    "lazy-loader",
    "distributed",
)


class Versions(dict[str, str]):
    """Versions by name, shown as one line each."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:<{width}}  {found}" for name, found in self.items())


def show_versions() -> Versions:
    """Return the versions that a report of a fault should name.

    Returns
    -------
    Versions
        Versions of gangopt, Python, the system and each library by name, `not installed` for those that are missing,
        and the number of cores.
    """
    found = {"gangopt": __version__, "python": platform.python_version(), "system": platform.platform()}
    found["cores"] = str(os.cpu_count())
    return Versions(found | {name: _version(name) for name in _LIBRARIES})


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
