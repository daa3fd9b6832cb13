"""What is found by name: targets `module:attribute`, and things to which other distributions add by entry points."""

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
    target : module path and attribute, joined by a colon

    Returns
    -------
    object
        The attribute.
    """
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


class PluginWarning(UserWarning):
    """An entry point of another distribution cannot be used; everything else works."""


class Extensible(Mapping[str, Item], Generic[Item]):
    """Things of this package by name, and behind them those of entry points by theirs.

    Entry points are looked for when a name is asked for that is none of this package's, or when all are wanted. One
    that cannot be used is left out with a `PluginWarning` that names its distribution.

    Parameters
    ----------
    what : what messages call a thing, as `policy`
    group : the group of entry points, each the name of a thing and `module:attribute` of its record
    kind : type of the records
    name_of : returns the name of a record
    own : the records of this package
    """

    def __init__(
        self, what: str, group: str, kind: type[Item], name_of: Callable[[Item], str], own: tuple[Item, ...]
    ) -> None:
        self._what, self._group, self._kind, self._name_of = what, group, kind, name_of
        self._own = {name_of(item): item for item in own}
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

    def _others(self) -> dict[str, Item]:
        if self._added is None:
            self._added = self._load()
        return self._added

    def _load(self) -> dict[str, Item]:
        from importlib.metadata import entry_points

        found: dict[str, Item] = {}
        homes = dict.fromkeys(self._own, "gangopt itself")
        for home, point in sorted(((_home(item), item) for item in entry_points(group=self._group)), key=_order):
            if point.name in homes:
                _warn(home, point, f"{homes[point.name]} has a {self._what} of this name")
                continue
            try:
                item = point.load()
            except Exception as error:  # whatever a foreign module does must not break the rest
                _warn(home, point, f"cannot be loaded ({type(error).__name__}: {error})")
                continue
            if not isinstance(item, self._kind):
                _warn(home, point, f"{point.value} is a {type(item).__name__}, a {self._kind.__name__} is needed")
            elif self._name_of(item) != point.name:
                _warn(home, point, f"{point.value} has the name {self._name_of(item)!r}")
            else:
                found[point.name], homes[point.name] = item, home
        return found


def _home(point: EntryPoint) -> str:
    dist = point.dist
    return "an unnamed distribution" if dist is None else f"distribution {dist.name} {dist.version}"


def _order(pair: tuple[str, EntryPoint]) -> tuple[str, str, str]:
    return pair[0], pair[1].name, pair[1].value


def _warn(home: str, point: EntryPoint, reason: str) -> None:
    text = f"{home}, entry point {point.name} of {point.group}: {shorten(' '.join(reason.split()), _LONGEST_REASON)}"
    warnings.warn(text, PluginWarning, stacklevel=2)
