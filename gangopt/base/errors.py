"""Errors that reach a user: each says in one line what is wrong, where, and what is allowed."""

from __future__ import annotations

import unicodedata

__all__ = [
    "LONGEST_SHOWN",
    "GangoptError",
    "InfeasibleError",
    "InputError",
    "ModelTooLargeError",
    "NoSolutionError",
    "NonlinearModelError",
    "SolverError",
    "SolverUnavailableError",
    "shorten",
    "shown",
    "unprintable",
]

LONGEST_SHOWN = 60
"""Characters of a value that a message shows."""

LONGEST_TEXT = 200
"""Characters of a name or path that a message shows."""


def shown(value: object) -> str:
    """Return a value as a message shows it: its repr on one line, cut when long.

    Parameters
    ----------
    value : object
        What was given.

    Returns
    -------
    str
        At most `LONGEST_SHOWN` characters.
    """
    return shorten(repr(value), LONGEST_SHOWN)


def shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text on one line, its middle left out when it is long.

    Parameters
    ----------
    text : str
        As it was given.
    longest : int, optional
        Characters that are left, at least 10.

    Returns
    -------
    str
        The text with every run of white space as one space.
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    tail = longest // 4
    return f"{line[: longest - tail - 3]}...{line[-tail:]}"


_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories: control, format, surrogate, line and paragraph separator."""


def unprintable(text: str, *, lines: bool = False) -> str | None:
    r"""Return which character of a text would move the cursor or hide others where it is printed, in words.

    Parameters
    ----------
    text : str
        A name or a description.
    lines : bool, optional
        Whether line ends and tabs are allowed.

    Returns
    -------
    str or None
        As `character 3 ('\x1b') cannot be printed`; None if every character can.
    """
    if not text.isprintable():
        for index, character in enumerate(text):
            if unicodedata.category(character) in _UNPRINTABLE and not (lines and character in "\n\t"):
                return f"character {index} ({character!a}) cannot be printed"
    return None


class GangoptError(Exception):
    """Base of every error that gangopt raises on purpose."""


class InputError(GangoptError, ValueError):
    """A file, name, field or argument is not acceptable; the message names it and says what is allowed."""


class ModelTooLargeError(InputError):
    """A model would need more columns or bytes than the stated limit; raised before it is built."""


class NonlinearModelError(InputError):
    """A component of a model is not linear, so it cannot be given to a linear solver; names the component."""


class SolverUnavailableError(InputError):
    """The requested solver is not installed; the message says how to get it."""


class SolverError(GangoptError):
    """A solver reported an error or returned an answer that the judge rejects."""


class InfeasibleError(GangoptError):
    """The instance provably has no solution; the message says which rule cannot hold and by how much."""


class NoSolutionError(GangoptError):
    """A value was asked of a result that holds no solution."""
