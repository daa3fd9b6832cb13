"""Formulations of `threshold`: a rule that separates jobs that suffer when spread from the others.

`cut` chooses a cut of one feature, `linear` a weighted sum of several and its threshold.
"""

from gangopt.formulations.threshold._cut import Cut, cut
from gangopt.formulations.threshold._linear import Linear, linear

__all__ = ["Cut", "Linear", "cut", "linear"]
