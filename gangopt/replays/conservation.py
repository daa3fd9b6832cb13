"""Invariants of every replay: no GPU is used twice and no work is lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangopt.base.errors import SolverError
from gangopt.replays.state import State

__all__ = ["check_end", "check_event"]

_WORK_TOLERANCE = 1e-6
"""Tolerance of work done, relative to the larger of 1 s and the work, in addition to the resolution."""


def check_event(state: State, started: Sequence[int], policy: str) -> None:
    """Check that held and free GPUs add up, in total and per machine, and that gangs are complete.

    Parameters
    ----------
    state : State
        State after the event.
    started : sequence of int
        Jobs that started at the event.
    policy : str
        Name of the policy.

    Raises
    ------
    SolverError
        If not; names the policy, the time and the violation.
    """
    running = state.running
    held = int(state.held[running].sum())
    if held + state.n_free != state.n_gpus or state.n_free < 0:
        raise _fault(state, policy, f"{held} GPUs held + {state.n_free} free != {state.n_gpus} GPUs")
    if state.machines is None:
        return
    for job in started:
        if sum(count for _, count in state.place[job]) != state.held[job]:
            raise _fault(state, policy, f"job {state.workload.ids[job]} runs on part of its gang")
    free = state.machines.free
    if (free < 0).any() or int(free.sum()) != state.n_free:
        raise _fault(state, policy, f"{int(free.sum())} free GPUs on machines != {state.n_free} free GPUs in total")


def check_end(state: State, policy: str) -> None:
    """Check that all GPUs are free at the end and that every job did exactly its work.

    Raises
    ------
    SolverError
        If not; names the policy, the time and the violation.
    """
    if state.n_free != state.n_gpus or (
        state.machines is not None and (state.machines.free != state.machines.capacity).any()
    ):
        raise _fault(state, policy, f"{state.n_gpus - state.n_free} GPUs are not free at the end")
    jobs = np.arange(len(state.gpus))
    done = state.work_done(jobs)
    allowed = _WORK_TOLERANCE * np.maximum(1.0, state.duration) + state.work_resolution(jobs)
    wrong = np.abs(done - state.duration) > allowed
    if wrong.any():
        job = int(np.argmax(wrong))
        raise _fault(
            state, policy, f"job {state.workload.ids[job]} did {done[job]} s of work instead of {state.duration[job]} s"
        )


def _fault(state: State, policy: str, text: str) -> SolverError:
    return SolverError(f"replay of {policy} at {state.now:g} s: {text}")
