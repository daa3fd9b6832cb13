"""A form as a model of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyomo.environ import ConcreteModel, Objective, minimize

from gangopt.base.contract import Instance

__all__ = ["minimising"]


def minimising(fill: Callable[..., None], instance: Instance, *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - Pyomo is untyped
    """Return a ConcreteModel that a form fills, with its `objective_value` to be minimised.

    Parameters
    ----------
    fill : callable
        `fill_<form>`.
    instance : Instance
        What is to be decided; the model has its name.
    *arguments : object
        Further ones of `fill`.
    **keywords : object
        Further ones of `fill`.

    Returns
    -------
    ConcreteModel
        With the Objective `objective`.
    """
    model = ConcreteModel(name=instance.name)
    fill(model, instance, *arguments, **keywords)
    model.objective = Objective(expr=model.objective_value, sense=minimize)
    return model
