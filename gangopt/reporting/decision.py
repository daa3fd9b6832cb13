"""The decision itself as text: what `gangopt solve` prints below the figures, never longer than a screen."""

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
"""Parts of a decision that are printed, as jobs or servers, below one heading."""

WIDTH = 160
"""Characters of a line."""


def decision_lines(result: Result, instance: Instance) -> list[str]:
    """Return the decision of a result as lines: a heading, at most `SHOWN` parts, and how many more there are.

    Parameters
    ----------
    result : Result
        What `solve` returned.
    instance : Instance
        The instance that it is of.

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
    """Yield the fields of the solution file, of lists one entry a line."""
    yield "decision"
    for name, value in solution_json(problems[result.problem], result.solution).items():
        if isinstance(value, list):
            yield from (f"{name}[{index}]: {json.dumps(item, ensure_ascii=False)}" for index, item in enumerate(value))
        else:
            yield shorten(f"{name}: {json.dumps(value, ensure_ascii=False)}", WIDTH)
