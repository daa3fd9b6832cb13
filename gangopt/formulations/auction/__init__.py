"""Formulations of `auction`: who wins which GPUs of those on offer.

`nested_flow` has bundles without places, `places` a binary for every bundle in its place, and `bids` is the published
program over sets of GPUs. Each maximises the logarithm of the product of values.
"""

from gangopt.formulations.auction._bids import Bids, bids
from gangopt.formulations.auction._nested_flow import NestedFlow, nested_flow
from gangopt.formulations.auction._places import Places, places

__all__ = ["Bids", "NestedFlow", "Places", "bids", "nested_flow", "places"]
