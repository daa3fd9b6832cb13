"""What every decision's instance, solution and judge have in common."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from gangopt.base.errors import InputError, shown, unprintable

__all__ = ["Instance", "Record", "Score", "Violation", "check_text"]


@dataclass(frozen=True)
class Violation:
    """One broken rule of a solution.

    Attributes
    ----------
    rule : str
        Name of the rule, the same string as the constraint in the formulation.
    where : str
        Index at which it is broken, as `job 3` or `resource gpu`.
    value : float
        What the solution has.
    limit : float
        What the rule allows.
    unit : str
        Unit of both.
    """

    rule: str
    where: str
    value: float
    limit: float
    unit: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.rule} at {self.where}: {self.value:g}{unit}, allowed {self.limit:g}{unit}"


@dataclass(frozen=True)
class Score:
    """What a solution is worth, as the judge sees it.

    Attributes
    ----------
    objective : float
        Value of the decision's objective, in the decision's unit.
    metrics : mapping of str to object
        The decision's own named figures.
    """

    objective: float
    metrics: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", MappingProxyType(dict(self.metrics)))


def check_text(field: str, value: object, *, lines: bool = False) -> None:
    """Refuse what is no text, or text that moves the cursor or hides characters where it is printed.

    Parameters
    ----------
    field : str
        What the message calls the value.
    value : object
        The text.
    lines : bool, optional
        Whether line ends and tabs are allowed.

    Raises
    ------
    InputError
        If it is no text, or holds a control or format character or half a surrogate pair.
    """
    if not isinstance(value, str):
        raise InputError(f"{field}: {shown(value)}, a text is needed")
    found = unprintable(value, lines=lines)
    if found is not None:
        raise InputError(f"{field}: {shown(value)}, {found}")


class Record:
    """Base of frozen data classes that hold arrays: equal by content, arrays made read-only."""

    def _freeze(self) -> None:
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = [item.name for item in dataclasses.fields(self) if item.compare]  # type: ignore[arg-type]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        names = [item.name for item in dataclasses.fields(self) if item.compare]  # type: ignore[arg-type]
        return hash((type(self), tuple(_key(getattr(self, name)) for name in names)))


def _same(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        exact = left.dtype.kind != "f"
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=not exact)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and left == right


def _key(value: object) -> object:
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes())
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return value


class Instance(Record, ABC):
    """What is to be decided; subclasses are frozen data classes with arrays and labels.

    Attributes
    ----------
    noun : str
        The decision, class-wide.
    name : str
        Name that rebuilds it, or the name its file gives.
    description : str
        One sentence for people.
    source : str
        Where the numbers come from.
    """

    noun: ClassVar[str]
    name: str
    description: str
    source: str

    def _freeze(self) -> None:
        super()._freeze()
        check_text("name", self.name)
        check_text("description", self.description, lines=True)
        check_text("source", self.source, lines=True)

    @abstractmethod
    def check(self, solution: Any) -> list[Violation]:
        """Return every broken rule of a solution; empty if it is feasible."""

    @abstractmethod
    def evaluate(self, solution: Any) -> Score:
        """Return objective and metrics of a feasible solution."""
