"""Lock between processes: a file next to the locked one, which records its holder and is released with that process."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from gangopt.base.errors import InputError, shorten

__all__ = ["locked"]

_UNSUPPORTED = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP}
"""Errors of file systems without locks, e.g. of some shared ones; these are used without a lock."""

_FAR = 2**40
"""Offset of the locked byte on systems where other processes cannot read locked bytes."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a path in a file named `<path>.lock`, which is removed on release.

    Parameters
    ----------
    path : Path
        Path to reserve for this process.

    Raises
    ------
    InputError
        If another process holds the lock (the message says which one, on which host and since when), or the lock file
        cannot be written or has other content.
    """
    file = path.with_name(f"{path.name}.lock")
    stream = _taken(path, file)
    try:
        yield
    finally:
        # removed while it is held: a process that has opened it meanwhile notices that it is gone and creates its own
        with stream, suppress(OSError):
            file.unlink(missing_ok=True)


def _taken(path: Path, file: Path) -> IO[bytes]:
    """Return the lock file, open and locked, with this process as its holder."""
    while True:
        try:
            stream = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b")
            try:
                if _take(path, file, stream):
                    return stream
            except BaseException:
                stream.close()
                raise
            stream.close()
        except InputError:
            raise
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise InputError(f"{shorten(str(file))}: cannot be written ({reason})") from None


def _take(path: Path, file: Path, stream: IO[bytes]) -> bool:
    """Lock an open lock file and record the holder; return False if the file was removed before it was locked."""
    free = _try_lock(stream)
    content = stream.read()
    holder = _holder(content)
    if not free:
        raise InputError(f"{shorten(str(path))}: in use by {holder or 'another process'}")
    if not file.exists() or not os.path.samestat(file.stat(), os.fstat(stream.fileno())):
        return False
    if content and holder is None:
        raise InputError(f"{shorten(str(file))}: not a lock file; remove it or choose another output")
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    stream.seek(0)
    stream.truncate()
    stream.write(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode())
    stream.flush()
    return True


def _holder(content: bytes) -> str | None:
    try:
        record = json.loads(content)
        return f"process {record['pid']} on {record['host']} since {record['since']}"
    except (ValueError, KeyError, TypeError):
        return None


def _try_lock(stream: IO[bytes]) -> bool:
    try:
        _lock(stream)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


if sys.platform == "win32":
    import msvcrt

    def _lock(stream: IO[bytes]) -> None:
        stream.seek(_FAR)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        finally:
            stream.seek(0)

else:
    import fcntl

    def _lock(stream: IO[bytes]) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
