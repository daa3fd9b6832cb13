"""Formulations of `fair_share`: the allocation with the least largest finish-time fairness.

`places` has a binary for each bundle in each place, `patterns` cuts equal machines of a rack by patterns. Modules
`certificates` and `drf` contain the models for certificates of an allocation.
"""

from gangopt.formulations.fair_share._patterns import Patterns, patterns
from gangopt.formulations.fair_share._places import Places, places

__all__ = ["Patterns", "Places", "patterns", "places"]
