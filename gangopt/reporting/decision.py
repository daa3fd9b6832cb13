"""The decision of a result as text that fits a screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

from gangopt.base.contract import Instance
from gangopt.base.errors import shorten
from gangopt.registry.problem import resolve
from gangopt.registry.records import problems
from gangopt.solvers.core.result import Result
from gangopt.solvers.core.resultfile import solution_json

__all__ = ["SHOWN", "decision_lines"]

SHOWN = 20
"""Maximum number of printed parts of a decision, e.g. jobs or servers, below one heading."""

WIDTH = 160
"""Maximum length of a line."""


def decision_lines(result: Result, instance: Instance) -> list[str]:
    """Return a heading, at most `SHOWN` parts of the decision, and the number of the other parts.

    Parameters
    ----------
    result : Result
        Result of `solve`.
    instance : Instance
        The instance that was solved.

    Returns
    -------
    list of str
        Empty if there is no solution.
    """
    if result.solution_status == "none":
        return []
    hook = problems[result.problem].describe_solution
    every = _fields(result) if hook is None else resolve(hook)(instance, result.solution)
    lines = [_cut(line) for line in islice(every, SHOWN + 1)]
    rest = sum(1 for _ in every)
    return [*lines, *([f"... and {rest:,} more; --json or -o FILE gives all"] if rest else [])]


def _cut(line: str) -> str:
    return line.rstrip() if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


def _fields(result: Result) -> Iterator[str]:
    """Yield the fields of the solution file, one line for each field or list entry."""
    yield "decision"
    for name, value in solution_json(problems[result.problem], result.solution).items():
        if isinstance(value, list):
            yield from (f"{name}[{index}]: {json.dumps(item, ensure_ascii=False)}" for index, item in enumerate(value))
        else:
            yield shorten(f"{name}: {json.dumps(value, ensure_ascii=False)}", WIDTH)
