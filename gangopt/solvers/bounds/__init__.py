"""Proven lower bounds on the mean completion time of any scheduler of rigid gangs, rounded down."""

from gangopt.solvers.bounds.jct import BOUNDS, JctBound, jct_bound, workload_jct_bound
from gangopt.solvers.bounds.machines import usable_gpus

__all__ = ["BOUNDS", "JctBound", "jct_bound", "usable_gpus", "workload_jct_bound"]
