"""Heuristics of the user: functions `instance -> Solution` that stand beside the registered methods."""

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
    """Return what rows call a method: its name, for a function its `__name__`.

    Parameters
    ----------
    method : str or Heuristic
        Name of a registered method, or a function.

    Returns
    -------
    str
        A `functools.partial` without a `__name__` of its own goes by the name of its function.

    Raises
    ------
    InputError
        If it is neither.
    """
    if isinstance(method, str):
        return method
    if not callable(method):
        raise InputError(f"method must be a name or a function instance -> Solution (got {method!r})")
    inner = method.func if isinstance(method, functools.partial) else method
    return str(getattr(method, "__name__", None) or getattr(inner, "__name__", None) or type(inner).__name__)


def check_own(function: Heuristic, problem: AnyProblem) -> str:
    """Return the name of a function after making sure that no method of the decision has it.

    Parameters
    ----------
    function : Heuristic
        The user's heuristic.
    problem : AnyProblem
        The decision.

    Returns
    -------
    str
        Its name.

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
    """Refuse a function that cannot be sent to another process.

    Parameters
    ----------
    function : Heuristic
        The user's heuristic.

    Raises
    ------
    InputError
        If it cannot be pickled, as lambdas and functions inside functions cannot.
    """
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise InputError(
            f"function {method_label(function)}: cannot be sent to another process; define it at the top of a module"
        ) from None


def takes_seed(function: Heuristic) -> bool:
    """Return whether a function has a parameter `seed` beside the instance that nothing has set yet."""
    if isinstance(function, functools.partial) and "seed" in function.keywords:
        return False
    try:
        return "seed" in list(inspect.signature(function).parameters)[1:]
    except (TypeError, ValueError):
        return False
