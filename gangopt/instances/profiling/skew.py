r"""Skew of a model's tensors across parameter servers, S_J.

.. math:: S_k = \frac{\max_{i \text{ on } k} s_i}{\sum_i s_i}, \qquad S_J = \max_k S_k

The part of the model that the largest message of parameter server k carries. A framework that cuts tensors sends
smaller messages and so has a lower skew; the number of parameter servers alone does not change S_J, so that one
PACKLIMIT serves jobs of every size.
"""

from __future__ import annotations

from collections.abc import Sequence

from gangopt.instances.networks.models import tensor_model

__all__ = ["model_skew", "round_robin", "server_skews"]


def round_robin(sizes: Sequence[float], servers: int) -> list[list[float]]:
    """Return what each parameter server holds if tensor k goes to server k mod p, as in TensorFlow.

    Parameters
    ----------
    sizes : sequence of float
        Of every tensor, any unit.
    servers : int
        P, at least 1.
    """
    return [list(sizes[server::servers]) for server in range(servers)]


def server_skews(held: Sequence[Sequence[float]]) -> list[float]:
    """Return S_k of every parameter server, 0 for one that holds nothing.

    Parameters
    ----------
    held : sequence of sequence of float
        Sizes of the tensors on every parameter server, any unit; at least one tensor in all.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, section 3.3.1 and table 6.
    """
    total = sum(sum(sizes) for sizes in held)
    return [max(sizes, default=0.0) / total for sizes in held]


def model_skew(name: str, servers: int) -> float:
    """Return S_J of one of the ten published networks, its tensors mapped round robin.

    Parameters
    ----------
    name : str
        One of `gangopt.instances.networks.models.MODELS`.
    servers : int
        Number of parameter servers.
    """
    return max(server_skews(round_robin(tensor_model(name).sizes, servers)))
