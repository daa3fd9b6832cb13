"""Families of instances and of workloads: what a function makes of the arguments in a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gangopt.base.arguments import Parameter, parameters_of
from gangopt.base.plugins import resolve

__all__ = ["Family"]


@dataclass(frozen=True)
class Family:
    """Instances made by a function from the arguments in their name, as `allocation/random?jobs=100`."""

    name: str
    target: str
    summary: str
    pattern: str | None = None
    """Regular expression of the case for families whose arguments stand in the case itself, as `resnet50-p10`."""

    def generator(self) -> Callable[..., Any]:
        """Import and return the function; its parameters are the arguments."""
        return resolve(self.target)  # type: ignore[no-any-return]

    def parameters(self) -> dict[str, Parameter]:
        """Return the arguments that text can express, in signature order."""
        return {name: item for name, item in parameters_of(self.generator()).items() if item.of_text}
