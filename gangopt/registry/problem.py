"""One record a decision, which ties its instance, forms, methods and generators together by name.

Everything is referred to as `module:attribute` and imported when it is used, so that listing decisions loads no solver.
Adding a decision means its own files and one record, in `gangopt/registry/records/` or, from another distribution,
behind an entry point of the group `gangopt.problems`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from gangopt.base.arguments import Parameter, bind, join_name, parameters_of, split_name, unknown
from gangopt.base.errors import InputError
from gangopt.base.family import Family
from gangopt.base.plugins import Extensible, resolve

if TYPE_CHECKING:
    from gangopt.base.contract import Instance
    from gangopt.base.types import Sense
    from gangopt.formulations.contract import Formulation

__all__ = ["AnyProblem", "Family", "Form", "Method", "Problem", "Registry", "resolve"]

InstanceT = TypeVar("InstanceT", bound="Instance")
SolutionT = TypeVar("SolutionT")


@dataclass(frozen=True)
class Form:
    """Reference to a formulation of a problem.

    Attributes
    ----------
    name : str
        Name of the formulation.
    target : str
        The formulation as `module:attribute`.
    summary : str
        One line for listings.
    """

    name: str
    target: str
    summary: str

    def formulation(self) -> Formulation[Any, Any]:
        """Import and return the formulation; raise TypeError if the target is not one."""
        from gangopt.formulations.contract import Formulation

        found = resolve(self.target)
        if not isinstance(found, Formulation):
            raise TypeError(f"form {self.name}: {self.target} must be a Formulation (got a {type(found).__name__})")
        return found


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
class Problem(Generic[InstanceT, SolutionT]):
    """A decision: its types, forms, methods, generators and objective.

    The type parameters are the types that `instance` and `solution` name.
    """

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
    library: str | None = None
    """Package with `index.json` and the files of the named instances; None for the library of gangopt."""
    describe: str | None = None
    """`(instance) -> str`: the text of `gangopt show`."""
    describe_solution: str | None = None
    """`(instance, solution) -> Iterator[str]`: a heading and one line a part of the decision, for `gangopt solve`."""

    def form(self, name: str) -> Formulation[InstanceT, SolutionT]:
        """Return a formulation by name; raise InputError if the name is unknown."""
        if name not in self.forms:
            raise unknown(f"form of {self.noun}", str(name), list(self.forms))
        return self.forms[name].formulation()

    def linear_form(self) -> Formulation[InstanceT, SolutionT]:
        """Return the first linear formulation; raise InputError if there is none."""
        found = next((form for item in self.forms.values() if (form := item.formulation()).linear), None)
        if found is None:
            raise InputError(f"{self.noun} has no linear form")
        return found

    def method(self, text: str) -> tuple[Method, dict[str, Any], str]:
        """Return a method, its options and its canonical name from `name` or `name?option=value`.

        Parameters
        ----------
        text : str
            The method's name with its options.

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


AnyProblem: TypeAlias = Problem[Any, Any]
"""A problem of any types."""


class Registry(Extensible[AnyProblem]):
    """Problems by name: those of this package in alphabetical order, then those of entry points."""

    def __init__(self, problems: tuple[AnyProblem, ...]) -> None:
        if len({item.noun for item in problems}) != len(problems):
            raise InputError("two decisions of one noun in the registry")
        super().__init__("decision", "gangopt.problems", Problem, lambda item: item.noun, problems)
