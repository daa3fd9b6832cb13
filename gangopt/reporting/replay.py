"""Text of one replay: its jobs, cluster and policy, and every metric with its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.instances.workload.text import notice_lines
from gangopt.replays.result import METRICS
from gangopt.reporting.text import aligned, format_number

if TYPE_CHECKING:
    from gangopt.replays.result import Replay

__all__ = ["replay_text"]


def replay_text(replay: Replay) -> str:
    """Return the metrics of a replay as lines of text.

    Parameters
    ----------
    replay : Replay
        The replay.
    """
    where = f"{replay.cluster}, {replay.n_gpus} GPUs" if replay.cluster else f"{replay.n_gpus} GPUs"
    rows = [("workload", replay.workload.name), ("cluster", where), ("policy", replay.policy)]
    rows += [(name, f"{format_number(value)} {METRICS[name]}") for name, value in replay.metrics.items()]
    lines = aligned(rows, ("left", "left"))
    return "\n".join([*lines, *notice_lines(replay.notices)])
