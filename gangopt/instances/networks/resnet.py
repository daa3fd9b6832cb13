"""Residual networks with pre-activation bottleneck units (v2)."""

from __future__ import annotations

from gangopt.instances.networks.layers import Block, batch_norm, convolution, dense

__all__ = ["UNITS", "resnet"]

UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""Bottleneck units in each of the four stages, by depth."""


def resnet(depth: int, classes: int = 1000) -> list[Block]:
    """Return the parameter blocks of a ResNet v2 for ImageNet.

    The input is batch-normalised, convolutions have no bias, and a unit has three pairs of batch normalisation and
    convolution (1x1, 3x3, 1x1; the inner ones with a quarter of the filters); the first unit of a stage has a
    1x1 convolution on its shortcut.

    Parameters
    ----------
    depth : int
        Depth, 50, 101 or 152.
    classes : int, optional
        Outputs of the classifier.

    Returns
    -------
    list of (name, shape)
        Blocks in MXNet's argument order.

    References
    ----------
    He, Zhang, Ren, Sun: Identity mappings in deep residual networks, 2016; MXNet's `symbols/resnet.py`.
    """
    blocks = [*batch_norm("bn_data", 3), *convolution("conv0", 64, 3, 7, bias=False), *batch_norm("bn0", 64)]
    channels = 64
    for stage, units in enumerate(UNITS[depth], start=1):
        filters = 128 * 2**stage
        for unit in range(1, units + 1):
            blocks += _unit(f"stage{stage}_unit{unit}", channels, filters, shortcut=unit == 1)
            channels = filters
    return [*blocks, *batch_norm("bn1", channels), *dense("fc1", classes, channels)]


def _unit(name: str, channels: int, filters: int, *, shortcut: bool) -> list[Block]:
    inner = filters // 4
    blocks = [
        *batch_norm(f"{name}_bn1", channels),
        *convolution(f"{name}_conv1", inner, channels, 1, bias=False),
        *batch_norm(f"{name}_bn2", inner),
        *convolution(f"{name}_conv2", inner, inner, 3, bias=False),
        *batch_norm(f"{name}_bn3", inner),
        *convolution(f"{name}_conv3", filters, inner, 1, bias=False),
    ]
    return [*blocks, *convolution(f"{name}_sc", filters, channels, 1, bias=False)] if shortcut else blocks
