"""Formulations of `placement`: which server holds which tasks of each job.

`tasks` counts tasks for every server and job, `pieces` has a binary for every piece of a job on every server, and
`levels` the pieces on classes of equal servers.
"""

from gangopt.formulations.placement.forms import levels, pieces, tasks

__all__ = ["levels", "pieces", "tasks"]
