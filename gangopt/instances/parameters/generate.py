"""Generators of the problem `parameters`: real networks, random blocks, and lists of blocks in files."""

from __future__ import annotations

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer
from gangopt.instances.networks import NETWORKS
from gangopt.instances.parameters.blocks import read_blocks
from gangopt.instances.parameters.instance import MAX_BLOCKS, ParametersInstance

__all__ = ["blocks", "network", "random"]


def network(network: str, servers: int) -> ParametersInstance:
    """Return the parameter blocks of a real network, computed from its architecture.

    Parameters
    ----------
    network : str
        A name in `gangopt.instances.networks.NETWORKS`, e.g. `resnet50`.
    servers : int
        Number of parameter servers.

    Raises
    ------
    InputError
        If the network is unknown or the number of servers out of range.
    """
    if network not in NETWORKS:
        raise unknown("network", network, list(NETWORKS))
    listed = NETWORKS[network]()
    return ParametersInstance(
        name=f"parameters/{network}-p{servers}",
        description=f"{network}: {len(listed)} parameter blocks on {servers} servers",
        source="block shapes computed from the architecture as MXNet's example symbols build it, 1000 classes",
        servers=servers,
        shapes=tuple(shape for _, shape in listed),
        labels=tuple(label for label, _ in listed),
    )


def blocks(file: str, servers: int) -> ParametersInstance:
    """Return the blocks that a JSON or text file lists; see `read_blocks` for the formats.

    Parameters
    ----------
    file : str
        Path of the file.
    servers : int
        Number of parameter servers.

    Raises
    ------
    InputError
        If the file cannot be read or is invalid; the message names the file and the line or entry.
    """
    listed = read_blocks(file)
    return ParametersInstance(
        name=f"parameters/blocks?file={file}&servers={servers}",
        description=f"{len(listed)} parameter blocks of {file} on {servers} servers",
        source=file,
        servers=servers,
        shapes=tuple(shape for _, shape in listed),
        labels=tuple(label for label, _ in listed),
    )


def random(blocks: int = 40, servers: int = 4, largest: int = 1_000_000, seed: int = 0) -> ParametersInstance:
    """Return blocks of heavy-tailed random sizes: floor(largest^u) with u uniform on [0, 1).

    Parameters
    ----------
    blocks : int, optional
        Number of blocks.
    servers : int, optional
        Number of parameter servers.
    largest : int, optional
        Upper bound on the size of a block, in parameters.
    seed : int, optional
        Seed of the random number generator.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    integer("parameters/random: blocks", blocks, 1, MAX_BLOCKS)
    integer("parameters/random: largest", largest, 1, 10**9)
    integer("parameters/random: seed", seed, 0)
    sizes = np.floor(float(largest) ** np.random.default_rng(seed).random(blocks)).astype(np.int64)
    return ParametersInstance(
        name=f"parameters/random?blocks={blocks}&servers={servers}&largest={largest}&seed={seed}",
        description=f"{blocks} blocks of random size up to {largest} on {servers} servers",
        source="generated",
        servers=servers,
        shapes=tuple((size,) for size in sizes.tolist()),
    )
