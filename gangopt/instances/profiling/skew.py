r"""Skew of a model's tensors across parameter servers, S_J.

.. math:: S_k = \frac{\max_{i \text{ on } k} s_i}{\sum_i s_i}, \qquad S_J = \max_k S_k

S_k is the share of the model in the largest message of parameter server k. A framework that splits tensors sends
smaller messages and has a lower skew. The number of parameter servers alone does not change S_J, so one PACKLIMIT is
suitable for jobs of all sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from gangopt.instances.networks.models import tensor_model

__all__ = ["model_skew", "round_robin", "server_skews"]


def round_robin(sizes: Sequence[float], servers: int) -> list[list[float]]:
    """Return the tensors of each parameter server if tensor k is on server k mod p, as in TensorFlow.

    Parameters
    ----------
    sizes : sequence of float
        Sizes of the tensors, in any unit.
    servers : int
        Number of parameter servers p, at least 1.
    """
    return [list(sizes[server::servers]) for server in range(servers)]


def server_skews(held: Sequence[Sequence[float]]) -> list[float]:
    """Return S_k of every parameter server, 0 for those without tensors.

    Parameters
    ----------
    held : sequence of sequence of float
        Sizes of the tensors on each parameter server, in any unit; at least one tensor in total.

    References
    ----------
    Gu et al.: Tiresias, NSDI 2019, section 3.3.1 and table 6.
    """
    total = sum(sum(sizes) for sizes in held)
    return [max(sizes, default=0.0) / total for sizes in held]


def model_skew(name: str, servers: int) -> float:
    """Return S_J of one of the ten published networks with tensors assigned round robin.

    Parameters
    ----------
    name : str
        One of `gangopt.instances.networks.models.MODELS`.
    servers : int
        Number of parameter servers.
    """
    return max(server_skews(round_robin(tensor_model(name).sizes, servers)))
