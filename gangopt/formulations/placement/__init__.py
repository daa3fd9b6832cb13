"""Formulations of `placement`: the number of tasks of each job on each server.

`tasks` counts tasks for every server and job, `pieces` has a binary for every piece of a job on every server, and
`levels` counts pieces on classes of equal servers.
"""

from gangopt.formulations.placement._levels import Levels, chosen_pieces, levels
from gangopt.formulations.placement._pieces import Pieces, pieces
from gangopt.formulations.placement._tasks import Tasks, tasks

__all__ = ["Levels", "Pieces", "Tasks", "chosen_pieces", "levels", "pieces", "tasks"]
