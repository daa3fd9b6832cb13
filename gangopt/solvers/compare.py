"""Run many methods on many instances and set every row against the best proven bound."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gangopt.decisions import problems
from gangopt.errors import GangoptError, InputError
from gangopt.instances.catalogue import load
from gangopt.instances.contract import Instance, Score
from gangopt.registry import Problem, resolve
from gangopt.solvers.comparison import Comparison, Row
from gangopt.solvers.contract import Controls
from gangopt.solvers.execution import Executor, run_tasks
from gangopt.solvers.result import Result, is_proven, relative_gap
from gangopt.solvers.solve import checked_controls, solve

__all__ = ["Task", "compare"]


@dataclass(frozen=True)
class Task:
    """One instance and the methods to run on it; sent to a worker process as it is.

    Attributes
    ----------
    instance : the instance, or the name or path from which the worker loads it
    methods : methods to run, None for the decision's defaults
    time_limit : wall seconds for each method, or None
    rel_gap : relative gap at which exact methods may stop
    threads : threads of the solver
    seed : seed of every random choice
    """

    instance: Instance | str
    methods: tuple[str, ...] | None
    time_limit: float | None
    rel_gap: float
    threads: int
    seed: int

    @property
    def label(self) -> str:
        """Name of the instance."""
        return self.instance if isinstance(self.instance, str) else self.instance.name


def compare(
    instances: Iterable[Instance | str | os.PathLike[str]] | Instance | str | os.PathLike[str],
    methods: Sequence[str] | None = None,
    *,
    time_limit: float | None = None,
    executor: str | Executor | None = None,
    rel_gap: float = 0.0,
    threads: int = 1,
    seed: int = 0,
    workers: int | None = None,
    scheduler: str | None = None,
    journal: str | os.PathLike[str] | None = None,
    on_rows: Callable[[tuple[Row, ...]], None] | None = None,
) -> Comparison:
    """Score methods against the best bound that any of them proves, instance by instance.

    The gap of a row is `(objective - bound) / |bound|` when minimising, its mirror image when maximising.

    Parameters
    ----------
    instances : instances, names or paths; one alone is accepted
    methods : methods with their options; None runs the defaults of each decision
    time_limit : wall seconds for each method on each instance, None for no limit
    executor : `serial` (default), `processes`, `dask`, or any object like a `concurrent.futures.Executor`
    rel_gap : relative gap at which exact methods may stop
    threads : threads of the solver
    seed : seed of every random choice
    workers : worker processes for `processes`, None for one a core
    scheduler : address of the Dask scheduler for `dask`
    journal : file to which finished rows are appended; a later call with the same settings goes on from it
    on_rows : called with the rows of each finished instance, in order

    Returns
    -------
    Comparison
        One row for every instance and method. A method that fails has a row that says why; an instance that cannot be
        loaded has one such row.

    Raises
    ------
    InputError
        If nothing is to be compared, a method is unknown to every decision, or a setting is out of range.
    """
    checked_controls(time_limit, rel_gap, threads, seed)
    wanted = None if methods is None else tuple(methods)
    listed = [instances] if isinstance(instances, Instance | str | os.PathLike) else list(instances)
    if not listed:
        raise InputError("no instances to compare")
    _check_methods(wanted, _decisions_of(listed))
    tasks = [
        Task(item if isinstance(item, Instance) else os.fspath(item), wanted, time_limit, rel_gap, threads, seed)
        for item in listed
    ]
    path = None if journal is None else Path(journal)
    return run_tasks(run_task, tasks, executor, workers=workers, scheduler=scheduler, journal=path, on_rows=on_rows)


def _decisions_of(instances: Sequence[Instance | str | os.PathLike[str]]) -> list[Problem]:
    """Return the decisions that the instances can be of: all of them if one is a file, which is not opened here."""
    nouns = {item.noun if isinstance(item, Instance) else os.fspath(item).partition("/")[0] for item in instances}
    known = [problems[noun] for noun in problems if noun in nouns]
    return known if len(known) == len(nouns) else list(problems.values())


def _check_methods(methods: tuple[str, ...] | None, decisions: list[Problem]) -> None:
    """Refuse methods that fit none of the decisions, before anything is solved."""
    if methods is None:
        return
    if not methods:
        raise InputError("no methods to compare")
    for index, text in enumerate(methods):
        if text in methods[:index]:
            raise InputError(f"method {text} is named twice")
        having = [problem for problem in decisions if text.partition("?")[0] in problem.methods]
        if not having:
            every = sorted({name for problem in decisions for name in problem.methods})
            raise InputError(f"unknown method {text!r}; known: {', '.join(every)}")
        errors = [error for problem in having if (error := _method_error(problem, text)) is not None]
        if len(errors) == len(having):
            raise errors[0]


def _method_error(problem: Problem, text: str) -> InputError | None:
    try:
        problem.method(text)
    except InputError as error:
        return error
    return None


def run_task(task: Task) -> tuple[Row, ...]:
    """Run the methods of a task and return its rows; no error leaves this function.

    Parameters
    ----------
    task : one instance with its methods

    Returns
    -------
    tuple of Row
    """
    try:
        instance = load(task.instance) if isinstance(task.instance, str) else task.instance
    except (GangoptError, MemoryError) as error:
        return (_failed(task.label, "", "", error),)
    problem = problems[instance.noun]
    methods = _methods_for(problem, task.methods)
    results: list[Result | Row] = []
    for name in methods:
        results.append(_run_method(task, instance, problem, name))
        if getattr(results[-1], "termination", "") == "interrupted":
            break
    return _mark_best(problem, _rows(problem, instance, task, results))


def _methods_for(problem: Problem, methods: tuple[str, ...] | None) -> tuple[str, ...]:
    if methods is not None:
        return methods
    return problem.default_methods or tuple(problem.methods)


def _run_method(task: Task, instance: Instance, problem: Problem, name: str) -> Result | Row:
    try:
        return solve(
            instance,
            name,
            time_limit=task.time_limit,
            rel_gap=task.rel_gap,
            threads=task.threads,
            seed=task.seed,
        )
    except Exception as error:  # one method's fault must not cost the rows of the others
        return _failed(instance.name, problem.noun, name, error)


def _failed(instance: str, noun: str, method: str, error: BaseException) -> Row:
    text = (str(error).splitlines() or [""])[0]
    reason = text if isinstance(error, GangoptError) and text else f"{type(error).__name__}: {text}".rstrip(": ")
    unit = problems[noun].unit if noun else ""
    return Row(
        instance, noun, method, None, None, None, proven=False, seconds=0.0, status="failed", unit=unit, reason=reason
    )


def _rows(problem: Problem, instance: Instance, task: Task, results: list[Result | Row]) -> list[Row]:
    proven = [item for item in results if isinstance(item, Result) and item.bound is not None]
    shared = _tightest(problem, [item.bound for item in proven])
    scores = [(_score(item), item.bound) for item in proven if item.objective is not None and item.bound is not None]
    rows = []
    for item in results:
        if isinstance(item, Row):
            rows.append(item)
        elif problem.row_bound is None:
            rows.append(_row(problem, item, shared))
        else:
            rows.append(_row(problem, item, _bound_of_row(problem, instance, task, item, scores)))
    return rows


def _score(result: Result) -> Score:
    return Score(float("nan") if result.objective is None else result.objective, result.metrics)


def _tightest(problem: Problem, bounds: Iterable[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    return max(known) if problem.sense == "minimise" else min(known)


def _bound_of_row(
    problem: Problem, instance: Instance, task: Task, result: Result, proven: list[tuple[Score, float]]
) -> float | None:
    if result.objective is None or problem.row_bound is None:
        return result.bound
    controls = Controls(time_limit=task.time_limit, threads=task.threads, seed=task.seed)
    found = resolve(problem.row_bound)(instance, _score(result), controls, proven)
    return _tightest(problem, [found, result.bound])


def _row(problem: Problem, result: Result, bound: float | None) -> Row:
    own = {key: value for key, value in result.metrics.items() if isinstance(value, int | float)}
    status = result.solution_status if result.solution_status != "none" else result.termination
    return Row(
        instance=result.instance,
        problem=problem.noun,
        method=result.method,
        objective=result.objective,
        best_bound=bound,
        rel_gap=relative_gap(result.objective, bound, problem.sense),
        proven=is_proven(result.objective, bound, problem.sense),
        seconds=result.seconds.total,
        status=status if result.termination != "interrupted" else "interrupted",
        unit=problem.unit,
        reason=result.reason,
        metrics=own,
    )


def _mark_best(problem: Problem, rows: list[Row]) -> tuple[Row, ...]:
    values = [row.objective for row in rows if row.objective is not None]
    if not values:
        return tuple(rows)
    top = min(values) if problem.sense == "minimise" else max(values)
    return tuple(
        replace(row, best=row.objective is not None and abs(row.objective - top) <= 1e-9 * max(1.0, abs(top)))
        for row in rows
    )
