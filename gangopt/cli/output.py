"""Output of commands: stdout, files, and checks before anything is computed."""

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
"""Exit code after Ctrl-C, as in shells."""


def require_whole(*, interrupted: bool = False) -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and the output would not say so.

    Parameters
    ----------
    interrupted : bool, optional
        Whether the output says that it is partial.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C was pressed and the output is not marked as partial.
    """
    if interrupts.count() and not interrupted:
        raise KeyboardInterrupt


def partial_path(output: Path) -> Path:
    """Return the file for the partial output of an interrupted command, so that a complete one is not overwritten.

    Parameters
    ----------
    output : Path
        Output file of the command.

    Returns
    -------
    Path
        E.g. `rows.partial.csv` for `rows.csv`; a device or pipe is returned as it is.
    """
    if file_kind(output) == "stream":
        return output
    return output.with_name(f"{output.stem}.partial{output.suffix}")


def write_output(output: Path, write: Callable[[Path], None], *, interrupted: bool) -> None:
    """Write the output of a command, or its partial output to another file, which is reported on stderr.

    Parameters
    ----------
    output : Path
        Output file of the command.
    write : callable
        Function that writes to a given path.
    interrupted : bool
        Whether the output is partial.
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
    """Check that an output file can be written, before anything is computed.

    Parameters
    ----------
    output : Path or None
        Output file, None for no output.
    suffix : str or None, optional
        The only accepted suffix, None for any.
    inputs : iterable of str, Path or None, optional
        Names and files that the command reads; none of these files may be overwritten.

    Raises
    ------
    InputError
        If the file cannot be written or is also an input.
    """
    if output is None:
        return
    name = shorten(str(output))
    if suffix is not None:
        check_suffix(output, (suffix,))
    kind, parent = file_kind(output), output.parent
    if kind == "directory":
        raise InputError(f"{name} must be a file (is a directory)")
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
            raise InputError(f"{shorten(str(mine))}: is also an input of this command; choose another output file")


def _check_name(output: Path, name: str) -> None:
    """Check that the file system accepts a name."""
    try:
        output.lstat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name}: cannot be written ({reason})") from None


def _files_of(item: str | Path) -> list[Path]:
    """Return the files that are read for an instance: the item itself, or files in its arguments."""
    words = [str(item)]
    if isinstance(item, str) and "?" in item:
        words += split_name(item)[1].values()
    return [Path(word) for word in words if file_kind(word) == "file"]
