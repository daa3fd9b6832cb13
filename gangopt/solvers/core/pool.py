"""Worker processes whose death costs only a retry of the task they had."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

__all__ = ["Lost", "run_in_processes"]

_MOST_FAILED_STARTS = 3
"""Maximum consecutive workers that may end before they are ready."""
_GRACE = 10.0
"""Seconds granted to a worker to end by itself."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Lost:
    """A task without a result.

    Attributes
    ----------
    reason : str
        One line with the cause.
    """

    reason: str


def run_in_processes(function: Callable[[T], R], tasks: Sequence[T], workers: int) -> Generator[tuple[int, R | Lost]]:
    """Run a function on tasks in worker processes.

    A task whose worker dies is retried once, alone, after all others are done. Workers end when this process does,
    however it ends, and immediately when the iterator is closed. Ctrl-C does not reach them.

    Parameters
    ----------
    function : callable
        Runs one task; the function, the tasks and the results must be picklable.
    tasks : sequence of T
        The tasks.
    workers : int
        Number of processes.

    Yields
    ------
    tuple
        The index of a task and its result, in order of completion; `Lost` where there is none.
    """
    crew = _Crew(function, tasks)
    try:
        yield from crew.answers(workers)
    except BaseException:
        crew.stop()
        raise
    crew.dismiss()


class _Worker:
    """A process, the connection to it, and its current task.

    Attributes
    ----------
    ready : object
        Whether it has reported that it is waiting for tasks.
    task : int or None
        Index of its current task, or None.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), name="gangopt-worker")
        self.process.start()
        theirs.close()
        self.ready = False
        self.task: int | None = None

    def how_it_ended(self) -> str:
        self.process.join(_GRACE)
        code = self.process.exitcode
        if code is not None and code < 0:
            with suppress(ValueError):
                return f"killed by {signal.Signals(-code).name}"
        return f"exit code {code}"


class _Crew:
    """The workers, the waiting tasks, and those to be retried."""

    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        self._function, self._tasks = function, tasks
        self._waiting = deque(range(len(tasks)))
        self._again: deque[int] = deque()
        self._deaths: dict[int, str] = {}
        self._workers: list[_Worker] = []
        self._failed_starts = 0

    def answers(self, workers: int) -> Iterator[tuple[int, Any]]:
        while (left := len(self._waiting) + len(self._again) + self._busy()) and self._can_start():
            while len(self._workers) < min(workers, left):
                with _ctrl_c_held_back():
                    self._workers.append(_Worker())
            by_connection: dict[Any, _Worker] = {worker.connection: worker for worker in self._workers}
            for connection in wait(list(by_connection)):
                yield from self._heard(by_connection[connection])
            for worker in self._workers:
                if worker.ready and worker.task is None:
                    yield from self._give(worker)
        reason = "worker processes end before they can take a task; a script that starts them needs "
        for index in [*self._waiting, *self._again]:
            yield index, Lost(reason + "`if __name__ == '__main__':` around the call")

    def stop(self) -> None:
        """End all workers at once."""
        for worker in self._workers:
            worker.process.terminate()
        self.dismiss()

    def dismiss(self) -> None:
        """Let the idle workers end."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            worker.process.join(_GRACE)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()

    def _busy(self) -> int:
        return sum(worker.task is not None for worker in self._workers)

    def _can_start(self) -> bool:
        return self._failed_starts < _MOST_FAILED_STARTS or any(worker.ready for worker in self._workers)

    def _heard(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        try:
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            yield from self._died(worker)
            return
        if not worker.ready:
            worker.ready, self._failed_starts = True, 0
            return
        index, worker.task = worker.task, None
        assert index is not None
        try:
            answer = pickle.loads(message)
        except Exception as error:
            answer = _failure(error)
        yield index, answer

    def _died(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        self._workers.remove(worker)
        worker.connection.close()
        how, index = worker.how_it_ended(), worker.task
        if index is None:
            self._failed_starts += not worker.ready
        elif index not in self._deaths:
            self._deaths[index] = how
            self._again.append(index)
        else:
            first = self._deaths[index]
            both = how if how == first else f"{first}, then {how}"
            yield index, Lost(f"its worker process ended without a result, also when retried ({both})")

    def _give(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        """Give an idle worker the next task; tasks that cannot be sent are lost."""
        while self._waiting or (self._again and not self._busy()):
            index = self._waiting.popleft() if self._waiting else self._again.popleft()
            try:
                message = pickle.dumps((self._function, self._tasks[index]))
            except Exception as error:
                yield index, _failure(error)
                continue
            worker.task = index
            with suppress(OSError):  # a worker that is already dead is noticed when its result is awaited
                worker.connection.send_bytes(message)
            return


def _failure(error: Exception) -> Lost:
    return Lost(f"its executor failed ({type(error).__name__}: {(str(error).splitlines() or [''])[0]})")


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Hold Ctrl-C back while this process starts another one, which inherits the mask and never sees it.

    The mask covers this thread alone. A thread of a library may receive the signal instead, and the handler would then
    interrupt the start after the new process exists and before its data is sent: it only notes the signal until then.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it changes the mask itself when it starts, so start it first
    with _ctrl_c_noted():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _ctrl_c_noted() -> Iterator[None]:
    """Replace the handler of Ctrl-C, and send again afterwards what came in the meantime."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # only the main thread runs handlers
        return
    noted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if noted:
            signal.raise_signal(signal.SIGINT)


def _serve(connection: Connection) -> None:
    """Run tasks until the other side is gone; the main function of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        connection.send_bytes(b"ready")
        while True:
            connection.send_bytes(_answer(connection.recv_bytes()))


def _answer(message: bytes) -> bytes:
    try:
        function, task = pickle.loads(message)
        return pickle.dumps(function(task))
    except Exception as error:  # also covers tasks or results that cannot be pickled
        return pickle.dumps(_failure(error))


def _end_with_parent() -> None:
    """End this process when its parent ends, whatever the main thread is doing."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
