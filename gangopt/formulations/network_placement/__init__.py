"""Formulations of `network_placement`: where the workers and parameter servers of one job go.

`level` is a packing between two levels, which `set_levels` moves; `literal` is the published program made linear.
"""

from gangopt.formulations.network_placement._level import Level, level, set_levels
from gangopt.formulations.network_placement._literal import Literal, literal

__all__ = ["Level", "Literal", "level", "literal", "set_levels"]
