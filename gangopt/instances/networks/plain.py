"""Sequential networks of convolutions and fully connected layers: VGG and AlexNet."""

from __future__ import annotations

from gangopt.instances.networks.layers import Block, convolution, dense, output_side

__all__ = ["CONVOLUTIONS", "FILTERS", "alexnet", "vgg"]

CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""3x3 convolutions in each of VGG's five stages, by depth."""

FILTERS = (64, 128, 256, 512, 512)
"""Filters of the convolutions of each stage."""


def vgg(depth: int, classes: int = 1000, side: int = 224) -> list[Block]:
    """Return the parameter blocks of a VGG network without batch normalisation.

    Parameters
    ----------
    depth : int
        Depth, 11, 16 or 19.
    classes : int, optional
        Outputs of the classifier.
    side : int, optional
        Side of the input image in pixels, halved in each stage.

    Returns
    -------
    list of (name, shape)
        Blocks in MXNet's argument order.

    References
    ----------
    Simonyan, Zisserman: Very deep convolutional networks for large-scale image recognition, 2015.
    """
    blocks: list[Block] = []
    channels = 3
    for stage, (count, filters) in enumerate(zip(CONVOLUTIONS[depth], FILTERS, strict=True), start=1):
        for layer in range(1, count + 1):
            blocks += convolution(f"conv{stage}_{layer}", filters, channels, 3)
            channels = filters
        side = output_side(side, kernel=2, stride=2)
    return [
        *blocks,
        *dense("fc6", 4096, channels * side * side),
        *dense("fc7", 4096, 4096),
        *dense("fc8", classes, 4096),
    ]


def alexnet(classes: int = 1000, side: int = 224) -> list[Block]:
    """Return the parameter blocks of the single-tower AlexNet of MXNet's examples.

    Parameters
    ----------
    classes : int, optional
        Outputs of the classifier.
    side : int, optional
        Side of the input image in pixels.

    Returns
    -------
    list of (name, shape)
        Blocks in MXNet's argument order.

    References
    ----------
    Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, 2012; MXNet's
    `symbols/alexnet.py`.
    """
    side = output_side(side, kernel=11, stride=4)
    for _ in range(3):
        side = output_side(side, kernel=3, stride=2)
    return [
        *convolution("conv1", 96, 3, 11),
        *convolution("conv2", 256, 96, 5),
        *convolution("conv3", 384, 256, 3),
        *convolution("conv4", 384, 384, 3),
        *convolution("conv5", 256, 384, 3),
        *dense("fc1", 4096, 256 * side * side),
        *dense("fc2", 4096, 4096),
        *dense("fc3", classes, 4096),
    ]
