"""Run the tasks of a comparison in this process, in worker processes, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gangopt.base.errors import InputError, SolverUnavailableError
from gangopt.solvers.core.journal import Append, Rows, journal
from gangopt.solvers.core.pool import Lost, run_in_processes
from gangopt.solvers.core.row import Row, failed_row

__all__ = ["Executor", "run_tasks"]


class Executor(Protocol):
    """Interface of an executor: `submit`, as in `concurrent.futures`."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Start a call and return its future."""
        ...


class _Labelled(Protocol):
    @property
    def label(self) -> str: ...


T = TypeVar("T", bound=_Labelled)


def run_tasks(
    function: Callable[[T], tuple[Row, ...]],
    tasks: Sequence[T],
    executor: str | Executor | None,
    *,
    workers: int | None,
    scheduler: str | None,
    journal_path: Path | None,
    on_rows: Callable[[tuple[Row, ...]], None] | None,
) -> tuple[Rows, bool]:
    """Run every task that is not in the journal yet and return the rows by task.

    Parameters
    ----------
    function : callable
        Runs one task; must not raise.
    tasks : sequence of T
        The tasks.
    executor : str, Executor or None
        `serial`, `processes`, `dask`, None (serial) or an executor object.
    workers : int or None
        Worker processes, None for one per core.
    scheduler : str or None
        Address of the Dask scheduler.
    journal_path : Path or None
        File to which finished rows are appended, one JSON line per task.
    on_rows : callable or None
        Called with the rows of each finished task, in the order of the tasks.

    Returns
    -------
    tuple of dict and bool
        Rows by the index of their task, and whether Ctrl-C stopped the run, so that some tasks have none.
    """
    rows: Rows = {}
    append: Append | None = None
    with contextlib.ExitStack() as stack:
        if journal_path is not None:
            rows, append = stack.enter_context(journal(journal_path, tasks))
        pending = [(index, task) for index, task in enumerate(tasks) if index not in rows]
        untold = deque(index for index, _ in pending)
        start = stack.enter_context(_opened(executor, workers, scheduler))
        try:
            answers = stack.enter_context(contextlib.closing(start(function, pending)))
            for index, finished in answers:
                rows[index] = finished
                interrupted = any(row.status == "interrupted" for row in finished)
                # tasks that could not be loaded or lost their worker are tried again by the next call
                if append is not None and not interrupted and all(row.problem for row in finished):
                    append(index, finished)
                while on_rows is not None and untold and untold[0] in rows:
                    on_rows(rows[untold.popleft()])
                if interrupted:
                    return rows, True
        except KeyboardInterrupt:
            return rows, True
    return rows, False


Answers = Generator[tuple[int, tuple[Row, ...]]]
"""Rows by the index of their task, in order of completion."""


def _serial(function: Callable[[T], tuple[Row, ...]], pending: list[tuple[int, T]]) -> Answers:
    for index, task in pending:
        yield index, function(task)


def _through(pool: Executor, function: Callable[[T], tuple[Row, ...]], pending: list[tuple[int, T]]) -> Answers:
    futures = [(index, task, pool.submit(function, task)) for index, task in pending]
    try:
        for index, task, future in futures:
            yield index, _answer(task.label, future)
    finally:
        for _, _, future in futures:
            future.cancel()


def _in_processes(function: Callable[[T], tuple[Row, ...]], pending: list[tuple[int, T]], workers: int) -> Answers:
    for at, answer in run_in_processes(function, [task for _, task in pending], workers):
        index, task = pending[at]
        yield index, (failed_row(task.label, answer.reason),) if isinstance(answer, Lost) else answer


def _answer(label: str, future: Future[Any]) -> tuple[Row, ...]:
    """Return the rows of a task, or one row that says why the executor lost them."""
    try:
        return tuple(future.result())
    except (BrokenExecutor, CancelledError):
        reason = "its worker process ended without a result (out of memory, or killed)"
    except Exception as error:  # a task or rows that cannot be sent must not lose the rows of other tasks
        reason = f"its executor failed ({type(error).__name__}: {(str(error).splitlines() or [''])[0]})"
    return (failed_row(label, reason),)


@contextlib.contextmanager
def _opened(
    executor: str | Executor | None, workers: int | None, scheduler: str | None
) -> Iterator[Callable[[Callable[[T], tuple[Row, ...]], list[tuple[int, T]]], Answers]]:
    """Open an executor as a function of the task's function and the tasks."""
    if workers is not None and not 1 <= workers <= 1024:
        raise InputError(f"workers must be an integer from 1 to 1024 (got {workers})")
    if scheduler is not None and executor != "dask":
        raise InputError("a scheduler address applies only to the executor dask")
    if executor is None or executor == "serial":
        yield _serial
    elif executor == "processes":
        yield partial(_in_processes, workers=workers or os.cpu_count() or 1)
    elif executor == "dask":
        with _dask(scheduler) as client:
            yield partial(_through, client)
    elif hasattr(executor, "submit"):
        yield partial(_through, executor)
    else:
        raise InputError(f"unknown executor {executor!r}; known: serial, processes, dask")


@contextlib.contextmanager
def _dask(scheduler: str | None) -> Iterator[Executor]:
    if scheduler is None:
        raise InputError("executor dask requires the address of a scheduler, e.g. --scheduler tcp://HOST:8786")
    try:
        from distributed import Client
    except ImportError:
        raise SolverUnavailableError("executor dask is not installed; pip install 'gangopt[distributed]'") from None
    try:
        client = Client(scheduler, timeout=10)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"no Dask scheduler at {scheduler} ({type(error).__name__})") from None
    with client:
        yield client.get_executor(pure=False)
