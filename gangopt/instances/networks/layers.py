"""Parameter blocks of single layers, in MXNet's argument order."""

from __future__ import annotations

__all__ = ["Block", "batch_norm", "convolution", "dense", "output_side"]

Block = tuple[str, tuple[int, ...]]
"""Name and shape of one parameter block."""


def convolution(name: str, filters: int, channels: int, kernel: int, *, bias: bool = True) -> list[Block]:
    """Return the blocks of a convolution, filters x channels x kernel x kernel weights and a bias per filter.

    Parameters
    ----------
    name : str
        Name of the layer.
    filters : int
        Output channels.
    channels : int
        Input channels.
    kernel : int
        Side of the square kernel in pixels.
    bias : bool, optional
        Whether the layer has a bias.
    """
    weight: Block = (f"{name}_weight", (filters, channels, kernel, kernel))
    return [weight, (f"{name}_bias", (filters,))] if bias else [weight]


def batch_norm(name: str, channels: int) -> list[Block]:
    """Return the blocks of a batch normalisation, a scale and a shift per channel.

    Parameters
    ----------
    name : str
        Name of the layer.
    channels : int
        Number of channels.
    """
    return [(f"{name}_gamma", (channels,)), (f"{name}_beta", (channels,))]


def dense(name: str, units: int, inputs: int) -> list[Block]:
    """Return the blocks of a fully connected layer, units x inputs weights and a bias per unit.

    Parameters
    ----------
    name : str
        Name of the layer.
    units : int
        Number of outputs.
    inputs : int
        Number of inputs.
    """
    return [(f"{name}_weight", (units, inputs)), (f"{name}_bias", (units,))]


def output_side(side: int, kernel: int, stride: int, pad: int = 0) -> int:
    """Return the side of a convolution's or pooling's output: floor((side + 2 pad - kernel) / stride) + 1.

    Parameters
    ----------
    side, kernel, stride, pad : int
        Sizes in pixels.

    Returns
    -------
    int
        Side of the square output, in pixels.
    """
    return (side + 2 * pad - kernel) // stride + 1
