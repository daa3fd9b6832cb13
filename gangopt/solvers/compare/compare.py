"""Run many methods on many instances and compare every row with the best proven bound."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gangopt.base.contract import Instance
from gangopt.base.errors import GangoptError, InputError
from gangopt.catalogue import load
from gangopt.catalogue import names as named_instances
from gangopt.registry.problem import AnyProblem
from gangopt.registry.records import problems
from gangopt.solvers.compare.comparison import Comparison
from gangopt.solvers.compare.rows import error_line, scored_rows
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.core.execution import Executor, run_tasks
from gangopt.solvers.core.journal import Rows
from gangopt.solvers.core.own import Heuristic, check_own, check_sendable, method_label
from gangopt.solvers.core.result import Result
from gangopt.solvers.core.row import Row, failed_row
from gangopt.solvers.solve import checked_controls, solve

__all__ = ["Task", "compare", "expand"]


@dataclass(frozen=True)
class Task:
    """One instance and the methods to run on it; it is sent to worker processes.

    Attributes
    ----------
    instance : Instance or str
        The instance, or the name or path from which the worker loads it.
    methods : tuple of str or Heuristic or None
        Methods to run, by name or as functions; None runs the problem's defaults.
    time_limit : float or None
        Wall seconds for each method, or None.
    rel_gap : float
        Relative gap at which exact methods may stop.
    threads : int
        Threads of the solver.
    seed : int
        Seed of every random choice.
    """

    instance: Instance | str
    methods: tuple[str | Heuristic, ...] | None
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
    methods: Sequence[str | Heuristic] | str | Heuristic | None = None,
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
    instances : iterable of Instance, str or path-like, Instance, str or path-like
        Instances, names, patterns of names, e.g. `parameters/*`, or paths; a single one is accepted.
    methods : sequence of str or Heuristic, str, Heuristic or None, optional
        Methods with their options, or functions of your own `instance -> Solution`, identified by their `__name__`;
        a single one is accepted. Each problem runs those that apply to it; None runs the defaults of each problem.
    time_limit : float or None, optional
        Wall seconds for each method on each instance, None for no limit.
    executor : str, Executor or None, optional
        `serial` (default), `processes`, `dask`, or any object like a `concurrent.futures.Executor`.
    rel_gap : float, optional
        Relative gap at which exact methods may stop.
    threads : int, optional
        Threads of the solver.
    seed : int, optional
        Seed of every random choice.
    workers : int or None, optional
        Worker processes for `processes`, None for one per core.
    scheduler : str or None, optional
        Address of the Dask scheduler for `dask`.
    journal : str, path-like or None, optional
        File to which finished rows are appended; a later call with the same settings resumes from it. Not allowed
        with functions of your own, whose changes cannot be detected.
    on_rows : callable or None, optional
        Called with the rows of each finished instance, in order.

    Returns
    -------
    Comparison
        One row for every instance and method. A method that fails has a row with the reason; an instance that cannot
        be loaded, or that Ctrl-C left unfinished, has one such row. Instances with the same name are distinguished
        by their file or, failing that, a number after the name.

    Raises
    ------
    InputError
        If there is nothing to compare, no problem has a method, or a setting is out of range.
    """
    settings = checked_controls(time_limit, rel_gap, threads, seed)
    wanted = (methods,) if isinstance(methods, str) or callable(methods) else methods
    wanted = None if wanted is None else tuple(_several("methods", wanted))
    one = isinstance(instances, Instance | str | os.PathLike)
    listed = expand([instances] if one else _several("instances", instances))  # type: ignore[list-item]
    if not listed:
        raise InputError("no instances to compare")
    _check_methods(wanted, _decisions_of(listed))
    _check_functions(wanted, journal is not None, executor in {"processes", "dask"})
    tasks = [
        Task(
            item if isinstance(item, Instance) else os.fspath(item),
            wanted,
            settings.time_limit,
            settings.rel_gap,
            settings.threads,
            settings.seed,
        )
        for item in listed
    ]
    path = None if journal is None else Path(journal)
    rows, interrupted = run_tasks(
        run_task, tasks, executor, workers=workers, scheduler=scheduler, journal_path=path, on_rows=on_rows
    )
    for index, task in enumerate(tasks):
        if index not in rows:
            rows[index] = (failed_row(task.label, "interrupted before it finished", status="interrupted"),)
    return Comparison(_distinct(rows, listed), interrupted)


def _several(name: str, values: Any) -> Iterable[Any]:
    if not isinstance(values, Iterable):
        raise InputError(f"{name} must be one or a list (got {values!r:.60})")
    return values


def expand(
    instances: Iterable[Instance | str | os.PathLike[str]],
) -> list[Instance | str | os.PathLike[str]]:
    """Replace every pattern of names by the named instances that match it.

    Parameters
    ----------
    instances : iterable of Instance, str or path-like
        Instances, names, patterns, e.g. `parameters/*`, or paths; a pattern that is also a file means that file.

    Returns
    -------
    list
        The items in order; matches of a pattern that are listed already are left out.

    Raises
    ------
    InputError
        If a pattern matches nothing, or an item is not an instance, name or path.
    """
    listed: list[Instance | str | os.PathLike[str]] = []
    for index, item in enumerate(instances):
        if not isinstance(item, Instance | str | os.PathLike):
            raise InputError(f"instances[{index}] must be an instance, its name or its path (got {item!r:.60})")
        if not isinstance(item, str) or not any(mark in item for mark in "*[") or Path(item).exists():
            listed.append(item)
            continue
        matches = named_instances(item)
        if not matches:
            raise InputError(f"no named instance matches {item!r}; `gangopt list` prints the names")
        known = {other for other in listed if isinstance(other, str)}
        listed += [name for name in matches if name not in known]
    return listed


def _distinct(rows: Rows, listed: Sequence[Instance | str | os.PathLike[str]]) -> tuple[Row, ...]:
    """Return all rows in order; append the file or a number to the name of instances that share one."""
    counts = Counter(rows[index][0].instance for index in sorted(rows))
    seen: Counter[str] = Counter()
    every: list[Row] = []
    for index in sorted(rows):
        name, item = rows[index][0].instance, listed[index]
        seen[name] += 1
        if counts[name] > 1:
            origin = "" if isinstance(item, Instance) or os.fspath(item) == name else os.fspath(item)
            label = f"{name} ({origin or f'no. {seen[name]}'})"
            every += [replace(row, instance=label) for row in rows[index]]
        else:
            every += rows[index]
    return tuple(every)


def _decisions_of(instances: Sequence[Instance | str | os.PathLike[str]]) -> list[AnyProblem]:
    """Return the problems of the instances: all problems if one is a file, which is not opened here."""
    nouns = {item.noun if isinstance(item, Instance) else os.fspath(item).partition("/")[0] for item in instances}
    known = [problems[noun] for noun in problems if noun in nouns]
    return known if len(known) == len(nouns) else list(problems.values())


def _check_methods(methods: tuple[str | Heuristic, ...] | None, decisions: list[AnyProblem]) -> None:
    """Reject methods that apply to none of the problems, before anything is solved."""
    if methods is None:
        return
    if not methods:
        raise InputError("no methods to compare")
    labels = [method_label(item) for item in methods]
    for index, (item, text) in enumerate(zip(methods, labels, strict=True)):
        if text in labels[:index]:
            raise InputError(f"duplicate method {text}")
        if not isinstance(item, str):
            for problem in decisions:
                check_own(item, problem)
            continue
        having = [problem for problem in decisions if text.partition("?")[0] in problem.methods]
        if not having:
            every = sorted({name for problem in decisions for name in problem.methods})
            raise InputError(f"unknown method {text!r}; known: {', '.join(every)}")
        errors = [error for problem in having if (error := _method_error(problem, text)) is not None]
        if len(errors) == len(having):
            raise errors[0]


def _method_error(problem: AnyProblem, text: str) -> InputError | None:
    try:
        problem.method(text)
    except InputError as error:
        return error
    return None


def _check_functions(methods: tuple[str | Heuristic, ...] | None, journal: bool, processes: bool) -> None:
    for item in methods or ():
        if not isinstance(item, str) and journal:
            raise InputError(
                f"function {method_label(item)}: a journal cannot detect changes to it; leave out the journal"
            )
        if not isinstance(item, str) and processes:
            check_sendable(item)


def run_task(task: Task) -> tuple[Row, ...]:
    """Run the methods of a task and return its rows; no error leaves this function.

    Parameters
    ----------
    task : Task
        One instance with its methods.
    """
    try:
        instance = load(task.instance) if isinstance(task.instance, str) else task.instance
        problem = problems[instance.noun]
    except Exception as error:  # one instance's fault must not cost the rows of the others
        return (failed_row(task.label, _reason(error)),)
    methods = _methods_for(problem, task.methods)
    if not methods:
        wanted = ", ".join(map(method_label, task.methods or ()))
        reason = f"{problem.noun} has no method {wanted}; known: {', '.join(problem.methods)}"
        return (failed_row(instance.name, reason, problem=problem.noun),)
    results: list[Result | Row] = []
    for method in methods:
        results.append(_run_method(task, instance, problem, method))
        if getattr(results[-1], "termination", "") == "interrupted":
            break
    controls = Controls(time_limit=task.time_limit, threads=task.threads, seed=task.seed)
    return scored_rows(problem, instance, results, controls)


def _methods_for(problem: AnyProblem, methods: tuple[str | Heuristic, ...] | None) -> tuple[str | Heuristic, ...]:
    """Return the requested methods that apply to the problem, or its defaults."""
    if methods is None:
        return problem.default_methods or tuple(problem.methods)
    return tuple(item for item in methods if not isinstance(item, str) or _method_error(problem, item) is None)


def _run_method(task: Task, instance: Instance, problem: AnyProblem, method: str | Heuristic) -> Result | Row:
    try:
        return solve(
            instance,
            method,
            time_limit=task.time_limit,
            rel_gap=task.rel_gap,
            threads=task.threads,
            seed=task.seed,
        )
    except Exception as error:  # one method's fault must not cost the rows of the others
        row = failed_row(instance.name, _reason(error), problem=problem.noun, method=method_label(method))
        return replace(row, unit=problem.unit)


def _reason(error: Exception) -> str:
    text = (str(error).splitlines() or [""])[0]
    return text if isinstance(error, GangoptError) and text else error_line(error)
