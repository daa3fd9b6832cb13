"""Text of one instance: what it is, where it is from, its best known value and its data."""

from __future__ import annotations

from gangopt.base.contract import Instance
from gangopt.catalogue import entry
from gangopt.registry.problem import resolve
from gangopt.registry.records import problems
from gangopt.reporting.text import format_number

__all__ = ["instance_text"]


def instance_text(instance: Instance) -> str:
    """Return the description of an instance as lines of text.

    Parameters
    ----------
    instance : Instance
        The instance.
    """
    problem = problems[instance.noun]
    record = entry(instance.name)
    lines = [instance.name, f"  {problem.noun}: {problem.summary}"]
    lines += [f"  {text}" for text in (instance.description, instance.source and f"source: {instance.source}") if text]
    if record is not None and record.best is not None:
        best = format_number(record.best, digits=10)
        lines.append(f"  {problem.objective}: {best} {record.unit}, {record.status} (checked {record.checked})")
    if problem.describe is not None:
        lines += ["", resolve(problem.describe)(instance)]
    return "\n".join(lines)
