"""What every form is called with: a Block of its own, an instance of its decision, and values to read.

A filled Block remembers form and instance, so that a Solution is never read from another one's variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyomo.common.log import LoggingIntercept
from pyomo.environ import Block, Var

from gangopt.base.contract import Instance
from gangopt.base.errors import InputError

__all__ = ["check_empty", "check_filled", "check_kind", "read_values", "remember"]

_RECORD = "_gangopt_form"


def check_kind(given: object, kind: type, form: str) -> None:
    """Refuse what is not an instance, or a solution, of the form's decision.

    Parameters
    ----------
    given : what the form is called with
    kind : the type it needs
    form : name of the form with its decision, for the message

    Raises
    ------
    InputError
        If it is of another type.
    """
    if not isinstance(given, kind):
        raise InputError(f"{form} takes {kind.__name__}, not {type(given).__name__}")


def check_empty(block: Any, form: str) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Refuse what no form can be put on.

    Parameters
    ----------
    block : ConcreteModel or Block
    form : name of the form with its decision, for the message

    Raises
    ------
    InputError
        If it is no Block, an indexed or unconstructed one, or holds a form already.
    """
    _check_block(block, form)
    if block.component("objective_value") is not None:
        raise InputError(f"{_name(block)} holds a form already; {form} needs a Block of its own")


def check_filled(block: Any, form: str, instance: Instance) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Refuse a Block that holds no form, another form, or another instance.

    Parameters
    ----------
    block : ConcreteModel or Block
    form : name of the form with its decision
    instance : what the Block is to be filled with; equal content is enough

    Raises
    ------
    InputError
        Naming what the Block holds.
    """
    _check_block(block, form)
    if block.component("objective_value") is None:
        raise InputError(f"{_name(block)} holds no form; fill it with {form} first")
    held, filled_with = getattr(block, _RECORD, (form, instance))
    if held != form:
        raise InputError(f"{_name(block)} holds {held}, not {form}")
    if _differ(filled_with, instance):
        raise InputError(
            f"{_name(block)} holds instance {filled_with.name!r}, which differs from the {instance.name!r} given"
        )


def remember(block: Any, form: str, instance: Instance) -> None:  # noqa: ANN401 - Pyomo is untyped
    """Note on a Block what it has been filled with.

    Parameters
    ----------
    block : ConcreteModel or Block
    form : name of the form with its decision
    instance : what the Block says
    """
    setattr(block, _RECORD, (form, instance))


def read_values(read: Callable[[Any, Instance], Any], block: Any, form: str, instance: Instance) -> Any:  # noqa: ANN401
    """Read a Solution from a Block, or say why there is none to read.

    Parameters
    ----------
    read : the form's own function
    block : ConcreteModel or Block that passes `check_filled`
    form : name of the form with its decision
    instance : what the Block says

    Returns
    -------
    Solution

    Raises
    ------
    InputError
        If a variable has no value, or components of the form are missing.
    """
    try:
        # Pyomo logs a missing value besides raising
        with LoggingIntercept(module="pyomo"):
            return read(block, instance)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        for variable in block.component_data_objects(Var, descend_into=True):
            if variable.value is None:
                raise InputError(
                    f"{variable.name} has no value; solve the model before its Solution is read"
                ) from error
        raise
    except (KeyError, IndexError, AttributeError) as error:
        if hasattr(block, _RECORD):
            raise
        raise InputError(f"{_name(block)} does not hold {form} of {instance.name!r}") from error


def _differ(left: Instance, right: Instance) -> bool:
    """Whether two instances differ in more than what they are called and where they come from."""
    if left is right or left == right:
        return False
    if type(left) is not type(right):
        return True
    words = {word: getattr(right, word) for word in ("name", "description", "source")}
    return bool(replace(left, **words) != right)  # type: ignore[type-var]


def _check_block(block: Any, form: str) -> None:  # noqa: ANN401
    if getattr(block, "ctype", None) is not Block:
        raise InputError(f"{form} goes on a Pyomo model or Block, not on a {type(block).__name__}")
    if block.is_indexed():
        raise InputError(f"{_name(block)} is an indexed Block; {form} goes on one of its members")
    if not block.is_constructed():
        raise InputError(f"{_name(block)} is not constructed; add it to a ConcreteModel first")


def _name(block: Any) -> str:  # noqa: ANN401
    return str(block.name)
