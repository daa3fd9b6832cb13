"""Base class of the formulations of `interval`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from gangopt.base.types import Pyomo
from gangopt.formulations.contract import Formulation, check_filled
from gangopt.formulations.interval.choices import Pieces, hint_choices
from gangopt.formulations.interval.data import Choice, IntervalData, choices_of
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution

__all__ = ["IntervalFormulation"]


@dataclass(frozen=True, eq=False)
class IntervalFormulation(Formulation[IntervalInstance, IntervalSolution]):
    """A model that chooses one configuration and level for each job.

    Attributes
    ----------
    data : IntervalData or None
        Choices of the jobs; None for all that `choices_of` returns.
    """

    sense = "minimise"
    data: IntervalData | None = None

    def prepared(self, instance: IntervalInstance) -> Self:
        """Return the formulation with the choices of an instance."""
        return replace(self, data=self._data_of(instance))

    def try_hint(self, block: Pyomo, instance: IntervalInstance, solution: IntervalSolution) -> bool:
        """Hint a solution and return whether the choices contain it; if they do not, set nothing.

        A configuration that was left out because a smaller one is as good is replaced by that one.

        Parameters
        ----------
        block : Block
            A block filled by this formulation.
        instance : IntervalInstance
            The instance that the block was filled with.
        solution : IntervalSolution
            A feasible solution.

        Raises
        ------
        InputError
            If the block holds another formulation or instance.
        """
        check_filled(block, str(self), instance)
        data = self._data_of(instance)
        found = hint_choices(block, data, solution)
        if found is None:
            return False
        variables = self._piece_variables(block)
        variables.set_values(dict.fromkeys(variables, 0))
        for choice, pieces in found:
            for index, number in self._piece_counts(block, data, choice, pieces).items():
                variables[index].set_value(number)
        return True

    def _hint(self, block: Pyomo, instance: IntervalInstance, solution: IntervalSolution) -> None:
        self.try_hint(block, instance, solution)

    def _data_of(self, instance: IntervalInstance) -> IntervalData:
        return choices_of(instance) if self.data is None else self.data

    @abstractmethod
    def _piece_variables(self, block: Pyomo) -> Pyomo: ...

    @abstractmethod
    def _piece_counts(
        self, block: Pyomo, data: IntervalData, choice: Choice, pieces: Pieces
    ) -> Mapping[tuple[int | str, ...], int]:
        """Return the nonzero values of the piece variables by index, for a choice and the pieces of its job."""
