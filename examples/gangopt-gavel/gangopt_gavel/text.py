"""Text output of `gangopt show` and `gangopt solve`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangopt.base.errors import shorten
from gangopt_gavel.instance import TimeShareInstance, TimeShareSolution

__all__ = ["describe", "describe_solution"]

_SHOWN = 20


def describe(instance: TimeShareInstance) -> str:
    """Return a summary of the GPU types and jobs."""
    types = ", ".join(f"{count} {name}" for name, count in zip(instance.gpu_types, instance.gpus.tolist(), strict=True))
    lines = [f"{len(instance.jobs):,} jobs on {types}", "", _head("GPUs", instance)]
    for j, label in enumerate(instance.jobs[:_SHOWN]):
        lines.append(_line(label, f"{instance.scale[j]:,}", instance.throughput[j].tolist()))
    if len(instance.jobs) > _SHOWN:
        lines.append(f"... and {len(instance.jobs) - _SHOWN:,} more")
    return "\n".join(lines)


def describe_solution(instance: TimeShareInstance, solution: TimeShareSolution) -> Iterator[str]:
    """Yield a heading and one line per job with its ratio and shares."""
    yield _head("ratio", instance)
    ratios = instance.ratios(np.array(solution.shares))
    for label, ratio, row in zip(instance.jobs, ratios.tolist(), solution.shares, strict=True):
        yield _line(label, f"{ratio:.4f}", row)


def _head(second: str, instance: TimeShareInstance) -> str:
    return f"{'job':<24} {second:>8}  " + " ".join(f"{shorten(name, 10):>10}" for name in instance.gpu_types)


def _line(label: str, second: str, row: list[float] | tuple[float, ...]) -> str:
    return f"{shorten(label, 24):<24} {second:>8}  " + " ".join(f"{item:>10.4g}" for item in row)
