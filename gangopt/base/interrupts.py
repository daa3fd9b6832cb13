"""Handling of Ctrl-C: an interrupted computation is never reported as complete, even if a library swallows it."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any, Protocol, TypeVar

__all__ = ["count", "is_ours", "listen", "note", "on_ctrl_c", "reset", "unless_interrupted"]

_AGAIN_AFTER = 0.02
"""Seconds after which a postponed interrupt is sent again."""

_seen = 0


class _Ended(Protocol):
    @property
    def termination(self) -> str: ...


_Answer = TypeVar("_Answer", bound=_Ended)


def unless_interrupted(answer: _Answer) -> _Answer:
    """Return the answer of an inner solve, or raise KeyboardInterrupt if Ctrl-C cut it short.

    Every solve inside another computation uses this function: only the outermost one reports its incumbent as
    `interrupted`.

    Parameters
    ----------
    answer : _Answer
        Object with a termination: a Result, an Outcome or a SolverOutcome.

    Raises
    ------
    KeyboardInterrupt
        If the termination is `interrupted`.
    """
    if answer.termination == "interrupted":
        raise KeyboardInterrupt
    return answer


def count() -> int:
    """Return the number of interrupts that were counted."""
    return _seen


def note() -> None:
    """Count an interrupt."""
    global _seen  # noqa: PLW0603 - signals are global to a process
    _seen += 1


def reset() -> None:
    """Reset the count to 0, e.g. at the start of a command."""
    global _seen  # noqa: PLW0603
    _seen = 0


def on_ctrl_c(_number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or postpone it during an import, since partially imported libraries fail in odd ways.

    Parameters
    ----------
    frame : FrameType or None
        Current frame of the main thread.
    """
    note()
    if _importing(frame):
        _send_again()
    else:
        raise KeyboardInterrupt


def listen() -> None:
    """Install the handler of the command line; it resends interrupts that finalisers or callbacks swallow."""
    signal.signal(signal.SIGINT, on_ctrl_c)
    sys.unraisablehook = _unraisable


def is_ours(handler: Any) -> bool:
    """Return whether a handler is Python's default or that of the command line, not one of the user."""
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
        # a signal sent to the main thread itself also ends a wait of that thread
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        _send_again()
    else:
        sys.__unraisablehook__(unraisable)
