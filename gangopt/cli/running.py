"""One command line from its words to its exit code: 0, 1 (no solution), 2 (bad input) or 130 (Ctrl-C)."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import warnings
from collections.abc import Callable
from typing import TextIO

import typer

from gangopt.base import interrupts
from gangopt.base.errors import GangoptError, InputError, shorten
from gangopt.base.plugins import PluginWarning
from gangopt.cli.commands import app
from gangopt.cli.output import INTERRUPTED

__all__ = ["run_command"]


LONGEST_LINE = 1000
"""Characters of an error line; what is longer loses its middle."""

_ENDINGS: tuple[tuple[type[BaseException], int, str | None], ...] = (
    (InputError, 2, None),
    (GangoptError, 1, None),
    (MemoryError, 2, "not enough memory for this instance"),
    (KeyboardInterrupt, INTERRUPTED, "interrupted"),
    (typer.Abort, INTERRUPTED, "interrupted"),
)
"""Kind of error, exit code, and the line to print instead of the error's own."""

_UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""What writing to a standard output says that cannot take any more."""


def run_command(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : list of str
        What stands behind `gangopt`; nothing asks for the help.

    Returns
    -------
    int
        0 on success, 1 when there is no solution, 2 on bad input, 130 after Ctrl-C.
    """
    _print_what_the_terminal_can()
    interrupts.reset()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning(warnings.showwarning)
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        code = app(arguments or ["--help"], standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # typer turns the first into the second: the reader has enough
        _drop_stdout()
        return 0
    except BaseException as error:
        return _complain(error)
    # typer turns Ctrl-C into this code, older releases into Abort
    return _complain(KeyboardInterrupt()) if code == INTERRUPTED else code if isinstance(code, int) else 0


def _show_warning(otherwise: Callable[..., None]) -> Callable[..., None]:
    """Return a handler that prints a `PluginWarning` as one line and passes on other warnings."""

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: TextIO | str | None
    ) -> None:
        if issubclass(category, PluginWarning):
            _print_line(str(message))
        else:
            otherwise(message, category, filename, lineno, *rest)

    return show


def _print_line(text: str) -> None:
    sys.stderr.write(f"gangopt: {''.join(map(_visible, text))}\n")


def _print_what_the_terminal_can() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _complain(error: BaseException) -> int:
    """Print one line for an expected error and return its exit code; re-raise what nobody expected."""
    if isinstance(error, OSError):
        error = _of_the_system(error)
    if interrupts.count() and not isinstance(error, GangoptError):
        # what was loaded or computed by half when Ctrl-C came fails in ways of its own
        error = KeyboardInterrupt()
    expected = next(((code, text) for kind, code, text in _ENDINGS if isinstance(error, kind)), None)
    if expected is None and not hasattr(error, "format_message"):
        raise error
    code, text = expected or (2, str(error.format_message()))  # type: ignore[attr-defined]
    line = shorten(text or str(error), LONGEST_LINE) or type(error).__name__
    _print_line(line)
    return code


def _of_the_system(error: OSError) -> Exception:
    """Return the error for what the system refuses: a file, or to take any more on stdout."""
    if error.filename is not None:
        return InputError(f"{shorten(str(error.filename))}: {error.strerror}")
    if error.errno not in _UNWRITTEN:
        return error
    _drop_stdout()
    return InputError(f"standard output: cannot be written ({error.strerror})")


def _visible(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def _drop_stdout() -> None:
    """Send the rest of the output nowhere, so that Python does not fail on it once more when it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
