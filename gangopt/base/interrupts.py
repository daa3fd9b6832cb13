"""Ctrl-C: whatever swallows a KeyboardInterrupt on its way, no answer that it cut short passes for a whole one."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any, Protocol, TypeVar

__all__ = ["count", "is_ours", "listen", "note", "on_ctrl_c", "reset", "unless_interrupted"]

_AGAIN_AFTER = 0.02
"""Seconds after which an interrupt that came at a bad moment is sent once more."""

_seen = 0


class _Ended(Protocol):
    @property
    def termination(self) -> str: ...


_Answer = TypeVar("_Answer", bound=_Ended)


def unless_interrupted(answer: _Answer) -> _Answer:
    """Return the answer of an inner solve, or raise KeyboardInterrupt if Ctrl-C cut it short.

    Every solve inside another computation goes through here: only the outermost one reports its incumbent as
    `interrupted`.

    Parameters
    ----------
    answer : _Answer
        Anything with a termination: a Result, an Outcome or a SolverOutcome.

    Raises
    ------
    KeyboardInterrupt
        If its termination is `interrupted`.
    """
    if answer.termination == "interrupted":
        raise KeyboardInterrupt
    return answer


def count() -> int:
    """Return how often Ctrl-C came, as far as gangopt saw it."""
    return _seen


def note() -> None:
    """Count a Ctrl-C."""
    global _seen  # noqa: PLW0603 - signals are one to a process
    _seen += 1


def reset() -> None:
    """Begin to count anew, as a command line does."""
    global _seen  # noqa: PLW0603
    _seen = 0


def on_ctrl_c(_number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, later if a module is being imported: a library that is loaded by half fails in odd ways.

    Parameters
    ----------
    frame : FrameType or None
        What the main thread runs.
    """
    note()
    if _importing(frame):
        _send_again()
    else:
        raise KeyboardInterrupt


def listen() -> None:
    """Install the handler of the command line, and send again what a finaliser or a callback swallowed."""
    signal.signal(signal.SIGINT, on_ctrl_c)
    sys.unraisablehook = _unraisable


def is_ours(handler: Any) -> bool:
    """Return whether a handler is Python's own or that of the command line, not one of the user."""
    return handler is signal.default_int_handler or handler is on_ctrl_c


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _send_again() -> None:
    timer = threading.Timer(_AGAIN_AFTER, _interrupt_main)
    timer.daemon = True
    timer.start()


def _interrupt_main() -> None:
    if hasattr(signal, "pthread_kill"):
        # sent to the main thread itself, it also ends a wait of that thread
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        _send_again()
    else:
        sys.__unraisablehook__(unraisable)
