"""Text of `gangopt show` for an interval instance."""

from __future__ import annotations

import numpy as np

from gangopt.instances import allocation_text
from gangopt.instances.interval import IntervalInstance

__all__ = ["describe"]

SHOWN = 12


def describe(instance: IntervalInstance) -> str:
    """Return the servers by kind, the network, and the jobs, as lines for people.

    Parameters
    ----------
    instance : the interval

    Returns
    -------
    str
        At most `SHOWN` kinds of servers are listed one by one.
    """
    jobs = instance.allocation
    kinds, first, counts = np.unique(instance.capacity, axis=0, return_index=True, return_counts=True)
    lines = [f"{len(instance.servers):,} servers; decided every {instance.interval:g} s; charge {instance.charge}"]
    for i in np.argsort(first)[:SHOWN].tolist():
        amounts = ", ".join(
            f"{amount:g} {unit} {name}"
            for amount, unit, name in zip(kinds[i].tolist(), jobs.units, jobs.resources, strict=True)
        )
        lines.append(f"  {counts[i]:>6,} x {amounts}")
    if len(kinds) > SHOWN:
        lines.append(f"  ... and {len(kinds) - SHOWN:,} more kinds")
    lines.append(
        f"models of {instance.size.min():g} to {instance.size.max():g} MB; bandwidths of "
        f"{min(instance.ps_bandwidth.min(), instance.worker_bandwidth.min()):g} to "
        f"{max(instance.ps_bandwidth.max(), instance.worker_bandwidth.max()):g} MB/s"
    )
    return "\n".join([*lines, "", allocation_text.describe(jobs)])
