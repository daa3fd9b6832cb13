"""Text and pictures of clusters and states for terminals and notebooks."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from gangopt.reporting.plots import to_png, to_svg
from gangopt.topology import Cluster, draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gangopt.topology import State

__all__ = ["state_text", "tree_picture"]

_MOST_MACHINES_AS_LINES = 400
"""Largest cluster whose picture is made of lines; larger ones are images, whose size is limited."""


def state_text(state: State) -> str:
    """Return a state as lines of text: the cluster, what is free, who holds what, and the unavailable machines.

    Parameters
    ----------
    state : State
        The state.
    """
    amounts, shares = state.amounts_by_owner(), state.shares_by_owner()
    lines = [repr(state), f"cluster {state.cluster.name or state.cluster.root}"]
    for owner in state.owners:
        parts = [f"{len(state.gpus_of(owner))} GPUs"]
        parts += [f"shares of {len(shares[owner])} GPUs"] if owner in shares else []
        parts += [f"other resources on {len(amounts[owner])} machines"] if owner in amounts else []
        lines.append(f"  {owner}: {', '.join(parts)}")
    return "\n".join([*lines, *(f"  {machine} is unavailable: {why}" for machine, why in state.unavailable.items())])


def tree_picture(subject: Cluster | State) -> str:
    """Return a cluster or a state as an HTML picture of racks, machines and GPUs in the colours of their owners.

    Parameters
    ----------
    subject : Cluster or State
        The cluster or the state.
    """
    figure = cast("Figure", draw(subject))
    cluster = subject if isinstance(subject, Cluster) else subject.cluster
    if len(cluster.machines) <= _MOST_MACHINES_AS_LINES:
        return to_svg(figure)
    return f"<img alt='' src='data:image/png;base64,{base64.b64encode(to_png(figure)).decode('ascii')}'>"
