"""What commands print, and the files they are asked to write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from gangopt.base import interrupts
from gangopt.base.arguments import split_name
from gangopt.base.errors import InputError, shorten
from gangopt.base.jsonfile import file_kind
from gangopt.base.suffixes import check_suffix

__all__ = ["INTERRUPTED", "check_output", "partial_path", "print_json", "require_whole", "write_output"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def require_whole(*, interrupted: bool = False) -> None:
    """End the command where Ctrl-C came and what it is about to print does not say so.

    Parameters
    ----------
    interrupted : bool, optional
        Whether it does.

    Raises
    ------
    KeyboardInterrupt
        If it does not, though Ctrl-C came.
    """
    if interrupts.count() and not interrupted:
        raise KeyboardInterrupt


def partial_path(output: Path) -> Path:
    """Return where the part of an output goes that an interrupted command has: never over a whole one.

    Parameters
    ----------
    output : Path
        File that the command was to write.

    Returns
    -------
    Path
        As `rows.partial.csv` for `rows.csv`; the output itself where it is a device or a pipe.
    """
    if file_kind(output) == "stream":
        return output
    return output.with_name(f"{output.stem}.partial{output.suffix}")


def write_output(output: Path, write: Callable[[Path], None], *, interrupted: bool) -> None:
    """Write an output, or beside it the part that an interrupted command has, which a line on stderr names.

    Parameters
    ----------
    output : Path
        File that the command was to write.
    write : callable
        Writes to the path that it is given.
    interrupted : bool
        Whether only a part is there.
    """
    if not interrupted:
        write(output)
        return
    partial = partial_path(output)
    write(partial)
    if partial != output:
        typer.echo(f"gangopt: the partial result is in {partial}; {output} is unchanged", err=True)


def print_json(value: object) -> None:
    """Print a value as JSON on stdout."""
    from gangopt.base.jsonfile import dump_json

    typer.echo(dump_json(value), nl=False)


def check_output(output: Path | None, suffix: str | None = None, *, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse an output that could not be written, before anything is computed.

    Parameters
    ----------
    output : Path or None
        File to write, None for none.
    suffix : str or None, optional
        The only suffix that is allowed, None for any.
    inputs : iterable of str, Path or None, optional
        Names and files that the command reads; a file of theirs must not be overwritten.

    Raises
    ------
    InputError
        If the file cannot be written, or is read by the same command.
    """
    if output is None:
        return
    name = shorten(str(output))
    if suffix is not None:
        check_suffix(output, (suffix,))
    kind, parent = file_kind(output), output.parent
    if kind == "directory":
        raise InputError(f"{name}: is a directory, cannot be written as a file")
    if file_kind(parent) != "directory":
        raise InputError(f"{name}: cannot be written (no such directory: {shorten(str(parent))})")
    _check_name(output, name)
    if kind == "absent" and not os.access(parent, os.W_OK):
        raise InputError(f"{name}: cannot be written (no permission in {shorten(str(parent))})")
    if kind == "file" and not os.access(output, os.W_OK):
        raise InputError(f"{name}: cannot be written (no permission)")
    written = [file for file in (output, partial_path(output)) if file_kind(file) == "file"]
    read = [file for item in inputs if item is not None for file in _files_of(item)]
    for mine in written:
        if any(file.samefile(mine) for file in read):
            raise InputError(f"{shorten(str(mine))}: is read by the same command; give the output another name")


def _check_name(output: Path, name: str) -> None:
    """Refuse a name that the file system does not take."""
    try:
        output.lstat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: cannot be written ({reason})") from None


def _files_of(item: str | Path) -> list[Path]:
    """Return the files that a command reads for an instance: itself, or those named in its arguments."""
    words = [str(item)]
    if isinstance(item, str) and "?" in item:
        words += split_name(item)[1].values()
    return [Path(word) for word in words if file_kind(word) == "file"]
