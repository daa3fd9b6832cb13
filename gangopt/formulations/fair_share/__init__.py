"""Formulations of `fair_share`: the allocation whose largest finish-time fairness is least.

`places` has a binary for every bundle in its place, `patterns` cuts the equal machines of a rack by patterns. The
models behind the certificates of an allocation are in `certificates` and `drf`.
"""

from gangopt.formulations.fair_share._patterns import Patterns, patterns
from gangopt.formulations.fair_share._places import Places, places

__all__ = ["Patterns", "Places", "patterns", "places"]
