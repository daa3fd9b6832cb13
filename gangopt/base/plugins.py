"""Lookup by name: targets `module:attribute`, and registries that other distributions extend by entry points."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gangopt.base.arguments import unknown
from gangopt.base.errors import shorten

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Extensible", "PluginWarning", "resolve"]

Item = TypeVar("Item")

_LONGEST_REASON = 200


def resolve(target: str) -> Any:
    """Import `module:attribute` and return the attribute.

    Parameters
    ----------
    target : str
        Module path and attribute, joined by a colon.
    """
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


class PluginWarning(UserWarning):
    """An entry point of another distribution is ignored because it cannot be used."""


class Extensible(Mapping[str, Item], Generic[Item]):
    """Registry of records by name: those of this package first, then those of entry points.

    Entry points are loaded only if a name is not one of this package's, or on iteration over all names. Each one that
    cannot be used is ignored with a `PluginWarning` that names its distribution.

    Parameters
    ----------
    what : str
        Kind of record in messages, e.g. `policy`.
    group : str
        Group of the entry points. Each has the name of its record and refers to it as `module:attribute`.
    kind : type
        Type of the records.
    name_of : callable
        Returns the name of a record.
    own : tuple
        Records of this package.
    """

    def __init__(
        self, what: str, group: str, kind: type[Item], name_of: Callable[[Item], str], own: tuple[Item, ...]
    ) -> None:
        self._what, self._group, self._kind, self._name_of = what, group, kind, name_of
        self._own = {name_of(item): item for item in own}
        self._homes: dict[str, str] = {}
        self._added: dict[str, Item] | None = None

    def __getitem__(self, name: str) -> Item:
        if name in self._own:
            return self._own[name]
        if name not in self._others():
            raise unknown(self._what, str(name), list(self))
        return self._others()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._others()

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._others()

    def __len__(self) -> int:
        return len(self._own) + len(self._others())

    def excuse(self, name: str, error: Exception) -> None:
        """Warn that the record of an entry point cannot be used; raise the error for records of this package.

        Parameters
        ----------
        name : str
            Name of the record.
        error : Exception
            What was raised when it was used.
        """
        if name in self._own:
            raise error
        _warn(f"{self._homes[name]}, {self._what} {name}", _reason(error))

    def _others(self) -> dict[str, Item]:
        if self._added is None:
            self._added = self._load()
        return self._added

    def _load(self) -> dict[str, Item]:
        from importlib.metadata import entry_points

        found: dict[str, Item] = {}
        homes = self._homes = dict.fromkeys(self._own, "gangopt")
        for home, point in sorted(((_home(item), item) for item in entry_points(group=self._group)), key=_order):
            where = f"{home}, entry point {point.name} of {point.group}"
            if point.name in homes:
                _warn(where, f"duplicate {self._what}, already provided by {homes[point.name]}")
                continue
            try:
                item = point.load()
            except Exception as error:  # whatever a foreign module does must not break the rest
                _warn(where, _reason(error))
                continue
            if not isinstance(item, self._kind):
                _warn(where, f"{point.value} must be a {self._kind.__name__} (got a {type(item).__name__})")
            elif self._name_of(item) != point.name:
                _warn(where, f"{point.value} must have the name of the entry point (got {self._name_of(item)!r})")
            else:
                found[point.name], homes[point.name] = item, home
        return found


def _home(point: EntryPoint) -> str:
    dist = point.dist
    return "an unnamed distribution" if dist is None else f"distribution {dist.name} {dist.version}"


def _order(pair: tuple[str, EntryPoint]) -> tuple[str, str, str]:
    return pair[0], pair[1].name, pair[1].value


def _reason(error: Exception) -> str:
    return f"cannot be loaded ({type(error).__name__}: {error})"


def _warn(where: str, reason: str) -> None:
    warnings.warn(f"{where}: {shorten(reason, _LONGEST_REASON)}", PluginWarning, stacklevel=2)
