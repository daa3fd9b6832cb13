"""What `gangopt show` prints of a `parameters` instance."""

from __future__ import annotations

from collections import Counter

from gangopt.instances.parameters import ParametersInstance

__all__ = ["describe"]

_ROWS = 24


def describe(instance: ParametersInstance) -> str:
    """Return totals and a table of the block sizes.

    Parameters
    ----------
    instance : blocks and servers

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
