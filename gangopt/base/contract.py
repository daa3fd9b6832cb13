"""Base classes of instances and results of the checker, for every problem."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from gangopt.base.errors import InputError, shown, unprintable
from gangopt.base.presented import Presented

__all__ = ["Instance", "Record", "Score", "Violation", "check_text"]


@dataclass(frozen=True)
class Violation:
    """One violated rule of a solution.

    Attributes
    ----------
    rule : str
        Name of the rule, the same string as the constraint in the formulation.
    where : str
        Index at which it is violated, e.g. `job 3` or `resource gpu`.
    value : float
        Value in the solution.
    limit : float
        Limit of the rule.
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
    """Objective and metrics of a solution, computed by the checker.

    Attributes
    ----------
    objective : float
        Objective value, in the unit of the problem.
    metrics : mapping of str to object
        Further figures of the problem by name.
    """

    objective: float
    metrics: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", MappingProxyType(dict(self.metrics)))


def check_text(field: str, value: object, *, lines: bool = False) -> None:
    """Refuse values other than text, and text with characters that cannot be printed.

    Such characters could move the cursor of a terminal or hide others.

    Parameters
    ----------
    field : str
        Name of the value in the message.
    value : object
        The value.
    lines : bool, optional
        Whether line ends and tabs are allowed.

    Raises
    ------
    InputError
        If it is not text, or has a control or format character or an unpaired surrogate.
    """
    if not isinstance(value, str):
        raise InputError(f"{field} must be text (got {shown(value)})")
    found = unprintable(value, lines=lines)
    if found is not None:
        raise InputError(f"{field}: {shown(value)}, {found}")


class Record:
    """Base of frozen dataclasses with arrays, which are read-only and compared by content."""

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


class Instance(Presented, Record, ABC):
    """Base of problem instances, which are frozen dataclasses with arrays and labels.

    Attributes
    ----------
    noun : str
        Name of the problem, the same for all instances of a class.
    name : str
        Name that `load` accepts, or the name in its file.
    description : str
        Description in one sentence.
    source : str
        Source of the data.
    """

    report = "gangopt.reporting.instance:instance_text"
    noun: ClassVar[str]
    name: str
    description: str
    source: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # a dataclass keeps a method that its own class defines; its generated one would list every array
        cls.__repr__ = Instance.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r})"

    def _freeze(self) -> None:
        super()._freeze()
        check_text("name", self.name)
        check_text("description", self.description, lines=True)
        check_text("source", self.source, lines=True)

    @abstractmethod
    def check(self, solution: Any) -> list[Violation]:
        """Return the violations of a solution; none if it is feasible."""

    @abstractmethod
    def evaluate(self, solution: Any) -> Score:
        """Return objective and metrics of a feasible solution."""
