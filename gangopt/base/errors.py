"""Errors for users; each message says in one line what is wrong, where, and what is allowed."""

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
"""Largest number of characters of a value in a message."""

LONGEST_TEXT = 200
"""Largest number of characters of a name or path in a message."""


def shown(value: object) -> str:
    """Return the repr of a value for a message, on one line and abbreviated.

    Parameters
    ----------
    value : object
        Any object.

    Returns
    -------
    str
        At most `LONGEST_SHOWN` characters.
    """
    return shorten(repr(value), LONGEST_SHOWN)


def shorten(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text on one line; if it is too long, its middle becomes `...`.

    Parameters
    ----------
    text : str
        Any text.
    longest : int, optional
        Largest number of characters, at least 10.

    Returns
    -------
    str
        The text, in which every run of white space is one space.
    """
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    tail = longest // 4
    return f"{line[: longest - tail - 3]}...{line[-tail:]}"


_UNPRINTABLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories: control, format, surrogate, line and paragraph separator."""


def unprintable(text: str, *, lines: bool = False) -> str | None:
    r"""Describe the first character of a text that cannot be printed.

    Such characters could move the cursor of a terminal or hide others.

    Parameters
    ----------
    text : str
        A name or a description.
    lines : bool, optional
        Whether line ends and tabs are allowed.

    Returns
    -------
    str or None
        E.g. `character 3 ('\x1b') cannot be printed`; None if every character can be printed.
    """
    if not text.isprintable():
        for index, character in enumerate(text):
            if unicodedata.category(character) in _UNPRINTABLE and not (lines and character in "\n\t"):
                return f"character {index} ({character!a}) cannot be printed"
    return None


class GangoptError(Exception):
    """Base of every error that gangopt raises on purpose."""


class InputError(GangoptError, ValueError):
    """A file, name, field or argument is invalid; the message says which one and what is allowed."""


class ModelTooLargeError(InputError):
    """A model would exceed the limit on columns or bytes; raised before the model is built."""


class NonlinearModelError(InputError):
    """A component of a model is not linear, so a linear solver cannot solve it; the message names the component."""


class SolverUnavailableError(InputError):
    """The requested solver is not installed; the message says how to get it."""


class SolverError(GangoptError):
    """A solver reported an error or returned an answer that the checker rejects."""


class InfeasibleError(GangoptError):
    """The instance provably has no solution; the message says which rule cannot be satisfied and by how much."""


class NoSolutionError(GangoptError):
    """A value was requested from a result without a solution."""
