"""Formulations of `schedule`: which gangs run when.

`event` has the lengths of the sets that run between arrivals and completions, `slotted` a binary for every job and
slot.
"""

from gangopt.formulations.schedule._event import Event, event
from gangopt.formulations.schedule._slotted import Slotted, slotted, slotted_columns

__all__ = ["Event", "Slotted", "event", "slotted", "slotted_columns"]
