"""Output of `gangopt show` and `gangopt solve` for histories of jobs and rules learned from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gangopt.base.errors import shorten
from gangopt.instances.threshold.instance import ThresholdInstance, ThresholdSolution

__all__ = ["describe", "describe_solution"]

_SHOWN = 20


def describe(instance: ThresholdInstance) -> str:
    """Return the features and a table of the jobs with their ratios.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.

    Returns
    -------
    str
        Several lines; at most 20 jobs are listed.
    """
    counted = (
        f"{len(instance.jobs):,} jobs, {int(np.count_nonzero(instance.sensitive)):,} of them sensitive to placement"
    )
    lines = [
        f"{counted}: when spread, they reach less than {instance.limit:g} of their consolidated performance",
        *(
            f"{shorten(name, 40)} from {column.min():,.6g} to {column.max():,.6g}"
            for name, column in zip(instance.features, instance.values.T, strict=True)
        ),
        "",
        f"{'job':<24} {'ratio':>7}  {'sensitive':<9}  {', '.join(shorten(name, 24) for name in instance.features)}",
    ]
    for j, label in enumerate(instance.jobs[:_SHOWN]):
        called = "yes" if instance.sensitive[j] else "no"
        values = ", ".join(f"{value:.6g}" for value in instance.values[j].tolist())
        lines.append(f"{shorten(label, 24):<24} {instance.ratio[j]:>7.4g}  {called:<9}  {values}")
    if len(instance.jobs) > _SHOWN:
        lines.append(f"... and {len(instance.jobs) - _SHOWN:,} more")
    return "\n".join(lines)


def describe_solution(instance: ThresholdInstance, solution: ThresholdSolution) -> Iterator[str]:
    """Yield the rule, then every misclassified job.

    Parameters
    ----------
    instance : ThresholdInstance
        The history.
    solution : ThresholdSolution
        A feasible rule.

    Yields
    ------
    str
        One line.
    """
    terms = [
        shorten(name, 40) if weight == 1 else f"{weight:.6g} {shorten(name, 40)}"
        for name, weight in zip(instance.features, solution.weights, strict=True)
        if weight
    ]
    yield f"consolidate if {' + '.join(terms)} > {solution.threshold:.6g}"
    scores = instance.values @ np.array(solution.weights)
    for j, label in enumerate(instance.jobs):
        called = bool(scores[j] > solution.threshold)
        if called != bool(instance.sensitive[j]):
            kind = "a false alarm" if called else "missed"
            yield f"{shorten(label, 24):<24} {kind}: ratio {instance.ratio[j]:.4g}, score {scores[j]:.6g}"
