"""Formulations of `bid`: the split of the GPUs of each offer among the jobs of an app.

`jobs` treats each job on its own, `classes` merges equal jobs of a phase.
"""

from gangopt.formulations.bid._classes import Classes, classes
from gangopt.formulations.bid._jobs import Jobs, jobs

__all__ = ["Classes", "Jobs", "classes", "jobs"]
