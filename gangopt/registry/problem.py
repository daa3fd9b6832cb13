"""One record a decision, which ties its instance, forms, methods and generators together by name.

Everything is referred to as `module:attribute` and imported when it is used, so that listing decisions loads no solver.
Adding a decision means its own files and one record in `gangopt/decisions/`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gangopt.base.arguments import Parameter, bind, join_name, parameters_of, split_name, unknown
from gangopt.base.errors import InputError

__all__ = ["Family", "Form", "Method", "Problem", "Registry", "resolve"]

Sense = Literal["minimise", "maximise"]


def resolve(target: str) -> Any:  # noqa: ANN401 - the registry refers to functions and types alike
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


@dataclass(frozen=True)
class Form:
    """One explicit Pyomo model of a decision.

    `module` defines `fill_<name>`, `<name>_model`, `read_<name>` and `hint_<name>`. The methods here check what those
    are called with; all raise InputError for an instance or solution of another decision, or a Block that does not fit.
    `noun`, `instance` and `solution` are the decision's and come from its Problem.
    """

    name: str
    module: str
    summary: str
    linear: bool = True
    reported: str = ""
    """`(instance, value) -> float`: the decision's objective for a value of the model's, where the two differ."""
    relaxes: bool = False
    """Whether its optimum is only a bound: the solution read from it may be worse."""
    sharpened: str = ""
    """`(model, instance, objective, agreed) -> float or None`: seen from a solution that a solver found, replaces the
    model's objective by one in which tolerances matter less and returns the value of one unit; None if all is well."""
    noun: str = ""
    instance: str = ""
    solution: str = ""

    def fill(self, block: Any, instance: Any, **options: Any) -> None:  # noqa: ANN401 - Pyomo is untyped
        """Put sets, variables, constraints and `objective_value` on a Block that holds no form yet."""
        contract = self._checked(instance)
        contract.check_empty(block, str(self))
        self._function("fill_{}")(block, instance, **options)
        contract.remember(block, str(self), instance)

    def model(self, instance: Any) -> Any:  # noqa: ANN401 - Pyomo is untyped
        """Return a ConcreteModel of the instance, with its Objective."""
        contract = self._checked(instance)
        model = self._function("{}_model")(instance)
        contract.remember(model, str(self), instance)
        return model

    def read(self, block: Any, instance: Any) -> Any:  # noqa: ANN401 - Pyomo is untyped
        """Return the Solution that the values of a Block's variables say; InputError where they have none."""
        contract = self._checked(instance)
        contract.check_filled(block, str(self), instance)
        return contract.read_values(self._function("read_{}"), block, str(self), instance)

    def hint(self, block: Any, instance: Any, solution: Any) -> None:  # noqa: ANN401 - Pyomo is untyped
        """Set the values of a Block's variables to those of a Solution."""
        contract = self._checked(instance)
        contract.check_filled(block, str(self), instance)
        contract.check_kind(solution, resolve(self.solution), str(self))
        self._function("hint_{}")(block, instance, solution)

    def report(self, instance: Any, value: float) -> float:  # noqa: ANN401 - each decision has its own type
        """Return the decision's objective that a value of the model's objective stands for; it grows with the value."""
        return float(resolve(self.reported)(instance, value)) if self.reported else value

    def sharpen(self, model: Any, instance: Any, objective: float, *, agreed: bool) -> float | None:  # noqa: ANN401
        """Return what one unit of the model's new objective stands for; None if the model is left as it is."""
        return resolve(self.sharpened)(model, instance, objective, agreed=agreed) if self.sharpened else None

    def __str__(self) -> str:
        return f"form {self.name} of {self.noun}"

    def _function(self, pattern: str) -> Callable[..., Any]:
        return resolve(f"{self.module}:{pattern.format(self.name)}")  # type: ignore[no-any-return]

    def _checked(self, instance: Any) -> Any:  # noqa: ANN401 - a module, imported when it is used
        contract = importlib.import_module("gangopt.formulations.contract")
        contract.check_kind(instance, resolve(self.instance), str(self))
        return contract


@dataclass(frozen=True)
class Method:
    """One way to take a decision.

    `exact` methods take `(instance, controls, **options)` and return an Outcome with a proven bound; heuristics take
    `(instance, **options)` and return a Solution. An option named `seed` receives the seed of the call, and one named
    `time_limit` the wall seconds that are left of the call's limit, None without a limit.
    """

    name: str
    target: str
    summary: str
    exact: bool = False

    def function(self) -> Callable[..., Any]:
        """Import and return the function."""
        return resolve(self.target)  # type: ignore[no-any-return]

    def options(self) -> dict[str, Parameter]:
        """Return the options that can stand in the method's name."""
        parameters = parameters_of(self.function(), skip=2 if self.exact else 1)
        return {key: item for key, item in parameters.items() if key not in {"seed", "time_limit"}}

    def takes_seed(self) -> bool:
        """Return whether the method uses randomness, which the seed of the call then drives."""
        return self._takes("seed")

    def takes_time_limit(self) -> bool:
        """Return whether the method is a heuristic that can be stopped, by the time limit of the call."""
        return not self.exact and self._takes("time_limit")

    def _takes(self, name: str) -> bool:
        return name in parameters_of(self.function(), skip=2 if self.exact else 1)


@dataclass(frozen=True)
class Family:
    """Instances made by a function from the arguments in their name, as `allocation/random?jobs=100`."""

    name: str
    target: str
    summary: str
    pattern: str | None = None
    """Regular expression of the case for families whose arguments stand in the case itself, as `resnet50-p10`."""

    def generator(self) -> Callable[..., Any]:
        """Import and return the function; its parameters are the arguments."""
        return resolve(self.target)  # type: ignore[no-any-return]

    def parameters(self) -> dict[str, Parameter]:
        """Return the arguments in signature order."""
        return parameters_of(self.generator())


@dataclass(frozen=True)
class Problem:
    """A decision: its types, forms, methods, generators and objective."""

    noun: str
    summary: str
    sense: Sense
    objective: str
    unit: str
    instance: str
    solution: str
    document: str
    solution_document: str
    forms: Mapping[str, Form]
    methods: Mapping[str, Method]
    families: Mapping[str, Family]
    metrics: Mapping[str, str]
    """Unit of each metric, by name."""
    default_methods: tuple[str, ...] = ()
    """What `compare` runs when no methods are named."""
    table_metrics: tuple[str, ...] = ()
    """Metrics that the table of `compare` shows beside the objective."""
    whole: bool = False
    """Whether every objective is a whole number, so that a proof allows no rounding error."""
    row_bound: str | None = None
    """`(instance, score, controls, proven) -> bound or None`: the bound that holds for a row of this score.

    For decisions where one scalar bound does not hold for every row; `proven` has the score and the bound of every row
    that proved one.
    """
    bound_metric: str | None = None
    """Metric that `row_bound` rests on: a row's bound holds for every solution with no more of it than the row has."""
    describe: str | None = None
    """`(instance) -> str`: the text of `gangopt show`."""
    describe_solution: str | None = None
    """`(instance, solution) -> Iterator[str]`: a heading and one line a part of the decision, for `gangopt solve`."""

    def __post_init__(self) -> None:
        forms = {
            name: replace(form, noun=self.noun, instance=self.instance, solution=self.solution)
            for name, form in self.forms.items()
        }
        object.__setattr__(self, "forms", forms)

    def form(self, name: str) -> Form:
        """Return a form by name; an unknown name is an InputError."""
        if name not in self.forms:
            raise unknown(f"form of {self.noun}", str(name), list(self.forms))
        return self.forms[name]

    def method(self, text: str) -> tuple[Method, dict[str, Any], str]:
        """Return a method, its options and its canonical name from `name` or `name?option=value`.

        Parameters
        ----------
        text : the method's name with its options

        Returns
        -------
        tuple of Method, dict and str

        Raises
        ------
        InputError
            If the method or an option is unknown, or a value is not of the option's type.
        """
        if not isinstance(text, str):
            raise InputError(f"method {text!r}: the name of a method is needed")
        base, arguments = split_name(text)
        if base not in self.methods:
            raise unknown(f"method of {self.noun}", base, list(self.methods))
        method = self.methods[base]
        options = bind(method.options(), arguments, text)
        return method, options, join_name(base, options)


class Registry(Mapping[str, Problem]):
    """The decisions by noun, in a fixed order."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self._problems = {item.noun: item for item in problems}
        if len(self._problems) != len(problems):
            raise InputError("two decisions of one noun in the registry")

    def __getitem__(self, noun: str) -> Problem:
        if noun not in self._problems:
            raise unknown("decision", str(noun), list(self._problems))
        return self._problems[noun]

    def __contains__(self, noun: object) -> bool:
        return noun in self._problems

    def __iter__(self) -> Iterator[str]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)
