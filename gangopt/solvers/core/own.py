"""User heuristics: functions `instance -> Solution` that run next to the registered methods."""

from __future__ import annotations

import functools
import inspect
import pickle
from collections.abc import Callable
from typing import Any

from gangopt.base.errors import InputError
from gangopt.registry.problem import AnyProblem

__all__ = ["Heuristic", "check_own", "check_sendable", "method_label", "takes_seed"]

Heuristic = Callable[..., Any]
"""Takes an instance and returns a Solution; a parameter named `seed` receives the seed of the call."""


def method_label(method: str | Heuristic) -> str:
    """Return the name of a method in rows: its own, or the `__name__` of a function.

    Parameters
    ----------
    method : str or Heuristic
        Name of a registered method, or a function.

    Returns
    -------
    str
        A `functools.partial` without a `__name__` has the name of its function.

    Raises
    ------
    InputError
        If the method is neither.
    """
    if isinstance(method, str):
        return method
    if not callable(method):
        raise InputError(f"method must be a name or a function instance -> Solution (got {method!r})")
    inner = method.func if isinstance(method, functools.partial) else method
    return str(getattr(method, "__name__", None) or getattr(inner, "__name__", None) or type(inner).__name__)


def check_own(function: Heuristic, problem: AnyProblem) -> str:
    """Return the name of a function after checking that no method of the problem has it.

    Parameters
    ----------
    function : Heuristic
        The user's heuristic.
    problem : AnyProblem
        The problem.

    Returns
    -------
    str
        The name.

    Raises
    ------
    InputError
        If a registered method has that name.
    """
    name = method_label(function)
    if name in problem.methods:
        raise InputError(f"function {name}: {problem.noun} has a method of this name; rename the function")
    return name


def check_sendable(function: Heuristic) -> None:
    """Reject a function that cannot be sent to another process.

    Parameters
    ----------
    function : Heuristic
        The user's heuristic.

    Raises
    ------
    InputError
        If it cannot be pickled, e.g. a lambda or a nested function.
    """
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise InputError(
            f"function {method_label(function)}: cannot be sent to another process; define it at the top of a module"
        ) from None


def takes_seed(function: Heuristic) -> bool:
    """Return whether a function has an unset parameter `seed` besides the instance."""
    if isinstance(function, functools.partial) and "seed" in function.keywords:
        return False
    try:
        return "seed" in list(inspect.signature(function).parameters)[1:]
    except (TypeError, ValueError):
        return False
