"""Lower bounds on mean completion times: what no scheduler of rigid gangs can beat, proven and rounded down."""

from gangopt.solvers.bounds.jct import BOUNDS, JctBound, jct_bound, workload_jct_bound
from gangopt.solvers.bounds.machines import usable_gpus

__all__ = ["BOUNDS", "JctBound", "jct_bound", "usable_gpus", "workload_jct_bound"]
