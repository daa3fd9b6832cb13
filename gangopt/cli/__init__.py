"""The command line: results on stdout, progress and errors on stderr, exit 0, 1 (no solution) or 2 (bad input).

Nothing is imported here before it is used, so that Ctrl-C ends in one line from the first moment on.
"""

import sys

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
    try:
        from gangopt.cli.running import run_command

        return run_command(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("gangopt: interrupted\n")
        return 130


def main() -> None:
    """Entry point of the command `gangopt`."""
    sys.exit(run(sys.argv[1:]))
