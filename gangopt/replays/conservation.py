"""What must hold in every replay, whatever the policy: nothing is used twice and nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangopt.base.errors import SolverError
from gangopt.replays.state import State

__all__ = ["check_end", "check_event"]

_WORK_TOLERANCE = 1e-6
"""Work done may differ from work asked by this much times the larger of 1 s and the work, and by the resolution."""


def check_event(state: State, started: Sequence[int], policy: str) -> None:
    """Check that the GPUs held and free add up, on every machine too, and that gangs are whole.

    Parameters
    ----------
    state : State
        After the event.
    started : sequence of int
        Jobs that began to run at it.
    policy : str
        Name of the policy.

    Raises
    ------
    SolverError
        Names the policy, the time and the rule.
    """
    running = state.running
    held = int(state.held[running].sum())
    if held + state.n_free != state.n_gpus or state.n_free < 0:
        raise _fault(state, policy, f"{held} GPUs are held and {state.n_free} free of {state.n_gpus}")
    if state.machines is None:
        return
    for job in started:
        if sum(count for _, count in state.place[job]) != state.held[job]:
            raise _fault(state, policy, f"job {state.workload.ids[job]} runs on a part of its gang")
    free = state.machines.free
    if (free < 0).any() or int(free.sum()) != state.n_free:
        raise _fault(state, policy, f"machines count {int(free.sum())} free GPUs, the cluster {state.n_free}")


def check_end(state: State, policy: str) -> None:
    """Check that all GPUs are free at the end and that every job has done exactly the work it asked for.

    Raises
    ------
    SolverError
        Names the policy, the time and the rule.
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
            state, policy, f"job {state.workload.ids[job]} did {done[job]} s of {state.duration[job]} s of work"
        )


def _fault(state: State, policy: str, text: str) -> SolverError:
    return SolverError(f"replay of {policy} at {state.now:g} s: {text}")
