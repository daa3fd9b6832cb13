"""Parameter blocks of real networks, computed from their architectures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gangopt.instances.networks.inception import googlenet, inception_bn
from gangopt.instances.networks.layers import Block
from gangopt.instances.networks.plain import alexnet, vgg
from gangopt.instances.networks.resnet import resnet

__all__ = ["NETWORKS", "Block"]

NETWORKS: dict[str, Callable[[], list[Block]]] = {
    "resnet50": partial(resnet, 50),
    "resnet101": partial(resnet, 101),
    "resnet152": partial(resnet, 152),
    "vgg11": partial(vgg, 11),
    "vgg16": partial(vgg, 16),
    "vgg19": partial(vgg, 19),
    "alexnet": alexnet,
    "inception-bn": inception_bn,
    "googlenet": googlenet,
}
"""Functions that return the blocks of a network, by name."""
