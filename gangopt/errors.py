"""Errors that reach a user: each says in one line what is wrong, where, and what is allowed."""

from __future__ import annotations

__all__ = [
    "GangoptError",
    "InfeasibleError",
    "InputError",
    "ModelTooLargeError",
    "NoSolutionError",
    "NonlinearModelError",
    "SolverError",
    "SolverUnavailableError",
]


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
