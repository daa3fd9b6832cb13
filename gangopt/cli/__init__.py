"""The command line: results on stdout, progress and errors on stderr, exit 0, 1 (no solution) or 2 (bad input)."""

from gangopt.cli.commands import app
from gangopt.cli.running import main, run

__all__ = ["app", "main", "run"]
