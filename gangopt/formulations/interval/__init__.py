"""Formulations of `interval`: the tasks of each job and the server of each task, in one model.

`joint` has a binary for every piece of a job on every server; `classes` merges equal servers, so its optimum is a
bound.
"""

from gangopt.formulations.interval._classes import Classes, classes, count_pieces
from gangopt.formulations.interval._joint import Joint, count_columns, joint

__all__ = ["Classes", "Joint", "classes", "count_columns", "count_pieces", "joint"]
