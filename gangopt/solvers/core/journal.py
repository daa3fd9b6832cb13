"""Journal of a comparison: a file of finished rows from which a stopped comparison resumes."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gangopt.base.arguments import split_name
from gangopt.base.errors import InputError
from gangopt.base.filelock import locked
from gangopt.base.inputfile import read_file
from gangopt.base.jsonfile import file_kind, write_text
from gangopt.base.version import __version__
from gangopt.solvers.core.row import Row

__all__ = ["Append", "Rows", "discard", "journal"]

MAX_BYTES = 2**32
"""Maximum size of a journal, in bytes."""

Rows = dict[int, tuple[Row, ...]]
"""Finished rows by the index of their task."""

Append = Callable[[int, tuple[Row, ...]], None]
"""Adds the rows of one task."""


@contextlib.contextmanager
def journal(path: Path, tasks: Sequence[Any]) -> Iterator[tuple[Rows, Append]]:
    """Open the journal of a comparison: a new one, or that of an earlier call that was stopped.

    The first line identifies the comparison; every other line holds the rows of a task. Lines are only appended, and a
    truncated last line is dropped. A journal is locked by one process at a time.

    Parameters
    ----------
    path : Path
        The file.
    tasks : sequence of object
        Tasks of the comparison, dataclasses.

    Yields
    ------
    tuple
        The rows read so far, and a function that appends those of another task.

    Raises
    ------
    InputError
        If another process has locked it, or the file belongs to another comparison, is not a journal, or cannot be
        read or written.
    """
    fingerprint = _fingerprint(tasks)
    with locked(path), _continued(path, fingerprint, len(tasks)) as (done, append):
        yield done, append


def discard(path: Path) -> None:
    """Remove a journal that is no longer used, unless another process has locked it.

    Parameters
    ----------
    path : Path
        The file.
    """
    if path.exists():
        with contextlib.suppress(InputError), locked(path):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _continued(path: Path, fingerprint: str, tasks: int) -> Iterator[tuple[Rows, Append]]:
    with _one_line_errors(path):
        content = b"" if file_kind(path) == "absent" else read_file(path, MAX_BYTES)
    whole = content[: content.rfind(b"\n") + 1]
    if content:
        done = _read(path, whole, fingerprint, tasks)
    else:
        write_text(path, json.dumps({"fingerprint": fingerprint}) + "\n")
        done = {}
    with _one_line_errors(path):
        stream = path.open("r+b")
    with stream:
        if content:
            stream.truncate(len(whole))
        stream.seek(0, 2)

        def append(index: int, rows: tuple[Row, ...]) -> None:
            records = [dataclasses.asdict(row) for row in rows]
            with _one_line_errors(path):
                stream.write((json.dumps({"task": index, "rows": records}) + "\n").encode())
                stream.flush()

        yield done, append


@contextlib.contextmanager
def _one_line_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{path}: journal cannot be read or written ({reason})") from None


def _read(path: Path, content: bytes, fingerprint: str, tasks: int) -> Rows:
    foreign = InputError(f"{path}: not a journal of a comparison; remove it or write elsewhere")
    try:
        head, *lines = content.decode("utf-8").split("\n")[:-1]
        found = json.loads(head)["fingerprint"]
    except (ValueError, KeyError, TypeError):
        raise foreign from None
    if found != fingerprint:
        raise InputError(f"{path}: rows of a comparison with other settings or data; remove it or write elsewhere")
    done: Rows = {}
    for number, line in enumerate(lines, start=2):
        try:
            record = json.loads(line)
            index, rows = record["task"], _rows(record["rows"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{path}: line {number} is damaged; remove the file or write elsewhere") from None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < tasks:
            raise InputError(f"{path}: line {number} names task {index}; tasks are 0 to {tasks - 1}")
        done[index] = rows
    return done


def _rows(records: list[dict[str, Any]]) -> tuple[Row, ...]:
    """Return the rows of a task; raise ValueError if there are none."""
    if not records:
        raise ValueError("no rows")
    return tuple(map(_row, records))


def _row(record: dict[str, Any]) -> Row:
    """Return the row of a record; raise TypeError if a field has the wrong type."""
    row = Row(**record)
    numbers = (row.objective, row.best_bound, row.rel_gap, row.seconds, *row.metrics.values())
    texts = (row.instance, row.problem, row.method, row.status, row.unit, row.termination, row.bound_scope)
    if not (
        all(isinstance(value, str) for value in texts)
        and all(isinstance(value, int | float | None) for value in numbers)
        and isinstance(row.seconds, int | float)
        and isinstance(row.proven, bool)
        and isinstance(row.best, bool)
        and isinstance(row.reason, str | None)
    ):
        raise TypeError("a field has the wrong type")
    return row


def _fingerprint(tasks: Sequence[Any]) -> str:
    """Return a digest of everything that determines the rows: the tasks, the files they name, and the release."""
    digest = hashlib.sha256(__version__.encode())
    for task in tasks:
        values = {item.name: getattr(task, item.name) for item in dataclasses.fields(task)}
        digest.update(repr({**values, "instance": _identity(values.get("instance"))}).encode())
    return digest.hexdigest()


def _identity(instance: object) -> str:
    """Return text that changes whenever the instance does."""
    if isinstance(instance, str):
        return "\n".join([instance, *(f"{file} {_digest(file)}" for file in _files(instance))])
    from gangopt.catalogue import to_document

    return json.dumps(to_document(instance), sort_keys=True)  # type: ignore[arg-type]


def _files(name: str) -> list[Path]:
    """Return the files that a name depends on: itself, and files or directories named by its arguments."""
    try:
        values = list(split_name(name)[1].values())
    except InputError:
        values = []
    files: list[Path] = []
    for path in map(Path, [name, *values]):
        with contextlib.suppress(OSError, ValueError):
            files += sorted(path.iterdir()) if path.is_dir() else [path]
    return files


def _digest(file: Path) -> str:
    try:
        if not file.is_file():
            return "no file"
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, ValueError):
        return "unreadable"
