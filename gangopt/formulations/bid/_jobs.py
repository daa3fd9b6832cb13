"""Formulation `jobs` of `bid`: each job on its own."""

from __future__ import annotations

from gangopt.formulations.bid.split import SplitFormulation

__all__ = ["Jobs", "jobs"]


class Jobs(SplitFormulation):
    """The split of each phase of each offer, with each job on its own.

    Public components: Var `length` [offer, phase] in s; Var `count` [offer, job, k], 1 if the job has k GPUs; Var
    `queue` [offer, job, q], 1 if it waits for GPU q; Var `gpu_seconds` [offer, job] where GPUs are shared; Expressions
    `rho` [offer] and `objective_value`. Offers, phases, jobs (runs in the instance's order) and queues count from 0.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "jobs"
    merge = False


jobs = Jobs()
