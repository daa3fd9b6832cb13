"""Strict JSON with one-line messages, and atomic writing of files."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
import stat
from pathlib import Path
from typing import Any, Literal

from gangopt.base.errors import InputError, shorten, shown
from gangopt.base.inputfile import read_file

__all__ = ["dump_json", "file_kind", "parse_json", "read_json", "read_text", "write_bytes", "write_json", "write_text"]

FileKind = Literal["absent", "directory", "file", "stream"]


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a UTF-8 file.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    str
        The whole text, without a byte-order mark.

    Raises
    ------
    InputError
        If the file is missing, not regular, unreadable, larger than 512 MiB or not UTF-8.
    """
    data = read_file(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{shorten(os.fspath(path))}: not UTF-8 text (byte {error.start})") from None


def parse_json(text: str, origin: str) -> Any:
    """Parse strict JSON without NaN, infinity, duplicate keys or numbers beyond double precision.

    Parameters
    ----------
    text : str
        The JSON text.
    origin : str
        Name of the text in messages, e.g. of its file.

    Returns
    -------
    object
        Dict, list, str, int, float, bool or None.

    Raises
    ------
    InputError
        If the text is not strict JSON; the message gives the first defect.
    """

    def refuse_constant(token: str) -> float:
        raise InputError(f"{origin}: {token} is not valid JSON")

    def finite(token: str) -> float:
        value = float(token)
        if not math.isfinite(value):
            raise InputError(f"{origin}: {shorten(token)} exceeds the range of a double (about 1.8e308)")
        return value

    def whole(token: str) -> int:
        if len(token) > 300:
            raise InputError(f"{origin}: an integer of {len(token)} digits; at most 300 are allowed")
        return int(token)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in pairs:
            if key in result:
                raise InputError(f"{origin}: duplicate key {shown(key)} ({shown(result[key])} and {shown(value)})")
            result[key] = value
        return result

    try:
        return json.loads(
            text,
            parse_constant=refuse_constant,
            parse_float=finite,
            parse_int=whole,
            object_pairs_hook=unique,
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"{origin}: not JSON, or cut off (line {error.lineno}, column {error.colno}: {error.msg})"
        ) from None
    except RecursionError:
        raise InputError(f"{origin}: nested too deeply") from None


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a strict JSON file.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    object
        The parsed value.

    Raises
    ------
    InputError
        If the file cannot be read or is not strict JSON; the message names the file.
    """
    return parse_json(read_text(path), str(path))


def dump_json(value: object) -> str:
    """Return strict JSON text with a final newline; lists of scalars are on one line.

    Parameters
    ----------
    value : object
        Dict, list, str, int, float, bool or None, nested.

    Returns
    -------
    str
        The text.

    Raises
    ------
    InputError
        If a number is NaN or infinite.
    """
    try:
        return _layout(value, "") + "\n"
    except ValueError as error:
        raise InputError(f"cannot be written as JSON: {error}") from None


def _layout(value: object, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        body = (f"{inner}{json.dumps(key)}: {_layout(item, inner)}" for key, item in value.items())
        return "{\n" + ",\n".join(body) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(item, dict | list | tuple) for item in value):
        flat = json.dumps(value, allow_nan=False, ensure_ascii=False)
        if len(flat) + len(indent) <= 100:
            return flat
        return "[\n" + ",\n".join(inner + _layout(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def file_kind(path: str | os.PathLike[str]) -> FileKind:
    """Return the kind of file at a path; an invalid path is `absent`.

    Parameters
    ----------
    path : str or path-like
        Path of the file.

    Returns
    -------
    str
        `absent`, `directory`, `file` (a regular one), or `stream`: a device, a pipe, or a file to which stdout or
        stderr is redirected.
    """
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return "absent"
    if stat.S_ISDIR(found.st_mode):
        return "directory"
    is_open = any(_is_open_as(descriptor, found) for descriptor in (1, 2))
    return "file" if stat.S_ISREG(found.st_mode) and not is_open else "stream"


def _is_open_as(descriptor: int, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), found)
    except OSError:
        return False


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically, by renaming a temporary file in the same directory.

    Symbolic links are followed and existing files keep their permissions. The bytes are appended to streams such as
    `/dev/stdout`.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    content : bytes
        Content of the file.

    Raises
    ------
    InputError
        If the target is a directory or cannot be written; no partial file is left behind.
    """
    file = Path(path)
    name = shorten(str(file))
    kind = file_kind(file)
    if kind == "directory":
        raise InputError(f"{name} must be a file (is a directory)")
    try:
        if kind == "stream":
            with file.open("ab") as stream:
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(file)), content)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: cannot be written ({reason})") from None


def _replace(file: Path, content: bytes) -> None:
    mode = None
    if file_kind(file) == "file":
        if not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission")
        mode = stat.S_IMODE(file.stat().st_mode)
    temporary = file.with_name(f".{file.name[:40]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(file)
    except BaseException:
        with contextlib.suppress(OSError, ValueError):
            temporary.unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text atomically; see `write_bytes`.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    text : str
        Content of the file.
    """
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | os.PathLike[str], value: object) -> None:
    """Write strict JSON atomically; see `dump_json` and `write_bytes`.

    Parameters
    ----------
    path : str or path-like
        Path of the file.
    value : object
        Dict, list, str, int, float, bool or None, nested.
    """
    write_text(path, dump_json(value))
