"""Arguments in a name: `random?jobs=1000&seed=3` names a generator or a method together with its settings."""

from __future__ import annotations

import contextlib
import inspect
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from gangopt.base.errors import InputError, shorten, shown

__all__ = ["Parameter", "bind", "join_name", "number_in", "parameters_of", "split_name", "unknown"]


def unknown(kind: str, value: str, allowed: list[str]) -> InputError:
    """Return the error for an unknown word, with the nearest allowed ones or all of a short list.

    Parameters
    ----------
    kind : str
        What the word should have been, as `method`.
    value : str
        The word.
    allowed : list of str
        The words that are accepted.

    Returns
    -------
    InputError
        To be raised by the caller.
    """
    near = get_close_matches(value, allowed, n=3, cutoff=0.6)
    if near:
        return InputError(f"unknown {kind} {shown(value)}; near matches: {', '.join(near)}")
    if 0 < len(allowed) <= 12:
        return InputError(f"unknown {kind} {shown(value)}; known: {', '.join(allowed)}")
    return InputError(f"unknown {kind} {shown(value)}")


def split_name(text: str) -> tuple[str, dict[str, str]]:
    """Split `base?key=value&key=value` into the base and its arguments.

    Parameters
    ----------
    text : str
        The whole name.

    Returns
    -------
    tuple of str and dict
        Base and arguments, both still text.

    Raises
    ------
    InputError
        If an argument has no value, no key, or stands twice.
    """
    base, mark, query = text.partition("?")
    arguments: dict[str, str] = {}
    if not mark:
        return base, arguments
    for part in query.split("&"):
        key, equals, value = part.partition("=")
        if not key or not equals or not value:
            raise InputError(f"{shorten(text)}: argument {shown(part)} is not of the form key=value")
        if key in arguments:
            raise InputError(f"{shorten(text)}: argument {shown(key)} stands twice")
        arguments[key] = value
    return base, arguments


def join_name(base: str, values: Mapping[str, object]) -> str:
    """Return the canonical `base?key=value&...` of values in the order given.

    Parameters
    ----------
    base : str
        The name before the question mark.
    values : mapping of str to object
        Arguments to write; booleans become `true` and `false`, floats their shortest form.

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
    """One argument that a generator or method accepts in its name."""

    name: str
    kinds: tuple[type, ...]
    choices: tuple[str, ...]
    required: bool
    default: object

    def describe(self) -> str:
        """Return `name=default`, `name=<type>` where a value must be given, `[name=<type>]` where one may be."""
        kind = "|".join(self.choices) or "|".join(item.__name__ for item in self.kinds)
        if self.required:
            return f"{self.name}=<{kind}>"
        return f"[{self.name}=<{kind}>]" if self.default is None else join_name("", {self.name: self.default})[1:]


def parameters_of(function: Callable[..., Any], skip: int = 0) -> dict[str, Parameter]:
    """Return the arguments of a function that can stand in a name, read from its annotations.

    Parameters
    ----------
    function : callable
        Parameters annotated int, float, str, bool, a Literal of str, or a union of these with None.
    skip : int, optional
        Leading parameters that are given by code and never by name.

    Returns
    -------
    dict
        Parameter by name, in signature order.
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
        What is accepted.
    arguments : mapping of str to str
        Text by key.
    origin : str
        The name that messages quote.

    Returns
    -------
    dict
        Converted values of the given arguments, in signature order.

    Raises
    ------
    InputError
        If a key is unknown, a value is not of its type, or a required one is absent.
    """
    where = shorten(origin)
    for key in arguments:
        if key not in parameters:
            known = ", ".join(item.describe() for item in parameters.values()) or "none"
            raise InputError(f"{where}: unknown argument {shown(key)}; accepted: {known}")
    missing = [item.name for item in parameters.values() if item.required and item.name not in arguments]
    if missing:
        raise InputError(f"{where}: argument {missing[0]!r} is needed, as {parameters[missing[0]].describe()}")
    return {key: _convert(item, arguments[key], where) for key, item in parameters.items() if key in arguments}


def _convert(parameter: Parameter, text: str, where: str) -> object:
    given = f"{where}: {parameter.name}={shorten(text)}"
    if parameter.choices:
        if text in parameter.choices:
            return text
        raise InputError(f"{given}, allowed: {', '.join(parameter.choices)}")
    for kind in parameter.kinds:
        value = _as(kind, text)
        if value is not None:
            return value
    wanted = " or ".join(
        {int: "a whole number", float: "a finite number", bool: "true or false"}[kind] for kind in parameter.kinds
    )
    raise InputError(f"{given}, {wanted} is needed")


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
    """Return the finite number that a text says in ASCII digits, an int where it is written as one.

    Parameters
    ----------
    text : str
        As `12`, `-3` or `1.5e3`, white space around it allowed.

    Returns
    -------
    int, float or None
        None for everything else: other scripts' digits, underscores, infinities, more than 40 characters.
    """
    if len(text) > 40 or "_" in text or not text.isascii():
        return None
    for kind in (int, float):
        with contextlib.suppress(ValueError, OverflowError):
            value = kind(text)
            return value if math.isfinite(value) else None
    return None
