"""Formulations of `network_placement`: the machines of the workers and parameter servers of one job.

`level` is a packing for loads between two bounds, which `set_levels` moves; `literal` is the published program,
linearised.
"""

from gangopt.formulations.network_placement._level import Level, level, set_levels
from gangopt.formulations.network_placement._literal import Literal, literal

__all__ = ["Level", "Literal", "level", "literal", "set_levels"]
