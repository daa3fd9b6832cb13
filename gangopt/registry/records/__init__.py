"""The decisions: one module each, whose `PROBLEM` is its registry record; found by file name, in alphabetical order."""

from __future__ import annotations

import importlib
import pkgutil

from gangopt.registry.problem import Registry

__all__ = ["problems"]

problems = Registry(
    tuple(
        importlib.import_module(f"{__name__}.{module.name}").PROBLEM
        for module in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name)
    )
)
"""Every decision by noun."""
