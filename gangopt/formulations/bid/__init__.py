"""Formulations of `bid`: how an app splits the GPUs of every offer among its jobs.

`jobs` has each job apart, `classes` merges the equal jobs of a phase.
"""

from gangopt.formulations.bid._classes import Classes, classes
from gangopt.formulations.bid._jobs import Jobs, jobs

__all__ = ["Classes", "Jobs", "classes", "jobs"]
