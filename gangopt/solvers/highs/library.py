"""Access to HiGHS: a silent instance, its version, its options and the enumerations used here."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import highspy

from gangopt.base.errors import InputError

__all__ = ["HIGHS_VERSION", "new_highs", "release_scheduler", "set_options"]

HIGHS_VERSION = f"{highspy.HIGHS_VERSION_MAJOR}.{highspy.HIGHS_VERSION_MINOR}.{highspy.HIGHS_VERSION_PATCH}"

_OWNED = {
    "time_limit": "time_limit",
    "mip_rel_gap": "rel_gap",
    "mip_abs_gap": "abs_gap",
    "threads": "threads",
    "random_seed": "seed",
    "output_flag": "log",
    "log_to_console": "log",
}
"""Options of HiGHS that have a field of SolveSettings; setting them twice would hide one of the two."""

_BANNER = (b"Running HiGHS", b"Includes third-party", b"Copyright (c)")
_STDOUT = 1
_banner_lock = threading.Lock()
_banner_printed = False


def new_highs() -> Any:
    """Return a HiGHS instance that writes nothing to the terminal."""
    highs = _make() if _banner_printed else _first_highs()
    for name in ("output_flag", "log_to_console"):
        highs.setOptionValue(name, False)
    return highs


def _make() -> Any:
    make: Any = highspy.Highs
    return make()


def _first_highs() -> Any:
    """Construct the process's first instance without its banner.

    HiGHS prints two lines in its first constructor, before any option can be set. File descriptor 1 therefore points to
    a temporary file for that moment; output of other threads is copied to the real stdout afterwards.
    """
    global _banner_printed  # noqa: PLW0603 - the banner belongs to the process, as HiGHS's own flag does
    with _banner_lock:
        try:
            real = os.dup(_STDOUT)
        except OSError:
            return _make()
        with tempfile.TemporaryFile() as captured:
            try:
                if sys.stdout is not None and not sys.stdout.closed:
                    sys.stdout.flush()
                os.dup2(captured.fileno(), _STDOUT)
                highs = _make()
            finally:
                os.dup2(real, _STDOUT)
                captured.seek(0)
                others = b"".join(line for line in captured if not line.startswith(_BANNER))
                if others:
                    os.write(real, others)
                os.close(real)
        _banner_printed = True
        return highs


def _new_lock_after_fork() -> None:
    global _banner_lock  # noqa: PLW0603 - a child must not inherit a lock that a thread of its parent holds
    _banner_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock_after_fork)


def release_scheduler() -> None:
    """End the HiGHS worker threads of the calling thread.

    HiGHS keeps one pool of workers for each thread that has run it, with the thread count of the first run. Every
    solve here runs in a thread of its own and ends its pool, so thread counts may change and a later fork is safe.
    """
    reset = getattr(highspy.Highs, "resetThreadScheduler", None) or highspy.Highs.resetGlobalScheduler
    reset(True)


def set_options(highs: Any, options: Mapping[str, object]) -> None:
    """Set options and check the status of each.

    Parameters
    ----------
    highs : object
        HiGHS instance.
    options : mapping of str to object
        Values by HiGHS's own option names.

    Raises
    ------
    InputError
        If HiGHS has no such option or rejects its value.
    """
    for name, value in options.items():
        plain = value.item() if hasattr(value, "item") else value
        if plain is None or highs.setOptionValue(name, plain) != highspy.HighsStatus.kOk:
            raise InputError(f"HiGHS does not accept the option {name}={value!r}{_allowed(highs, name)}")


def refuse_owned(options: Mapping[str, object]) -> None:
    """Reject options with a field of their own in SolveSettings, and a log file that HiGHS could not write.

    Parameters
    ----------
    options : mapping of str to object
        Values by HiGHS's own option names.

    Raises
    ------
    InputError
        The message names the field to use, or the file.
    """
    folder = Path(str(options.get("log_file", ""))).parent
    if not folder.is_dir():
        raise InputError(f"cannot write log_file {str(options['log_file'])!r}: no folder {str(folder)!r}")
    for name in options:
        if name in _OWNED:
            raise InputError(f"give {_OWNED[name]} of SolveSettings instead of the HiGHS option {name}")


def _allowed(highs: Any, name: str) -> str:
    status, current = highs.getOptionValue(name)
    if status != highspy.HighsStatus.kOk:
        return "; it has no such option"
    kind = {bool: "true or false", int: "an integer", float: "a number", str: "a word it knows"}[type(current)]
    shown = "inf" if isinstance(current, float) and math.isinf(current) else repr(current)
    return f"; it takes {kind} in its range, as {shown}"
