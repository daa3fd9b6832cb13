"""Ten networks of the literature as lists of TensorFlow variables, with their sizes in MiB."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from gangopt.base.arguments import unknown
from gangopt.instances.networks.inception import googlenet
from gangopt.instances.networks.layers import Block, convolution, dense
from gangopt.instances.networks.plain import vgg
from gangopt.instances.networks.resnet import UNITS

__all__ = ["MODELS", "TensorModel", "tensor_model"]

MEBIBYTE = 2**20
"""Bytes of one MiB."""

CLASSES = 1001
"""Outputs of TensorFlow's ImageNet classifiers: 1000 classes and one for the background."""

_STEP = ("global_step", 8 / MEBIBYTE)
"""TensorFlow's step counter, a 64-bit integer variable on a parameter server."""

_TABLE = "Tiresias (NSDI 2019), table 6"


@dataclass(frozen=True)
class TensorModel:
    """Network as a list of tensors on parameter servers.

    Attributes
    ----------
    name : str
        Name of the network.
    tensors : tuple of tuple of str and float
        Name and size in MiB of every variable, in TensorFlow's order of creation.
    source : str
        Source of the list and its accuracy.
    """

    name: str
    tensors: tuple[tuple[str, float], ...]
    source: str

    @property
    def sizes(self) -> tuple[float, ...]:
        """Size of every tensor in MiB."""
        return tuple(size for _, size in self.tensors)

    @property
    def size(self) -> float:
        """Size of the model in MiB."""
        return sum(self.sizes)

    @property
    def largest(self) -> float:
        """Size of the largest tensor in MiB."""
        return max(self.sizes)

    @property
    def skew(self) -> float:
        """Share of the largest tensor in the model's size."""
        return self.largest / self.size


def _computed(name: str, blocks: list[Block]) -> TensorModel:
    tensors = []
    for label, shape in blocks:
        count = 1
        for side in shape:
            count *= side
        tensors.append((label, 4 * count / MEBIBYTE))
    source = "float32 variables computed from the architecture as TensorFlow's benchmark models build it, 1001 classes"
    return TensorModel(name, (_STEP, *tensors), source)


def _vgg(depth: int) -> TensorModel:
    return _computed(f"vgg{depth}", vgg(depth, classes=CLASSES))


def _alexnet() -> TensorModel:
    """Return the single-tower AlexNet for 224 pixels, with 64 filters and no padding in the first layer."""
    blocks = [
        *convolution("conv1", 64, 3, 11),
        *convolution("conv2", 192, 64, 5),
        *convolution("conv3", 384, 192, 3),
        *convolution("conv4", 384, 384, 3),
        *convolution("conv5", 256, 384, 3),
        *dense("fc6", 4096, 256 * 6 * 6),
        *dense("fc7", 4096, 4096),
        *dense("fc8", CLASSES, 4096),
    ]
    return _computed("alexnet", blocks)


def _googlenet() -> TensorModel:
    # with global pooling, the classifier has 1024 inputs for any size of image
    convolutions = [block for block in googlenet() if not block[0].startswith("fc")]
    return _computed("googlenet", [*convolutions, *dense("fc", CLASSES, 1024)])


def _resnet(depth: int) -> TensorModel:
    """Return a bottleneck ResNet v1, with batch normalisation (four variables) instead of biases."""
    blocks = _normalised("conv0", 64, 3, 7)
    channels = 64
    for stage, units in enumerate(UNITS[depth], start=1):
        inner = 32 * 2**stage
        for unit in range(1, units + 1):
            name = f"stage{stage}_unit{unit}"
            if unit == 1:
                blocks += _normalised(f"{name}_sc", 4 * inner, channels, 1)
            blocks += _normalised(f"{name}_conv1", inner, channels, 1)
            blocks += _normalised(f"{name}_conv2", inner, inner, 3)
            blocks += _normalised(f"{name}_conv3", 4 * inner, inner, 1)
            channels = 4 * inner
    return _computed(f"resnet{depth}", [*blocks, *dense("fc", CLASSES, channels)])


def _normalised(name: str, filters: int, channels: int, kernel: int) -> list[Block]:
    """Return a convolution and its batch normalisation, including the variables of moving averages."""
    statistics: list[Block] = [
        (f"{name}_{part}", (filters,)) for part in ("gamma", "beta", "moving_mean", "moving_variance")
    ]
    return [*convolution(name, filters, channels, kernel, bias=False), *statistics]


# published sizes of tensors above 1 MiB, to 0.1 MiB, and their numbers
_INCEPTION3 = (
    *((7.8, 1), (5.9, 2), (3.8, 1), (3.5, 1), (3.0, 1), (2.5, 1), (2.2, 1)),
    *((2.1, 1), (1.9, 1), (1.7, 8), (1.6, 1), (1.5, 1), (1.3, 1)),
)
_INCEPTION4 = (
    *((5.9, 1), (5.1, 1), (3.5, 1), (2.6, 3), (2.3, 6), (2.2, 1)),
    *((2.0, 4), (1.8, 1), (1.5, 34), (1.3, 9), (1.1, 20)),
)


def _listed(name: str, large: tuple[tuple[float, int], ...], count: int, size: float) -> TensorModel:
    """Return a model for which only the tensors above 1 MiB are known.

    Since neither the small sizes nor the order were published, the remaining tensors have equal sizes, and the large
    ones are spread evenly among them.
    """
    known = [mebibytes for mebibytes, times in large for _ in range(times)]
    rest = count - len(known)
    small = (size - sum(known)) / rest
    tensors = []
    for position in range(count):
        done = position * len(known) // count
        if (position + 1) * len(known) // count > done:
            tensors.append((f"large{done}", known[done]))
        else:
            tensors.append((f"remainder{position - done}", small))
    source = (
        f"{len(known)} tensors above 1 MiB as published (sizes to 0.1 MiB); the other {rest} "
        f"({size - sum(known):.1f} MiB) assumed equal and evenly mixed; {_TABLE}"
    )
    return TensorModel(name, tuple(tensors), source)


_BUILDERS: dict[str, Callable[[], TensorModel]] = {
    "vgg19": partial(_vgg, 19),
    "vgg16": partial(_vgg, 16),
    "vgg11": partial(_vgg, 11),
    "alexnet": _alexnet,
    "resnet152": partial(_resnet, 152),
    "resnet101": partial(_resnet, 101),
    "resnet50": partial(_resnet, 50),
    "inception4": partial(_listed, "inception4", _INCEPTION4, 599, 162.9),
    "inception3": partial(_listed, "inception3", _INCEPTION3, 397, 91.0),
    "googlenet": _googlenet,
}

MODELS: tuple[str, ...] = tuple(_BUILDERS)
"""Names of the ten networks, in the order of the published table."""


@cache
def tensor_model(name: str) -> TensorModel:
    """Return a network as a list of tensors.

    Parameters
    ----------
    name : str
        One of `MODELS`.

    Raises
    ------
    InputError
        If the name is unknown.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, table 6.
    """
    if name not in _BUILDERS:
        raise unknown("model", name, list(MODELS))
    return _BUILDERS[name]()
