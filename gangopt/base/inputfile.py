"""Reading of regular files and inherited pipes up to a size limit; all readers use it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from gangopt.base.errors import InputError, shorten

__all__ = ["MAX_FILE_BYTES", "MAX_PIPE_BYTES", "read_file", "refuse_pointer"]

MAX_FILE_BYTES = 512 * 1024 * 1024
"""Default limit on the size of a file, in bytes."""

MAX_PIPE_BYTES = 512 * 1024 * 1024
"""Limit on the bytes read from a pipe, whose size is not known beforehand."""

_CHUNK_BYTES = 2**20

_INHERITED = re.compile(r"/dev/stdin|/dev/fd/\d+|/proc/self/fd/\d+")
"""Paths of inherited descriptors; a pipe there has, or had, a writer."""

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)

_LFS = re.compile(rb"version https?://(git-lfs\.github\.com|hawser\.github\.com|git-media\.io)/")
_LFS_BYTES = 1024
"""Upper limit on the size of a Git LFS pointer, by its specification."""


def read_file(path: str | os.PathLike[str], limit: int = MAX_FILE_BYTES) -> bytes:
    """Return the bytes of a regular file or an inherited pipe.

    Pipes are read from `/dev/stdin` and from descriptors such as `/dev/fd/63`, which shells create for `<(command)`.
    Named pipes, devices, sockets and directories are refused before anything is read, since reading them could block.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    limit : int, optional
        Largest size in bytes; for pipes at most `MAX_PIPE_BYTES`.

    Raises
    ------
    InputError
        If the file is missing, not regular, unreadable, too large, or a Git LFS pointer instead of the data.
    """
    file = Path(path)
    name = shorten(str(file))
    try:
        _refuse_irregular(file, name, file.stat())
        # non-blocking, in case the file has become a pipe since then
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as stream:
            found = os.fstat(stream.fileno())
            _refuse_irregular(file, name, found)
            if stat.S_ISFIFO(found.st_mode):
                os.set_blocking(stream.fileno(), True)
                limit = min(limit, MAX_PIPE_BYTES)
            elif found.st_size > limit:
                raise InputError(f"{name}: {found.st_size:,} bytes exceed the limit of {limit:,}")
            data = stream.read(found.st_size) if found.st_size else _to_the_end(stream, limit)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: cannot be read ({reason})") from None
    if len(data) > limit:
        raise InputError(f"{name}: exceeds the limit of {limit:,} bytes")
    refuse_pointer(data, name)
    return data


def refuse_pointer(data: bytes, name: str) -> None:
    """Refuse a Git LFS pointer in place of the data.

    Parameters
    ----------
    data : bytes
        Content of the file, unpacked.
    name : str
        Name of the file in messages.

    Raises
    ------
    InputError
        If the content is a pointer.
    """
    if len(data) < _LFS_BYTES and _LFS.match(data):
        raise InputError(f"{name} is a Git LFS pointer, not the data; fetch it with git lfs pull")


def _refuse_irregular(file: Path, name: str, found: os.stat_result) -> None:
    mode = found.st_mode
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and _INHERITED.fullmatch(str(file))):
        return
    kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "neither a file nor a pipe")
    wanted = "a file" if stat.S_ISDIR(mode) else "a regular file or a pipe such as /dev/stdin"
    raise InputError(f"{name} must be {wanted} (is {kind})")


def _to_the_end(stream: BinaryIO, limit: int) -> bytes:
    """Read a stream of unknown size, up to one byte more than the limit."""
    parts, left = [], limit + 1
    while left and (part := stream.read(min(left, _CHUNK_BYTES))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
