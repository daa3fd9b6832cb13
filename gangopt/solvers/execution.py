"""Where the tasks of a comparison run: here, in worker processes, or on a Dask cluster; and their journal."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gangopt import __version__
from gangopt.errors import InputError, SolverUnavailableError
from gangopt.solvers.comparison import Comparison, Row

__all__ = ["Executor", "run_tasks"]


class Executor(Protocol):
    """What is needed of an executor: `submit`, as in `concurrent.futures`."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:  # noqa: ANN401 - any function
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
    journal: Path | None,
    on_rows: Callable[[tuple[Row, ...]], None] | None,
) -> Comparison:
    """Run every task that the journal does not hold yet and return all rows in the order of the tasks.

    Parameters
    ----------
    function : runs one task; must not raise
    tasks : what to run
    executor : `serial`, `processes`, `dask`, None (serial) or an executor object
    workers : worker processes, None for one a core
    scheduler : address of the Dask scheduler
    journal : file to which finished rows are appended, one JSON line a task
    on_rows : called with the rows of each finished task

    Returns
    -------
    Comparison
        Interrupted by Ctrl-C, it holds the rows that were finished.
    """
    done = {} if journal is None else _read_journal(journal, tasks)
    rows: dict[int, tuple[Row, ...]] = dict(done)
    interrupted = False
    with contextlib.ExitStack() as stack:
        pending = [(index, task) for index, task in enumerate(tasks) if index not in done]
        stream = None if journal is None else stack.enter_context(_journal(journal, tasks, done))
        pool = stack.enter_context(_opened(executor, workers, scheduler))
        try:
            for index, finished in _finished(function, pending, pool):
                rows[index] = finished
                interrupted = any(row.status == "interrupted" for row in finished)
                if stream is not None and not interrupted:
                    stream(index, finished)
                if on_rows is not None:
                    on_rows(finished)
                if interrupted:
                    break
        except KeyboardInterrupt:
            interrupted = True
    return Comparison(tuple(row for index in sorted(rows) for row in rows[index]), interrupted)


def _finished(
    function: Callable[[T], tuple[Row, ...]], pending: list[tuple[int, T]], pool: Executor | None
) -> Iterator[tuple[int, tuple[Row, ...]]]:
    if pool is None:
        for index, task in pending:
            yield index, function(task)
        return
    futures = [(index, task, pool.submit(function, task)) for index, task in pending]
    try:
        for index, task, future in futures:
            try:
                yield index, future.result()
            except BrokenExecutor:
                yield index, (_lost(task.label),)
    finally:
        for _, _, future in futures:
            future.cancel()


def _lost(label: str) -> Row:
    reason = "its worker process ended without an answer (out of memory, or killed)"
    return Row(label, "", "", None, None, None, proven=False, seconds=0.0, status="failed", reason=reason)


@contextlib.contextmanager
def _opened(executor: str | Executor | None, workers: int | None, scheduler: str | None) -> Iterator[Executor | None]:
    if workers is not None and not 1 <= workers <= 1024:
        raise InputError(f"workers {workers}: a whole number from 1 to 1024 is needed")
    if scheduler is not None and executor != "dask":
        raise InputError("a scheduler address is for the executor dask")
    if executor is None or executor == "serial":
        yield None
    elif executor == "processes":
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers or os.cpu_count() or 1, mp_context=context) as pool:
            yield pool
    elif executor == "dask":
        with _dask(scheduler) as client:
            yield client
    elif isinstance(executor, str):
        raise InputError(f"unknown executor {executor!r}; known: serial, processes, dask")
    else:
        yield executor


@contextlib.contextmanager
def _dask(scheduler: str | None) -> Iterator[Executor]:
    if scheduler is None:
        raise InputError("executor dask needs the address of a scheduler, as --scheduler tcp://HOST:8786")
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


def _fingerprint(tasks: Sequence[Any]) -> str:
    """Return a digest of everything that decides the rows: the tasks with their settings, and the release."""
    digest = hashlib.sha256(__version__.encode())
    for task in tasks:
        values = {item.name: getattr(task, item.name) for item in dataclasses.fields(task)}
        digest.update(repr({**values, "instance": _identity(values.get("instance"))}).encode())
    return digest.hexdigest()


def _identity(instance: object) -> str:
    if isinstance(instance, str):
        file = Path(instance)
        return instance + (hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "")
    from gangopt.instances.catalogue import to_document

    return json.dumps(to_document(instance), sort_keys=True)  # type: ignore[arg-type]


def _read_journal(path: Path, tasks: Sequence[Any]) -> dict[int, tuple[Row, ...]]:
    """Return the finished rows of an earlier call; a last line that was cut off is left out."""
    if not path.exists():
        return {}
    done: dict[int, tuple[Row, ...]] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
        if lines and json.loads(lines[0])["fingerprint"] != _fingerprint(tasks):
            raise InputError(f"{path}: rows of a comparison with other settings; remove it or write elsewhere")
        for line in lines[1:]:
            record = json.loads(line)
            done[record["task"]] = tuple(Row(**row) for row in record["rows"])
    except json.JSONDecodeError:
        return done
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (KeyError, TypeError, UnicodeDecodeError):
        raise InputError(f"{path}: is no journal of a comparison; remove it or write elsewhere") from None
    return done


@contextlib.contextmanager
def _journal(
    path: Path, tasks: Sequence[Any], done: dict[int, tuple[Row, ...]]
) -> Iterator[Callable[[int, tuple[Row, ...]], None]]:
    try:
        stream = path.open("w", encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{path}: cannot be written ({reason})") from None
    with stream:

        def write(index: int, rows: tuple[Row, ...]) -> None:
            records = [dataclasses.asdict(row) for row in rows]
            stream.write(json.dumps({"task": index, "rows": records}) + "\n")
            stream.flush()

        stream.write(json.dumps({"fingerprint": _fingerprint(tasks)}) + "\n")
        for index, rows in done.items():
            write(index, rows)
        yield write
