"""Problems of this package: one module each, with the registry record `PROBLEM`, in alphabetical order."""

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
"""Problems by name."""
