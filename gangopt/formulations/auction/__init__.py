"""Formulations of `auction`: the GPUs that each app wins.

`nested_flow` has bundles without places, `places` a binary for each bundle in each place, and `bids` is the published
program over sets of GPUs. Each maximises the logarithm of the product of values.
"""

from gangopt.formulations.auction._bids import Bids, bids
from gangopt.formulations.auction._nested_flow import NestedFlow, nested_flow
from gangopt.formulations.auction._places import Places, places

__all__ = ["Bids", "NestedFlow", "Places", "bids", "nested_flow", "places"]
