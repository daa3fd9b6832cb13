"""The command line: results on stdout, progress and errors on stderr, exit 0, 1 (no solution) or 2 (bad input).

Imports are deferred to their first use, so that Ctrl-C during start-up already ends in one line.
"""

import sys

__all__ = ["main", "run"]


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : list of str
        Arguments after `gangopt`.

    Returns
    -------
    int
        0 on success, 1 when there is no solution, 2 on bad input, 130 after Ctrl-C.
    """
    try:
        from gangopt.cli.running import run_command

        return run_command(arguments)
    except KeyboardInterrupt:
        return _interrupted()


def main() -> None:
    """Run the command `gangopt` and exit."""
    try:
        from gangopt.base.interrupts import listen

        listen()
        code = run(sys.argv[1:])
        _ignore_ctrl_c()
    except KeyboardInterrupt:
        code = _interrupted()
        _ignore_ctrl_c()
    if code == 130:
        _leave(code)
    sys.exit(code)


def _interrupted() -> int:
    sys.stderr.write("gangopt: interrupted\n")
    return 130


def _leave(code: int) -> None:
    """Exit without Python's own shutdown, which would re-raise the SIGINT of some earlier interrupts."""
    import os

    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _ignore_ctrl_c() -> None:
    """Ignore Ctrl-C from here on, since the exit code is decided."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
