"""Bound of `placement`: formulation `levels`, solved as one model, and again at the levels it chose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gangopt.base.interrupts import unless_interrupted
from gangopt.formulations.placement import Levels, chosen_pieces
from gangopt.formulations.placement.data import JobData, Level, PlacementData
from gangopt.formulations.placement.focus import focus, in_seconds
from gangopt.formulations.placement.packing import ClassPieces
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.solvers.highs import SolverOutcome, SolveSettings, compile_model, load_values, solve_arrays

__all__ = ["Choice", "LevelsBound", "levels_within", "sum_alone"]


@dataclass(frozen=True)
class Choice:
    """Solution of formulation `levels`.

    Attributes
    ----------
    limits : mapping of int to float
        Transfer time, in seconds, of every placed job by index.
    pieces : ClassPieces
        Pieces (class, parameter servers, workers) by job.
    """

    limits: Mapping[int, float]
    pieces: ClassPieces


def levels_within(
    instance: PlacementInstance, data: PlacementData, levels: Sequence[Sequence[Level]], objective: float
) -> list[list[Level]]:
    """Return the levels that a placement better than a known one can have.

    A placed job costs at least its cost alone on the empty servers, and a paused one its charge. One job can exceed its
    minimum by at most the objective less the sum of these minima. No level is dropped if the known placement pauses
    more jobs than necessary by count.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    data : PlacementData
        The instance in integers.
    levels : sequence of sequence of Level
        Levels of every job, ascending.
    objective : float
        Objective of the known placement.
    """
    if objective >= instance.pause_cost:
        return [list(of_job) for of_job in levels]
    alone = _Alone(data, levels, len(data.jobs) - instance.fewest_paused)
    # the margin keeps a placement as good as the known one from being cut off by rounding
    room = objective + 1e-9 * max(1.0, abs(objective))
    return [
        [level for level in of_job if alone.others(job) + _cost(job, level.time) <= room]
        for job, of_job in zip(data.jobs, levels, strict=True)
    ]


def sum_alone(instance: PlacementInstance, data: PlacementData, levels: Sequence[Sequence[Level]]) -> float:
    """Return the bound from placing every job alone on the empty servers, without a model.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    data : PlacementData
        The instance in integers.
    levels : sequence of sequence of Level
        All levels of every job, ascending.

    Returns
    -------
    float
        The smallest costs of the maximum number of placed jobs by count, in seconds, plus the charges of the others,
        and `pause_cost` for those that fit nowhere.
    """
    placed = len(data.jobs) - instance.fewest_paused
    alone = _Alone(data, levels, placed)
    return alone.total + instance.pause_cost * max(0, placed - alone.possible)


class _Alone:
    """Minimum costs of jobs, each placed alone on the empty servers, or paused.

    As many jobs are placed as the count allows, those first that gain most over their charge.

    Parameters
    ----------
    data : PlacementData
        The placement in integers.
    levels : sequence of sequence of Level
        All levels of every job, ascending.
    placed : int
        Maximum number of placed jobs.
    """

    def __init__(self, data: PlacementData, levels: Sequence[Sequence[Level]], placed: int) -> None:
        self._least = {
            job.index: _cost(job, of_job[0].time) for job, of_job in zip(data.jobs, levels, strict=True) if of_job
        }
        by_gain = sorted(self._least, key=lambda j: self._least[j] - data.jobs[j].pause_charge)
        self.possible = len(by_gain)
        self._placed = set(by_gain[:placed])
        last = by_gain[placed - 1] if 0 < placed <= len(by_gain) else None
        charges = [job.pause_charge for job in data.jobs if job.index not in self._placed]
        self.total = math.fsum([*charges, *(self._least[j] for j in self._placed)])
        # if a job outside this set is placed, the last of the set is paused
        self._but_one = math.inf if last is None else self.total - self._least[last] + data.jobs[last].pause_charge

    def others(self, job: JobData) -> float:
        """Return the minimum cost of the other jobs, in seconds, when a job is placed."""
        if job.index in self._placed:
            return self.total - self._least[job.index]
        return self._but_one - job.pause_charge


def _cost(job: JobData, time: float) -> float:
    fixed, a_second = job.charge()
    return fixed + a_second * time


class LevelsBound:
    """Formulation `levels` of an instance in HiGHS.

    Parameters
    ----------
    instance : PlacementInstance
        The placement.
    data : PlacementData
        The instance in integers.
    levels : sequence of sequence of Level
        The relevant levels of every job.
    known : tuple of float or None, optional
        Objective of a known placement, above 0, and a bound, in seconds; None if there is none.
    """

    def __init__(
        self,
        instance: PlacementInstance,
        data: PlacementData,
        levels: Sequence[Sequence[Level]],
        known: tuple[float, float] | None = None,
    ) -> None:
        self._model = Levels(levels).model(instance)
        self._unit = None if known is None else focus(self._model, instance, *known)
        self._arrays = compile_model(self._model)
        column = {id(variable): at for at, variable in enumerate(self._arrays.columns)}
        self._times = {(j, n): level.time for j, of_job in enumerate(levels) for n, level in enumerate(of_job)}
        self._level = {key: column[id(variable)] for key, variable in self._model.level.items()}
        self._pieces = {key: column[id(variable)] for key, variable in self._model.pieces.items()}
        self._paused = {key: column[id(variable)] for key, variable in self._model.paused.items()}
        self._sizes = {key: _size(data, key) for key in self._pieces}

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self._arrays.n_columns

    @property
    def nonzeros(self) -> int:
        """Number of coefficients in rows."""
        return len(self._arrays.values)

    def solve(self, settings: SolveSettings) -> tuple[SolverOutcome, Choice | None]:
        """Solve the model; its bound, or the known objective if smaller, is a bound on every placement.

        Parameters
        ----------
        settings : SolveSettings
            How to solve it.

        Returns
        -------
        tuple of SolverOutcome and Choice
            None without a solution.
        """
        outcome = solve_arrays(self._arrays, settings)
        if outcome.bound is not None:
            outcome = replace(outcome, bound=in_seconds(outcome.bound, self._unit))
        return outcome, None if outcome.values is None else self._choice(outcome.values)

    def _choice(self, values: NDArray[np.float64]) -> Choice:
        load_values(self._arrays, values)
        limits = {j: self._times[j, n] for (j, n), at in self._level.items() if round(float(values[at])) == 1}
        return Choice(limits, chosen_pieces(self._model))

    def vary(self, choice: Choice, rng: np.random.Generator, settings: SolveSettings) -> Choice:
        """Return other random pieces at the same levels, with a preference for small and even ones.

        Parameters
        ----------
        choice : Choice
            The levels.
        rng : numpy.random.Generator
            Generator of the costs of the pieces.
        settings : SolveSettings
            How to solve.

        Returns
        -------
        Choice
            The given choice if no other is found in time.
        """
        arrays = self._arrays
        lower, upper = arrays.lower.copy(), arrays.upper.copy()
        costs = np.zeros(arrays.n_columns)
        chosen = {key for key in self._level if choice.limits.get(key[0]) == self._times[key]}
        for key, at in self._level.items():
            lower[at] = upper[at] = float(key in chosen)
        for j, at in self._paused.items():
            lower[at] = upper[at] = float(j not in choice.limits)
        noise = rng.uniform(0.5, 1.5, len(self._pieces))
        for (key, at), factor in zip(self._pieces.items(), noise.tolist(), strict=True):
            if key[:2] in chosen:
                costs[at] = factor * self._sizes[key] ** 2
            else:
                upper[at] = 0.0
        again = replace(arrays, costs=costs, lower=lower, upper=upper, offset=0.0)
        outcome = unless_interrupted(solve_arrays(again, replace(settings, rel_gap=0.05)))
        return choice if outcome.values is None else self._choice(outcome.values)


def _size(data: PlacementData, key: tuple[int, int, int, int, int]) -> float:
    """Return the largest share of a server's capacity that a piece takes."""
    j, _, c, x, y = key
    need, room = data.jobs[j].need((x, y)), data.classes[c].capacity
    return max((a / b for a, b in zip(need, room, strict=True) if b), default=0.0)
