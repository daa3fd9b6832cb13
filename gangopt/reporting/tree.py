"""Text and pictures of clusters and states for terminals and notebooks."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING

from gangopt.reporting.plots import to_png
from gangopt.topology import Cluster, draw

if TYPE_CHECKING:
    from gangopt.topology import State

__all__ = ["state_text", "tree_picture"]


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
        parts = {
            "GPUs": state.gpus_of(owner),
            "shared GPUs": shares.get(owner, ()),
            "machines with other resources": amounts.get(owner, ()),
        }
        lines.append(f"  {owner}: " + ", ".join(f"{len(items)} {what}" for what, items in parts.items() if items))
    return "\n".join([*lines, *(f"  {machine} is unavailable: {why}" for machine, why in state.unavailable.items())])


def tree_picture(subject: Cluster | State) -> str:
    """Return a cluster or a state as an HTML image of racks, machines and GPUs in the colours of their owners.

    Parameters
    ----------
    subject : Cluster or State
        The cluster or the state.
    """
    image = base64.b64encode(to_png(draw(subject))).decode("ascii")
    return f'<img alt="{html.escape(repr(subject))}" src="data:image/png;base64,{image}">'
