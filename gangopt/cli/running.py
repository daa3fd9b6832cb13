"""Run a command line and turn its outcome into an exit code: 0, 1 (no solution), 2 (bad input) or 130 (Ctrl-C)."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, TextIO

import typer

from gangopt.base import interrupts
from gangopt.base.arguments import unknown
from gangopt.base.errors import GangoptError, InputError, shorten
from gangopt.base.plugins import PluginWarning
from gangopt.cli.commands import app
from gangopt.cli.output import INTERRUPTED

__all__ = ["run_command"]


LONGEST_LINE = 1000
"""Maximum length of an error line; a longer one loses its middle."""

_ENDINGS: tuple[tuple[type[BaseException], int, str | None], ...] = (
    (InputError, 2, None),
    (GangoptError, 1, None),
    (MemoryError, 2, "not enough memory for this instance"),
    (KeyboardInterrupt, INTERRUPTED, "interrupted"),
    (typer.Abort, INTERRUPTED, "interrupted"),
)
"""Type of error, exit code, and the message that replaces that of the error."""

_UNWRITTEN = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
"""Errors of a full or closed standard output."""


def run_command(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : list of str
        Arguments after `gangopt`; none prints the help.

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
    except (BrokenPipeError, SystemExit):  # the reader has closed the pipe; typer turns the first into the second
        _drop_stdout()
        return 0
    except BaseException as error:
        return _complain(error)
    # typer returns this code after Ctrl-C; older releases raise Abort
    return _complain(KeyboardInterrupt()) if code == INTERRUPTED else code if isinstance(code, int) else 0


def _show_warning(otherwise: Callable[..., None]) -> Callable[..., None]:
    """Return a handler that prints a `PluginWarning` as one line and passes other warnings on."""

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
    """Print one line for an expected error and return its exit code; re-raise any other."""
    if isinstance(error, OSError):
        error = _of_the_system(error)
    if interrupts.count() and not isinstance(error, GangoptError):
        # after Ctrl-C, modules and data that are only half loaded fail with other errors
        error = KeyboardInterrupt()
    expected = next(((code, text) for kind, code, text in _ENDINGS if isinstance(error, kind)), None)
    if expected is None and not hasattr(error, "format_message"):
        raise error
    code, text = expected or (2, _usage_message(error))
    line = shorten(text or str(error), LONGEST_LINE) or type(error).__name__
    _print_line(line)
    return code


def _usage_message(error: Any) -> str:
    """Return the message of typer, or that of `unknown` for an unknown option."""
    if hasattr(error, "possibilities"):
        return str(unknown("option", error.option_name, list(error.possibilities or [])))
    return str(error.format_message())


def _of_the_system(error: OSError) -> Exception:
    """Return the error to report when the system refuses a file or cannot write to stdout."""
    if error.filename is not None:
        return InputError(f"{shorten(str(error.filename))}: {error.strerror}")
    if error.errno not in _UNWRITTEN:
        return error
    _drop_stdout()
    return InputError(f"standard output: cannot be written ({error.strerror})")


def _visible(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def _drop_stdout() -> None:
    """Discard the rest of the output, so that Python does not fail on it again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
