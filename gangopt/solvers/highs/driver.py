"""Run HiGHS in a thread of its own, while the calling thread reports progress and listens for Ctrl-C.

HiGHS calls back from inside the solve, where an exception would be swallowed and a slow callback would hold up the
search. So the callback only notes what changed; the calling thread, which waits, hands it on to the user's functions.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from highspy import cb

from gangopt.base.interrupts import is_ours, note
from gangopt.solvers.highs.library import release_scheduler
from gangopt.solvers.highs.records import Progress, SolveSettings

__all__ = ["Monitor", "run_in_thread"]

T = TypeVar("T")
_Kind = cb.HighsCallbackType
_INTERRUPTS = (_Kind.kCallbackMipInterrupt, _Kind.kCallbackSimplexInterrupt, _Kind.kCallbackIpmInterrupt)
_MIP_INTERRUPT = int(_Kind.kCallbackMipInterrupt)
_IMPROVED = int(_Kind.kCallbackMipImprovingSolution)
_LOGGED = int(_Kind.kCallbackLogging)
_BOUND_INTERVAL = 0.05
"""Minimum seconds between two reports that differ only in the bound."""
_DONE = object()
"""Queue item that wakes the waiting thread when the worker has ended."""


class Monitor:
    """Observe running solves: incumbents, bounds, log lines, and requests to stop.

    Attributes
    ----------
    trajectory : list of tuple of float and float or None
        (seconds, incumbent, bound) at each change, objective in the model's own unit.
    stopped : object
        Set to stop HiGHS at its next callback.
    interrupted : object
        Whether Ctrl-C was the reason.
    trusted : object
        Whether the bounds of HiGHS hold for the original model; if not, none is reported.
    """

    def __init__(self, settings: SolveSettings, maximise: bool, scale: float) -> None:
        self.trajectory: list[tuple[float, float | None, float | None]] = []
        self.stopped = threading.Event()
        self.interrupted = False
        self.trusted = True
        self._settings = settings
        self._sign = -1.0 if maximise else 1.0
        self._scale = scale
        self._started = time.perf_counter()
        self._incumbent = math.inf
        self._bound = -math.inf
        self._reported = -math.inf
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._ended = threading.Event()
        self._failure: BaseException | None = None

    def attach(self, highs: Any, *, report: bool) -> None:
        """Register the callbacks of a HiGHS instance; a sub-solve that does not report can still be stopped."""
        highs.setCallback(self._called if report else self._asked_to_stop, None)
        kinds = (*_INTERRUPTS, _Kind.kCallbackMipImprovingSolution) if report else _INTERRUPTS
        for kind in kinds if self._settings.log is None or not report else (*kinds, _Kind.kCallbackLogging):
            highs.startCallback(kind)

    def seconds(self) -> float:
        """Return the wall seconds since the solve began."""
        return time.perf_counter() - self._started

    def finish(self, incumbent: float | None, bound: float | None) -> None:
        """Add the final incumbent and bound, in the model's own unit, and report them.

        Parameters
        ----------
        incumbent : float or None
            Objective of the returned solution, None without one.
        bound : float or None
            Proven bound, None without one.
        """
        if incumbent is not None or bound is not None:
            last = self.trajectory[-1][1:] if self.trajectory else None
            if last != (incumbent, bound):
                self._note(self.seconds(), incumbent, bound)
        self._hand_on()

    def _called(self, kind: Any, message: str, out: Any, into: Any, _data: Any) -> None:
        code = int(kind)
        if code == _LOGGED:
            self._queue.put(message.rstrip("\n"))
        elif code == _IMPROVED:
            self._improve(self._sign * out.objective_function_value, -math.inf)
        else:
            if code == _MIP_INTERRUPT:
                self._improve(math.inf, self._sign * out.mip_dual_bound)
            self._asked_to_stop(kind, message, out, into, _data)

    def _asked_to_stop(self, _kind: Any, _message: str, _out: Any, into: Any, _data: Any) -> None:
        if self.stopped.is_set():
            into.user_interrupt = True

    def _improve(self, incumbent: float, bound: float) -> None:
        """Record a better incumbent or bound, both in terms of minimisation.

        Sub-solves report their own optimum as the bound, which then equals the incumbent although the search continues.
        A bound that equals the incumbent is therefore reported only at the end of the solve.
        """
        better = incumbent < self._incumbent
        self._incumbent = min(self._incumbent, incumbent)
        believable = self.trusted and self._bound < bound < self._incumbent
        if believable:
            self._bound = bound
        known = min(self._bound, self._incumbent)
        now = self.seconds()
        if better or (believable and now - self._reported >= _BOUND_INTERVAL):
            self._reported = now
            self._note(now, self._in_model_unit(self._incumbent), self._in_model_unit(known))

    def _in_model_unit(self, value: float) -> float | None:
        return self._sign * value / self._scale if math.isfinite(value) else None

    def _note(self, seconds: float, incumbent: float | None, bound: float | None) -> None:
        self.trajectory.append((seconds, incumbent, bound))
        if self._settings.on_progress is not None:
            self._queue.put(Progress(seconds, incumbent, bound))

    def wait(self) -> None:
        """Pass on reports until the worker is done."""
        while not self._ended.is_set():
            try:
                item = self._queue.get(timeout=0.2)
            except Empty:
                continue
            self._report(item)

    def interrupt(self) -> None:
        """Handle Ctrl-C: the first one asks HiGHS to stop, the second one leaves without waiting for it."""
        note()
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        self.stopped.set()

    def begin(self) -> None:
        """Prepare for a new worker; a monitor may watch several, one after another."""
        self._ended.clear()

    def done(self) -> None:
        """Wake the waiting thread when the worker has ended."""
        self._ended.set()
        self._queue.put(_DONE)

    def raise_failure(self) -> None:
        """Raise the exception that a user's function raised during the solve."""
        if self._failure is not None:
            raise self._failure

    def _hand_on(self) -> None:
        while not self._queue.empty():
            self._report(self._queue.get())
        self.raise_failure()

    def _report(self, item: Any) -> None:
        receiver = self._settings.log if isinstance(item, str) else self._settings.on_progress
        if item is _DONE or receiver is None or self._failure is not None:
            return
        try:
            receiver(item)
        except BaseException as error:
            self._failure = error
            self.stopped.set()


def run_in_thread(work: Callable[[], T], monitor: Monitor) -> T:
    """Run a function that calls HiGHS in a new thread and wait for it.

    Parameters
    ----------
    work : callable
        Calls HiGHS.
    monitor : Monitor
        Receives what HiGHS reports.

    Returns
    -------
    object
        The result of `work`; an exception that it raised is raised here.
    """
    answer: list[T] = []
    failure: list[BaseException] = []

    def worker() -> None:
        try:
            answer.append(work())
        except BaseException as error:
            failure.append(error)
        finally:
            release_scheduler()
            monitor.done()

    thread = threading.Thread(target=worker, name="gangopt-highs", daemon=True)
    monitor.begin()
    with _ctrl_c_to(monitor):
        thread.start()
        while thread.is_alive():
            # a signal handler of the user may raise at any instruction, so guard all of the waiting
            try:
                monitor.wait()
                thread.join()
            except KeyboardInterrupt:
                monitor.interrupt()
    monitor.raise_failure()
    if failure:
        raise failure[0]
    return answer[0]


@contextmanager
def _ctrl_c_to(monitor: Monitor) -> Iterator[None]:
    """Route Ctrl-C to the monitor in the main thread; handlers installed by the user are kept."""
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not in_main or not is_ours(before):
        yield
        return
    signal.signal(signal.SIGINT, lambda _number, _frame: monitor.interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
