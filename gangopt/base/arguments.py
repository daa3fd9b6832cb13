"""Arguments in names, e.g. `random?jobs=1000&seed=3` for a generator or a method with its settings."""

from __future__ import annotations

import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from gangopt.base.errors import InputError, shorten, shown

__all__ = ["Parameter", "bind", "join_name", "number_in", "parameters_of", "split_name", "unknown"]

_OF_TEXT = (int, float, str, bool)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def unknown(kind: str, value: str, allowed: list[str]) -> InputError:
    """Return the error for an unknown word, with similar words or all of a short list.

    Parameters
    ----------
    kind : str
        Kind of word, e.g. `method`.
    value : str
        The unknown word.
    allowed : list of str
        Known words.

    Returns
    -------
    InputError
        To be raised by the caller.
    """
    near = get_close_matches(value, allowed, n=3, cutoff=0.6)
    if near:
        *others, last = map(repr, near)
        guess = f"{', '.join(others)} or {last}" if others else last
        return InputError(f"unknown {kind} {shown(value)}; did you mean {guess}?")
    if 0 < len(allowed) <= 12:
        return InputError(f"unknown {kind} {shown(value)}; known: {', '.join(allowed)}")
    return InputError(f"unknown {kind} {shown(value)}")


def split_name(text: str) -> tuple[str, dict[str, str]]:
    """Split `base?key=value&key=value` into the base and its arguments.

    Parameters
    ----------
    text : str
        The name.

    Returns
    -------
    tuple of str and dict
        Base, and text of the arguments by key.

    Raises
    ------
    InputError
        If an argument has no key or no value, or is a duplicate.
    """
    base, mark, query = text.partition("?")
    arguments: dict[str, str] = {}
    if not mark:
        return base, arguments
    for part in query.split("&"):
        key, equals, value = part.partition("=")
        if not key or not equals or not value:
            raise InputError(f"{shorten(text)}: argument {shown(part)} must have the format key=value")
        if key in arguments:
            raise InputError(f"{shorten(text)}: duplicate argument {shown(key)}")
        arguments[key] = value
    return base, arguments


def join_name(base: str, values: Mapping[str, object]) -> str:
    """Return a base with its arguments, `base?key=value&...`, in the order of the values.

    Parameters
    ----------
    base : str
        The name before the question mark.
    values : mapping of str to object
        Arguments by key; booleans become `true` and `false`.

    Returns
    -------
    str
        The name.
    """

    def text(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    query = "&".join(f"{key}={text(value)}" for key, value in values.items())
    return f"{base}?{query}" if query else base


@dataclass(frozen=True)
class Parameter:
    """Argument that a generator or method accepts in its name."""

    name: str
    kinds: tuple[type, ...]
    choices: tuple[str, ...]
    required: bool
    default: object

    @property
    def of_text(self) -> bool:
        """True if text can express a value: an int, float, str, bool or a choice."""
        return bool(self.choices) or any(kind in _OF_TEXT for kind in self.kinds)

    def describe(self) -> str:
        """Return `name=default`, `name=<type>` if required, or `[name=<type>]` if the default is None or empty."""
        kind = "|".join(self.choices) or "|".join(item.__name__ for item in self.kinds if item in _OF_TEXT)
        if self.required:
            return f"{self.name}=<{kind}>"
        return f"[{self.name}=<{kind}>]" if self.default in (None, "") else join_name("", {self.name: self.default})[1:]


def parameters_of(function: Callable[..., Any], skip: int = 0) -> dict[str, Parameter]:
    """Return the arguments that a function accepts in a name, from its annotations.

    Parameters
    ----------
    function : callable
        Function whose parameters are annotated int, float, str, bool, a Literal of str, or a union of these and None.
    skip : int, optional
        Number of leading parameters to leave out.

    Returns
    -------
    dict
        Parameters by name, in signature order.
    """
    hints = typing.get_type_hints(function)
    result = {}
    for item in list(inspect.signature(function).parameters.values())[skip:]:
        kinds, choices = _kinds(hints[item.name])
        required = item.default is inspect.Parameter.empty
        result[item.name] = Parameter(item.name, kinds, choices, required, None if required else item.default)
    return result


def _kinds(hint: Any) -> tuple[tuple[type, ...], tuple[str, ...]]:
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return (str,), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        parts = [_kinds(item) for item in typing.get_args(hint) if item is not type(None)]
        return tuple(kind for kinds, _ in parts for kind in kinds), tuple(c for _, cs in parts for c in cs)
    return (hint,), ()


def bind(parameters: Mapping[str, Parameter], arguments: Mapping[str, str], origin: str) -> dict[str, Any]:
    """Convert text arguments to the types of the parameters.

    Parameters
    ----------
    parameters : mapping of str to Parameter
        Accepted arguments.
    arguments : mapping of str to str
        Text by key.
    origin : str
        Name to quote in messages.

    Returns
    -------
    dict
        Converted values of the given arguments, in signature order.

    Raises
    ------
    InputError
        If a key is unknown, a value is not of its type, or a required argument is missing.
    """
    where = shorten(origin)
    for key in arguments:
        if key not in parameters:
            known = ", ".join(item.describe() for item in parameters.values()) or "none"
            raise InputError(f"{where}: unknown argument {shown(key)}; accepted: {known}")
    missing = [item.name for item in parameters.values() if item.required and item.name not in arguments]
    if missing:
        raise InputError(f"{where}: missing argument {parameters[missing[0]].describe()}")
    return {key: _convert(item, arguments[key], where) for key, item in parameters.items() if key in arguments}


def _convert(parameter: Parameter, text: str, where: str) -> object:
    if text in parameter.choices:
        return text
    for kind in () if parameter.choices else parameter.kinds:
        value = _as(kind, text)
        if value is not None:
            return value
    words = {int: "an integer", float: "a finite number", bool: "true or false"}
    wanted = parameter.choices or [words[kind] for kind in parameter.kinds]
    raise InputError(f"{where}: {parameter.name} must be {' or '.join(wanted)} (got {shorten(text)})")


def _as(kind: type, text: str) -> object | None:
    if kind is bool:
        return {"true": True, "false": False}.get(text)
    if kind is str:
        return text
    value = number_in(text)
    if kind is int and value is not None:
        return value if isinstance(value, int) else None
    return None if value is None else float(value)


def number_in(text: str) -> int | float | None:
    """Return the finite number written in a text, or None.

    Parameters
    ----------
    text : str
        Number in ASCII digits, e.g. `12`, `-3` or `1.5e3`, with optional white space around it.

    Returns
    -------
    int, float or None
        An int if it has neither point nor exponent; None for all other texts, e.g. `nan`, `1_000` or `0x1`, and for
        more than 40 characters.
    """
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    value = int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    return value if math.isfinite(value) else None
