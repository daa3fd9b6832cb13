"""Base class of all formulations, and its checks of blocks, instances and solutions.

A filled block remembers its formulation and instance, so that solutions cannot be read with the wrong ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Generic, Self, TypeVar, get_args, get_origin

from pyomo.common.log import LoggingIntercept
from pyomo.environ import Block, ConcreteModel, Objective, Var, maximize, minimize

from gangopt.base.contract import Instance
from gangopt.base.errors import InputError
from gangopt.base.types import Pyomo, Sense

__all__ = ["Formulation", "check_empty", "check_filled", "check_kind", "read_values", "remember"]

InstanceT = TypeVar("InstanceT", bound=Instance)
SolutionT = TypeVar("SolutionT")

_RECORD = "_gangopt_form"


class Formulation(ABC, Generic[InstanceT, SolutionT]):
    """A Pyomo model of a problem, built on a block from an instance.

    Subclasses name the types of the problem, as in `class Places(Formulation[AuctionInstance, AuctionSolution])`, set
    `name` and `sense`, and implement `_fill`, `_read` and `_hint`; the public methods check the arguments first.
    Options of a formulation, such as precomputed columns, are fields of its class: `Choice(columns).model(instance)`.

    Attributes
    ----------
    name : str
        Name of the formulation, unique within its problem.
    sense : {"minimise", "maximise"}
        Sense of `objective_value`, equal to that of the problem.
    linear : bool
        Whether linear solvers accept the model.
    relaxes : bool
        Whether the optimum is only a bound: the solution read from it may be worse.
    unwatched : float
        Seconds per nonzero that HiGHS may work on the model without checking its clock; 0 if that is short.
    instance_type, solution_type : type
        Types of the problem, taken from the type parameters.
    """

    name: ClassVar[str]
    sense: ClassVar[Sense]
    linear: ClassVar[bool] = True
    relaxes: ClassVar[bool] = False
    unwatched: ClassVar[float] = 0.0
    instance_type: ClassVar[type[Instance]]
    solution_type: ClassVar[type]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__dict__.get("__orig_bases__", ()):
            if get_origin(base) is Formulation:
                cls.instance_type, cls.solution_type = get_args(base)

    def prepared(self, instance: InstanceT) -> Self:
        """Return this formulation with the data of one instance computed once, for repeated calls with that instance.

        Parameters
        ----------
        instance : Instance
            The only instance that the result may be used with.
        """
        del instance
        return self

    @property
    def noun(self) -> str:
        """Name of the problem."""
        return self.instance_type.noun

    def __str__(self) -> str:
        return f"formulation {self.name} of {self.noun}"

    def fill(self, block: Pyomo, instance: InstanceT) -> None:
        """Add sets, variables, constraints and `objective_value` to a block.

        Parameters
        ----------
        block : Block
            A constructed ConcreteModel, Block or member of an indexed Block that holds no formulation yet.
        instance : Instance
            Data of the model.

        Raises
        ------
        InputError
            If the instance is of another problem, or the block cannot be filled.
        ModelTooLargeError
            If the model would have too many columns.
        """
        check_kind(instance, self.instance_type, str(self))
        check_empty(block, str(self))
        self._fill(block, instance)
        remember(block, str(self), instance)

    def model(self, instance: InstanceT) -> Pyomo:
        """Return a model of the instance with the objective `objective`.

        Parameters
        ----------
        instance : Instance
            Data of the model, which is named after it.

        Raises
        ------
        InputError, ModelTooLargeError
            See `fill`.
        """
        check_kind(instance, self.instance_type, str(self))
        model = ConcreteModel(name=instance.name)
        self.fill(model, instance)
        sense = minimize if self.sense == "minimise" else maximize
        model.objective = Objective(expr=model.objective_value, sense=sense)
        return model

    def read(self, block: Pyomo, instance: InstanceT) -> SolutionT:
        """Return the solution given by the values of the variables of a block.

        Parameters
        ----------
        block : Block
            A block filled by this formulation, with a value for every variable.
        instance : Instance
            The instance that the block was filled with, or one of equal content.

        Raises
        ------
        InputError
            If the block holds another formulation or instance, or a variable has no value.
        """
        check_kind(instance, self.instance_type, str(self))
        check_filled(block, str(self), instance)
        return read_values(self._read, block, str(self), instance)

    def hint(self, block: Pyomo, instance: InstanceT, solution: SolutionT) -> None:
        """Set the variables of a block to a solution, for a warm start.

        Parameters
        ----------
        block : Block
            A block filled by this formulation.
        instance : Instance
            The instance that the block was filled with, or one of equal content.
        solution : Solution
            A feasible solution.

        Raises
        ------
        InputError
            If the block holds another formulation or instance, or the solution is of another problem.
        """
        check_kind(instance, self.instance_type, str(self))
        check_filled(block, str(self), instance)
        check_kind(solution, self.solution_type, str(self))
        self._hint(block, instance, solution)

    def report(self, instance: InstanceT, value: float) -> float:
        """Convert a value of `objective_value` to the objective of the problem.

        Parameters
        ----------
        instance : Instance
            Data of the model.
        value : float
            Objective value of the model, or a bound on it.

        Returns
        -------
        float
            The value itself, unless a subclass overrides this with another increasing function.
        """
        return value

    def sharpen(self, model: Pyomo, instance: InstanceT, objective: float, *, agreed: bool) -> float | None:
        """Rescale the objective of a solved model so that the tolerances of a solver matter less.

        Parameters
        ----------
        model : ConcreteModel
            A solved model of this formulation.
        instance : Instance
            Data of the model.
        objective : float
            Objective of the solution found.
        agreed : bool
            Whether the bound found equals that objective.

        Returns
        -------
        float or None
            One unit of the new objective, in units of the old one; None if the model is unchanged.
        """
        del model, instance, objective, agreed
        return None

    @abstractmethod
    def _fill(self, block: Pyomo, instance: InstanceT) -> None: ...

    @abstractmethod
    def _read(self, block: Pyomo, instance: InstanceT) -> SolutionT: ...

    @abstractmethod
    def _hint(self, block: Pyomo, instance: InstanceT, solution: SolutionT) -> None: ...


def check_kind(given: object, kind: type, form: str) -> None:
    """Check the type of an instance or solution.

    Parameters
    ----------
    given : object
        Argument of a formulation.
    kind : type
        Required type.
    form : str
        Formulation, for the message.

    Raises
    ------
    InputError
        If the argument has another type.
    """
    if not isinstance(given, kind):
        raise InputError(f"{form} takes {kind.__name__}, not {type(given).__name__}")


def check_empty(block: Pyomo, form: str) -> None:
    """Check that a block can be filled.

    Parameters
    ----------
    block : Block
        ConcreteModel, Block or member of an indexed Block.
    form : str
        Formulation, for the message.

    Raises
    ------
    InputError
        If the argument is not a block, is indexed, is not constructed, or already holds a formulation.
    """
    _check_block(block, form)
    if block.component("objective_value") is not None:
        raise InputError(f"{_name(block)} already holds a formulation; {form} must be built on an empty Block")


def check_filled(block: Pyomo, form: str, instance: Instance) -> None:
    """Check that a block holds a formulation of an instance.

    Parameters
    ----------
    block : Block
        ConcreteModel, Block or member of an indexed Block.
    form : str
        Formulation.
    instance : Instance
        Instance with which the block must have been filled, or one of equal content.

    Raises
    ------
    InputError
        If the block holds no formulation, another one, or another instance.
    """
    _check_block(block, form)
    if block.component("objective_value") is None:
        raise InputError(f"{_name(block)} holds no formulation; fill it with {form} first")
    held, filled_with = getattr(block, _RECORD, (form, instance))
    if held != form:
        raise InputError(f"{_name(block)} holds {held}, not {form}")
    if _differ(filled_with, instance):
        raise InputError(
            f"{_name(block)} holds instance {filled_with.name!r}, which differs from the {instance.name!r} given"
        )


def remember(block: Pyomo, form: str, instance: Instance) -> None:
    """Record on a block the formulation and the instance that it holds.

    Parameters
    ----------
    block : Block
        A filled block.
    form : str
        Formulation.
    instance : Instance
        Data of the model.
    """
    setattr(block, _RECORD, (form, instance))


def read_values(
    read: Callable[[Pyomo, InstanceT], SolutionT], block: Pyomo, form: str, instance: InstanceT
) -> SolutionT:
    """Read a solution from a block.

    Parameters
    ----------
    read : callable
        Reads the solution from the block and the instance.
    block : Block
        A block that passed `check_filled`.
    form : str
        Formulation, for the message.
    instance : Instance
        Data of the model.

    Raises
    ------
    InputError
        If a variable has no value, or components of the formulation are missing.
    """
    try:
        # Pyomo also logs a missing value before it raises
        with LoggingIntercept(module="pyomo"):
            return read(block, instance)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        for variable in block.component_data_objects(Var, descend_into=True):
            if variable.value is None:
                raise InputError(
                    f"{variable.name} has no value; solve the model before reading its solution"
                ) from error
        raise
    except (KeyError, IndexError, AttributeError) as error:
        if hasattr(block, _RECORD):
            raise
        raise InputError(f"{_name(block)} does not hold {form} of {instance.name!r}") from error


def _differ(left: Instance, right: Instance) -> bool:
    """Return whether two instances differ in more than name, description and source."""
    if left is right or left == right:
        return False
    if type(left) is not type(right):
        return True
    texts = {word: getattr(right, word) for word in ("name", "description", "source")}
    return bool(replace(left, **texts) != right)  # type: ignore[type-var]


def _check_block(block: Pyomo, form: str) -> None:
    if getattr(block, "ctype", None) is not Block:
        raise InputError(f"{form} must be built on a Pyomo model or Block (got a {type(block).__name__})")
    if block.is_indexed():
        raise InputError(f"{_name(block)} is an indexed Block; {form} must be built on one of its members")
    if not block.is_constructed():
        raise InputError(f"{_name(block)} is not constructed; add it to a ConcreteModel first")


def _name(block: Pyomo) -> str:
    return str(block.name)
