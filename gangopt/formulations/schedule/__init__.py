"""Formulations of `schedule`: the running times of gangs.

`event` has the running time of each set of gangs between arrivals and completions, `slotted` a binary for each job and
slot.
"""

from gangopt.formulations.schedule._event import Event, event
from gangopt.formulations.schedule._slotted import Slotted, slotted, slotted_columns

__all__ = ["Event", "Slotted", "event", "slotted", "slotted_columns"]
