"""Formulations of `interval`: allocation and placement for one scheduling interval, jointly.

`joint` has what every server holds of every job, `classes` the same on classes of equal servers.
"""

from gangopt.formulations.interval.forms import classes, joint

__all__ = ["classes", "joint"]
