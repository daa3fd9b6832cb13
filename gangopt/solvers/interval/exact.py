r"""Exact methods of `interval`: two exact decisions in turn, and the joint optimum.

The joint optimum:

1. Starts: pairs of heuristics, each retried within smaller capacities until every job finds a place.
2. Prices of the cluster's capacities in sum, from a linear relaxation in which a configuration has the transfer times
   that it can have alone, give a bound L. A solution that makes a choice of reduced cost r costs at least L + r, so
   choices beyond the best known solution are dropped.
3. Form `classes` merges servers of equal capacity. Every solution is one of it, so its optimum is a bound.
4. Its allocation is placed by the exact method of `placement`. If that meets the bound, the optimum is proven.
5. Else form `joint` settles it where it is small enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gangopt.base.errors import InputError
from gangopt.base.types import Pyomo
from gangopt.formulations.deadline import OutOfTime, building_within
from gangopt.formulations.interval import Classes, Joint, count_columns, count_pieces
from gangopt.formulations.interval.data import IntervalData, choices_of
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.registry.records import problems
from gangopt.solvers.core.by_form import settings_of
from gangopt.solvers.core.contract import Controls, Outcome, Termination
from gangopt.solvers.core.incumbent import Incumbent
from gangopt.solvers.interval.heuristics import attempts, in_turn, signed, split_options
from gangopt.solvers.interval.prices import all_local_bound, priced
from gangopt.solvers.placement import exact as exact_placement

__all__ = ["exact", "pair"]

STARTS = (("optimus", "optimus"), ("optimus", "pack"), ("drf", "pack"), ("equal", "optimus"))
LARGE_STARTS = (("optimus", "optimus"), ("equal", "optimus"))

WITHOUT_PRESOLVE = {"presolve": "off"}
"""HiGHS's presolve drops hardly a column of these forms, takes ten seconds for that, and heeds no time limit."""

MAX_CONFIGURATIONS = 60_000
"""Most configurations of all jobs together for which levels are enumerated."""

MAX_PIECES = 60_000
"""Most pieces of form `classes`."""

MAX_JOINT = 60_000
"""Most columns of form `joint`."""


class _Stop(Exception):  # noqa: N818 - a signal between functions of this module, never an error of the user
    """The method ends with what it has, for the reason given."""

    def __init__(self, termination: Termination, reason: str | None = None) -> None:
        super().__init__(termination)
        self.termination: Termination = termination
        self.reason = reason


@dataclass
class _State(Incumbent):
    """Best solution and bound so far, and the formulation solved last."""

    form: str = "combinatorial"
    doubt: str | None = None
    """Contradiction in the answer of HiGHS to the last formulation, if any."""

    def check(self) -> None:
        """End the method where the optimum is proven to the gap asked for, or the time is over."""
        if self.proven():
            raise _Stop("optimal")
        if self.controls.remaining() == 0.0:
            raise _Stop("time_limit")

    def outcome(self, stop: _Stop) -> Outcome:
        """Return what was found and proved."""
        return self.concluded(stop.termination, stop.reason, self.form)


def exact(instance: IntervalInstance, controls: Controls) -> Outcome:
    """Decide allocation and placement at once, for the least objective, and prove it.

    Parameters
    ----------
    instance : IntervalInstance
        The interval.
    controls : Controls
        Settings of the call.

    Returns
    -------
    Outcome
        Where the forms would be too large, `completed` with the bound of the prices and the best start. Metrics:
        `choices`, `choices_kept`, `classes_columns` and `joint_columns`, as far as the method went.
    """
    state = _State(instance, controls)
    try:
        with building_within(controls.remaining):
            _run(state)
    except _Stop as stop:
        return state.outcome(stop)
    except OutOfTime as stop:
        return state.outcome(_Stop("time_limit", str(stop)))
    except KeyboardInterrupt:
        return state.outcome(_Stop("interrupted"))
    if state.doubt is not None:
        return state.outcome(_Stop("error", state.doubt))
    return state.outcome(_Stop("time_limit", "the last model ended with a gap above the one asked for"))


def _run(state: _State) -> None:
    instance = state.instance
    state.offer(state.controls.start)
    cells = int((instance.allocation.max_ps * instance.allocation.max_workers).sum())
    large = cells > MAX_CONFIGURATIONS
    for allocation, placement in LARGE_STARTS if large else STARTS:
        for found in attempts(instance, allocation, placement):
            state.offer(found)
            state.check()
    if large:
        state.offer(bound=all_local_bound(instance, state.controls))
        state.check()
        raise _Stop("completed", f"{cells:,} configurations; joint models are built up to {MAX_CONFIGURATIONS:,}")
    data = _priced(state)
    _classes(state, data)
    if state.solution is not None:
        data = data.within(instance, state.objective)
    _joint(state, data)


def _priced(state: _State) -> IntervalData:
    instance = state.instance
    begin = state.controls.elapsed()
    every = choices_of(instance)
    bound, data = priced(instance, every.within(instance, state.objective), state.objective, state.controls.remaining())
    state.build_seconds += state.controls.elapsed() - begin
    state.metrics["choices"] = sum(map(len, every.choices))
    state.metrics["choices_kept"] = sum(map(len, data.choices))
    state.offer(bound=bound)
    state.check()
    return data


def _classes(state: _State, data: IntervalData) -> None:
    instance = state.instance
    state.metrics["classes_columns"] = pieces = count_pieces(data)
    if pieces > MAX_PIECES:
        raise _Stop(
            "completed", f"{pieces:,} pieces on classes of servers; joint models are built up to {MAX_PIECES:,}"
        )
    begin = state.controls.elapsed()
    form = Classes(data)
    model = form.model(instance)
    _solve(state, form, model, begin)
    if model.level and next(iter(model.level.values())).value is not None:
        found = form.read(model, instance)
        state.offer(found)
        state.check()
        # a placement of its counts that meets the bound proves the optimum, whichever servers the form forgot
        placed = exact_placement.exact(
            instance.placement_of(found.allocation), replace(state.controls, start=None, form=None, on_progress=None)
        )
        if placed.solution is not None:
            state.offer(IntervalSolution(found.allocation, placed.solution))
        if placed.termination == "interrupted":
            raise KeyboardInterrupt
    state.check()


def _joint(state: _State, data: IntervalData) -> None:
    instance = state.instance
    state.metrics["joint_columns"] = columns = count_columns(data)
    if columns > MAX_JOINT:
        raise _Stop(
            "completed", f"{columns:,} columns with every server; formulation joint is solved up to {MAX_JOINT:,}"
        )
    from pyomo.environ import Constraint

    begin = state.controls.elapsed()
    form = Joint(data)
    model = form.model(instance)
    if math.isfinite(state.bound):
        low = state.bound - 1e-9 * max(1.0, abs(state.bound))
        model.known_bound = Constraint(expr=model.objective_value >= low)
    _solve(state, form, model, begin)
    if model.level and next(iter(model.level.values())).value is not None:
        state.offer(form.read(model, instance))
    state.check()


def _solve(state: _State, form: Classes | Joint, model: Pyomo, begin: float) -> None:
    """Solve a formulation from the best solution and take its bound; the values stay on the model."""
    from gangopt.solvers.highs import solve_model

    if state.objective < state.instance.pause_cost and not state.instance.fewest_paused:
        # the best solution pauses no job, so a better one does not either
        model.paused.fix(0)
    start = state.solution is not None and form.try_hint(model, state.instance, state.solution)
    state.build_seconds += state.controls.elapsed() - begin
    state.check()
    settings = replace(settings_of(state.controls), on_progress=None, options=WITHOUT_PRESOLVE)
    outcome = solve_model(model, settings, warm_start=start)
    state.form, state.version, state.options = form.name, outcome.version, outcome.options
    state.doubt = None
    if outcome.solution_status == "none":
        model.level.set_values(dict.fromkeys(model.level))
    if outcome.termination == "interrupted":
        raise KeyboardInterrupt
    if outcome.termination == "infeasible":
        # the choices that were kept are those of the best solution, too
        state.doubt = f"HiGHS reports formulation {form.name} infeasible, but a solution is known"
    elif outcome.termination == "error":
        state.doubt = outcome.message
    if outcome.bound is not None:
        state.offer(bound=outcome.bound)


def pair(allocation: str, placement: str) -> Callable[..., Outcome]:
    """Return the method that allocates by one method and places by another, at least one of them exact.

    Two optima in turn are no joint optimum, so the Outcome has no bound.

    Parameters
    ----------
    allocation : str
        Method of decision `allocation`.
    placement : str
        Method of decision `placement`.

    Returns
    -------
    callable
        `(instance, controls, **options) -> Outcome`; the options are those of both, by name.
    """
    first, second = problems["allocation"].methods[allocation], problems["placement"].methods[placement]

    def run(instance: IntervalInstance, controls: Controls, **options: Any) -> Outcome:
        if controls.start is not None:
            raise InputError(f"start is for the method exact, {first.name}+{second.name} takes two decisions in turn")
        mine, theirs = split_options(first, second, options)
        turns = _Turns(replace(controls, start=None, form=None, on_progress=None))

        def allocate(shared: AllocationInstance) -> AllocationSolution:
            return turns.take(first, shared, mine)  # type: ignore[no-any-return]

        def place(given: PlacementInstance) -> PlacementSolution:
            return turns.take(second, given, theirs)  # type: ignore[no-any-return]

        try:
            solution = in_turn(instance, allocate, place)
        except _Stop as stop:
            return Outcome(stop.termination, None, None, reason=stop.reason, options=options)
        return Outcome(
            turns.termination,
            solution,
            None,
            form=None,
            solve_seconds=controls.elapsed(),
            options=options,
            metrics=turns.metrics,
        )

    return signed(run, (first, second))


class _Turns:
    """The two decisions of a pair, one after the other, within the time of one call."""

    def __init__(self, controls: Controls) -> None:
        self.controls = controls
        self.termination: Termination = "completed"
        self.metrics: dict[str, Any] = {}

    def take(self, method: Any, instance: Any, options: dict[str, Any]) -> Any:
        """Take one decision; a limit that cuts it short is that of the pair.

        Parameters
        ----------
        method : object
            Method of the decision.
        instance : object
            What is to be decided.
        options : dict of str to object
            Of the method.
        """
        if self.termination == "interrupted":
            raise _Stop("interrupted")
        if not method.exact:
            seed = {"seed": self.controls.seed} if method.takes_seed() else {}
            return method.function()(instance, **options, **seed)
        outcome = method.function()(instance, self.controls, **options)
        cut_short = outcome.termination != "optimal" and self.termination == "completed"
        if cut_short or outcome.termination == "interrupted":
            self.termination = outcome.termination
        self.metrics[f"{instance.noun}_bound"] = outcome.bound
        if outcome.solution is None:
            raise _Stop(outcome.termination, outcome.reason)
        return outcome.solution
