"""Networks of parallel branches: GoogLeNet and Inception with batch normalisation."""

from __future__ import annotations

from gangopt.instances.networks.layers import Block, batch_norm, convolution, dense, output_side

__all__ = ["googlenet", "inception_bn"]

# name, 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, projection: filters of each branch
_GOOGLENET = (
    (("in3a", 64, 96, 128, 16, 32, 32), ("in3b", 128, 128, 192, 32, 96, 64)),
    (
        ("in4a", 192, 96, 208, 16, 48, 64),
        ("in4b", 160, 112, 224, 24, 64, 64),
        ("in4c", 128, 128, 256, 24, 64, 64),
        ("in4d", 112, 144, 288, 32, 64, 64),
        ("in4e", 256, 160, 320, 32, 128, 128),
    ),
    (("in5a", 256, 160, 320, 32, 128, 128), ("in5b", 384, 192, 384, 48, 128, 128)),
)

# name, 1x1, 3x3 reduce, 3x3, double 3x3 reduce, double 3x3, projection; None: down-sampling modules lack this branch
_INCEPTION_BN: tuple[tuple[str, int | None, int, int, int, int, int | None], ...] = (
    ("3a", 64, 64, 64, 64, 96, 32),
    ("3b", 64, 64, 96, 64, 96, 64),
    ("3c", None, 128, 160, 64, 96, None),
    ("4a", 224, 64, 96, 96, 128, 128),
    ("4b", 192, 96, 128, 96, 128, 128),
    ("4c", 160, 128, 160, 128, 160, 128),
    ("4d", 96, 128, 192, 160, 192, 128),
    ("4e", None, 128, 192, 192, 256, None),
    ("5a", 352, 192, 320, 160, 224, 128),
    ("5b", 352, 192, 320, 192, 224, 128),
)


def googlenet(classes: int = 1000, side: int = 300) -> list[Block]:
    """Return the parameter blocks of MXNet's GoogLeNet, without auxiliary classifiers.

    The last pooling is 7x7 with stride 1, not global, so the classifier grows with the image: it has 1024 inputs at 256
    pixels, and 4 x 1024 at the 300 pixels of the block list of Optimus.

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
    Szegedy et al.: Going deeper with convolutions, 2015; MXNet's `symbols/googlenet.py`.
    """
    blocks = [
        *convolution("conv_conv1", 64, 3, 7),
        *convolution("conv_conv2", 64, 64, 1),
        *convolution("conv_conv3", 192, 64, 3),
    ]
    side = output_side(side, kernel=7, stride=2, pad=3)
    side = output_side(output_side(side, kernel=3, stride=2), kernel=3, stride=2)
    channels = 192
    for position, stage in enumerate(_GOOGLENET):
        if position:
            side = output_side(side, kernel=3, stride=2)
        for name, one, reduce3, three, reduce5, five, projection in stage:
            blocks += [
                *convolution(f"conv_{name}_1x1", one, channels, 1),
                *convolution(f"conv_{name}_3x3_reduce", reduce3, channels, 1),
                *convolution(f"conv_{name}_3x3", three, reduce3, 3),
                *convolution(f"conv_{name}_5x5_reduce", reduce5, channels, 1),
                *convolution(f"conv_{name}_5x5", five, reduce5, 5),
                *convolution(f"conv_{name}_proj", projection, channels, 1),
            ]
            channels = one + three + five + projection
    side = output_side(side, kernel=7, stride=1)
    return [*blocks, *dense("fc1", classes, channels * side * side)]


def inception_bn(classes: int = 1000) -> list[Block]:
    """Return the parameter blocks of MXNet's Inception-BN; every convolution has a bias and a batch normalisation.

    Parameters
    ----------
    classes : int, optional
        Outputs of the classifier, which has 1024 globally pooled inputs.

    Returns
    -------
    list of (name, shape)
        Blocks in MXNet's argument order.

    References
    ----------
    Ioffe, Szegedy: Batch normalization, 2015; MXNet's `symbols/inception-bn.py`.
    """
    blocks = [*_normalised("1", 64, 3, 7), *_normalised("2_red", 64, 64, 1), *_normalised("2", 192, 64, 3)]
    channels = 192
    for name, one, reduce3, three, reduced, double, projection in _INCEPTION_BN:
        if one is not None:
            blocks += _normalised(f"{name}_1x1", one, channels, 1)
        blocks += [
            *_normalised(f"{name}_3x3_reduce", reduce3, channels, 1),
            *_normalised(f"{name}_3x3", three, reduce3, 3),
            *_normalised(f"{name}_double_3x3_reduce", reduced, channels, 1),
            *_normalised(f"{name}_double_3x3_0", double, reduced, 3),
            *_normalised(f"{name}_double_3x3_1", double, double, 3),
        ]
        if projection is not None:
            blocks += _normalised(f"{name}_proj", projection, channels, 1)
        # without a projection, the pooling branch keeps the channels of its input
        channels = (one or 0) + three + double + (channels if projection is None else projection)
    return [*blocks, *dense("fc1", classes, channels)]


def _normalised(name: str, filters: int, channels: int, kernel: int) -> list[Block]:
    return [*convolution(f"conv_{name}", filters, channels, kernel), *batch_norm(f"bn_{name}", filters)]
