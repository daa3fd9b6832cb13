"""One command line from its words to its exit code: 0, 1 (no solution), 2 (bad input) or 130 (Ctrl-C)."""

from __future__ import annotations

import io
import os
import sys

import typer

from gangopt.cli.commands import app
from gangopt.errors import GangoptError, InputError

__all__ = ["main", "run"]


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : what stands behind `gangopt`

    Returns
    -------
    int
        0 on success, 1 when there is no solution, 2 on bad input, 130 after Ctrl-C.
    """
    if not arguments:
        arguments = ["--help"]
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:
        return _complain(error)
    # typer turns Ctrl-C into this code, older releases into Abort
    return _complain(KeyboardInterrupt()) if code == INTERRUPTED else code if isinstance(code, int) else 0


INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

_ENDINGS: tuple[tuple[type[BaseException], int, str | None], ...] = (
    (InputError, 2, None),
    (GangoptError, 1, None),
    (MemoryError, 2, "not enough memory for this instance"),
    (KeyboardInterrupt, INTERRUPTED, "interrupted"),
    (typer.Abort, INTERRUPTED, "interrupted"),
)
"""Kind of error, exit code, and the line to print instead of the error's own."""


def _complain(error: BaseException) -> int:
    """Print one line for an expected error and return its exit code; re-raise what nobody expected."""
    expected = next(((code, text) for kind, code, text in _ENDINGS if isinstance(error, kind)), None)
    if expected is None and not hasattr(error, "format_message"):
        raise error
    code, text = expected or (2, str(error.format_message()))  # type: ignore[attr-defined]
    line = " ".join((text or str(error)).split()) or type(error).__name__
    sys.stderr.write(f"gangopt: {line}\n")
    return code


def main() -> None:
    """Entry point of the command `gangopt`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))
