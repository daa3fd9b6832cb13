"""Output of `gangopt show` and `gangopt solve` for the problem `parameters`."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution

__all__ = ["describe", "describe_solution"]

_ROWS = 24


def describe(instance: ParametersInstance) -> str:
    """Return totals and a table of the block sizes.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.

    Returns
    -------
    str
        Several lines.
    """
    sizes = instance.sizes.tolist()
    total = instance.total
    count = sorted(Counter(sizes).items(), reverse=True)
    examples: dict[int, str] = {}
    for label, size, shape in zip(instance.labels, sizes, instance.shapes, strict=True):
        examples.setdefault(size, f"{label} {'x'.join(map(str, shape))}")
    lines = [
        f"{len(sizes):,} blocks of {len(count):,} sizes, {total:,} parameters ({4 * total / 1e6:,.1f} MB in float32)",
        f"{instance.servers:,} servers, {total / instance.servers:,.1f} parameters each on average",
        "",
        f"{'parameters':>15} {'blocks':>7} {'share':>7}  first of them",
    ]
    lines += [
        f"{size:>15,} {number:>7,} {100 * size * number / total:>6.1f}%  {examples[size]}"
        for size, number in count[:_ROWS]
    ]
    if len(count) > _ROWS:
        rest = count[_ROWS:]
        held = sum(size * number for size, number in rest)
        lines.append(
            f"{'smaller':>15} {sum(number for _, number in rest):>7,} {100 * held / total:>6.1f}%  {len(rest)} sizes"
        )
    return "\n".join(lines)


def describe_solution(instance: ParametersInstance, solution: ParametersSolution) -> Iterator[str]:
    """Yield a heading and, for every server, its parameters, requests and blocks.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    solution : ParametersSolution
        A feasible assignment.

    Yields
    ------
    str
        One line.
    """
    held: list[list[tuple[int, int]]] = [[] for _ in range(instance.servers)]
    for block, parts in enumerate(solution.parts):
        for server, amount in parts:
            held[server].append((block, amount))
    sizes = instance.sizes.tolist()
    yield f"{'server':>6} {'parameters':>15} {'requests':>8}  blocks"
    for server, pieces in enumerate(held):
        blocks = (
            instance.labels[block] + ("" if amount == sizes[block] else f" ({amount:,} of {sizes[block]:,})")
            for block, amount in pieces[:_ROWS]
        )
        rest = ["..."] if len(pieces) > _ROWS else []
        text = textwrap.shorten(", ".join([*blocks, *rest]), 80, placeholder=" ...")
        yield f"{server:>6} {sum(amount for _, amount in pieces):>15,} {len(pieces):>8,}  {text}"
