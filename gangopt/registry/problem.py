"""Registry records: the instance type, formulations, methods and generators of each problem, by name.

Records refer to objects as `module:attribute` and import them on first use, so listing problems loads no solver. A new
problem needs its own modules and one record, in `gangopt/registry/records/` or, from another distribution, behind an
entry point of the group `gangopt.problems`.
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
    from gangopt.base.document import FormerDocument
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
            raise TypeError(
                f"formulation {self.name}: {self.target} must be a Formulation (got a {type(found).__name__})"
            )
        return found


@dataclass(frozen=True)
class Method:
    """Reference to a method of a problem.

    Exact methods take `(instance, controls, **options)` and return an Outcome with a proven bound; heuristics take
    `(instance, **options)` and return a solution. An option named `seed` receives the seed of the call, and one named
    `time_limit` the remaining wall time of the call in seconds, None without a limit.

    Attributes
    ----------
    name : str
        Name of the method.
    target : str
        The function as `module:attribute`.
    summary : str
        One line for listings.
    exact : bool
        Whether the method proves a bound.
    """

    name: str
    target: str
    summary: str
    exact: bool = False

    def function(self) -> Callable[..., Any]:
        """Import and return the function."""
        return resolve(self.target)  # type: ignore[no-any-return]

    def options(self) -> dict[str, Parameter]:
        """Return the options that the name of the method may set."""
        parameters = parameters_of(self.function(), skip=2 if self.exact else 1)
        return {key: item for key, item in parameters.items() if key not in {"seed", "time_limit"}}

    def takes_seed(self) -> bool:
        """Return whether the method takes a random seed."""
        return self._takes("seed")

    def takes_time_limit(self) -> bool:
        """Return whether the method is a heuristic that takes a time limit."""
        return not self.exact and self._takes("time_limit")

    def _takes(self, name: str) -> bool:
        return name in parameters_of(self.function(), skip=2 if self.exact else 1)


@dataclass(frozen=True)
class Problem(Generic[InstanceT, SolutionT]):
    """Record of a problem; its type parameters are its instance and solution types.

    Attributes
    ----------
    noun : str
        Name of the problem.
    summary : str
        One line for listings.
    sense : {"minimise", "maximise"}
        Sense of the objective.
    objective, unit : str
        Meaning and unit of the objective.
    instance, solution, document, solution_document : str
        Types of instances, solutions and their files as `module:attribute`.
    former_document : str or None
        Type of instance files of version 1, where `document` is that of version 2.
    forms, methods, families : mapping of str to Form, Method or Family
        Formulations, methods and generators by name.
    metrics : mapping of str to str
        Unit of each metric by name.
    default_methods : tuple of str
        Methods that `compare` runs by default.
    table_metrics : tuple of str
        Metrics that the table of `compare` shows beside the objective.
    whole : bool
        Whether every objective value is an integer, so that a proof allows no rounding error.
    row_bound : str or None
        Function `(instance, score, controls, proven) -> bound or None` for problems where one scalar bound does not
        hold for every row of `compare`; returns the bound for a row with this score, given the score and bound of
        every row that proved one.
    bound_metric : str or None
        Metric on which `row_bound` depends: the bound of a row holds for every solution with at most its value.
    library : str or None
        Package with the named instances and their `index.json`; None for the library of gangopt.
    describe : str or None
        Function `(instance) -> str` for `gangopt show`.
    describe_solution : str or None
        Function `(instance, solution) -> Iterator[str]` for `gangopt solve`: a heading and one line for each part.
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
    default_methods: tuple[str, ...] = ()
    table_metrics: tuple[str, ...] = ()
    whole: bool = False
    row_bound: str | None = None
    bound_metric: str | None = None
    library: str | None = None
    describe: str | None = None
    describe_solution: str | None = None
    former_document: str | None = None

    def documents(self) -> dict[int, type[FormerDocument]]:
        """Import and return the types of instance files by version, the one that is written last."""
        if self.former_document is None:
            return {1: resolve(self.document)}
        return {1: resolve(self.former_document), 2: resolve(self.document)}

    def form(self, name: str) -> Formulation[InstanceT, SolutionT]:
        """Return a formulation by name; raise InputError if the name is unknown."""
        if name not in self.forms:
            raise unknown(f"formulation of {self.noun}", str(name), list(self.forms))
        return self.forms[name].formulation()

    def linear_form(self) -> Formulation[InstanceT, SolutionT]:
        """Return the first linear formulation; raise InputError if there is none."""
        found = next((form for item in self.forms.values() if (form := item.formulation()).linear), None)
        if found is None:
            raise InputError(f"{self.noun} has no linear formulation")
        return found

    def method(self, text: str) -> tuple[Method, dict[str, Any], str]:
        """Return a method, its options and its canonical name from `name` or `name?option=value`.

        Parameters
        ----------
        text : str
            Name of the method, with or without options.

        Raises
        ------
        InputError
            If the method or an option is unknown, or a value is not of the option's type.
        """
        if not isinstance(text, str):
            raise InputError(f"method must be a name (got {text!r})")
        base, arguments = split_name(text)
        if base not in self.methods:
            raise unknown(f"method of {self.noun}", base, list(self.methods))
        method = self.methods[base]
        options = bind(method.options(), arguments, text)
        return method, options, join_name(base, options)


AnyProblem: TypeAlias = Problem[Any, Any]
"""A problem of any types."""


class Registry(Extensible[AnyProblem]):
    """Problems by name: first those of this package, in alphabetical order, then those of entry points."""

    def __init__(self, problems: tuple[AnyProblem, ...]) -> None:
        nouns = [item.noun for item in problems]
        for noun in nouns:
            if nouns.count(noun) > 1:
                raise InputError(f"duplicate problem {noun!r}")
        super().__init__("problem", "gangopt.problems", Problem, lambda item: item.noun, problems)
