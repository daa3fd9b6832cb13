"""Text of `gangopt show` and `gangopt solve` for an auction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gangopt.base.errors import shorten
from gangopt.instances.auction.bids import LEVELS, Bundle
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["describe", "describe_solution"]

SHOWN = 20


def describe(instance: AuctionInstance) -> str:
    """Return the GPUs on offer and a table of the first apps with their bids for all GPUs they can use.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.

    Returns
    -------
    str
        Several lines; at most `SHOWN` apps are listed.
    """
    sizes = Counter(instance.offered.tolist())
    kinds = ", ".join(f"{count:,} x {gpus} GPUs" for gpus, count in sorted(sizes.items(), reverse=True))
    heads = " ".join(f"{level:>10}" for level in LEVELS)
    lines = [
        f"{instance.total:,} GPUs on offer on {len(instance.machines):,} machines ({kinds})",
        f"{len(instance.racks):,} racks, {len(instance.apps):,} bidding apps, {len(instance.bystanders):,} bystanders",
        "",
        "rho = 1 / V with all GPUs that the app can use, by level",
        f"{'app':<24} {'GPUs':>6} {'held':>6} {heads} {'without':>10}",
    ]
    for app in instance.apps[:SHOWN]:
        best = [app.at(level, app.demand) for level in range(len(LEVELS))]
        cells = " ".join(f"{float(1 / value):>10.4g}" if value else f"{'inf':>10}" for value in best)
        zero = f"{float(1 / app.value_at_zero):.4g}" if app.value_at_zero else "inf"
        held = _count(app.held)
        lines.append(f"{shorten(app.label, 24):<24} {app.demand:>6,} {held:>6,} {cells} {zero:>10}")
    if len(instance.apps) > SHOWN:
        lines.append(f"... and {len(instance.apps) - SHOWN:,} more")
    return "\n".join(lines)


def describe_solution(instance: AuctionInstance, solution: AuctionSolution) -> Iterator[str]:
    """Yield a heading and, for every app, GPUs won and kept, share c, value V and machines.

    Parameters
    ----------
    instance : AuctionInstance
        The auction.
    solution : AuctionSolution
        A feasible outcome.

    Yields
    ------
    str
        One line; bystanders that receive GPUs come last.
    """
    yield f"{'app':<24} {'won':>6} {'kept':>6} {'share c':>17} {'V':>10}  machines"
    for i, (app, bundle) in enumerate(zip(instance.apps, solution.bundles, strict=True)):
        won, share = _count(solution.before_payment[i]), "-"
        if solution.payments:
            low, high = solution.payments[i]
            share = f"{float(low):.6g}" if low == high else f"{float(low):.4g} to {float(high):.4g}"
        value = float(instance.value(i, bundle))
        place = _places(instance, bundle)
        yield f"{shorten(app.label, 24):<24} {won:>6,} {_count(bundle):>6,} {share:>17} {value:>10.4g}  {place}"
    for item, gift in zip(instance.bystanders, solution.gifts, strict=bool(solution.gifts)):
        if gift:
            row = f"{shorten(item.label, 24):<24} {'-':>6} {_count(gift):>6,} {'given':>17} {'-':>10}"
            yield f"{row}  {_places(instance, gift)}"


def _count(bundle: Bundle) -> int:
    return sum(count for _, count in bundle)


def _places(instance: AuctionInstance, bundle: Bundle) -> str:
    return ", ".join(f"{count} on {shorten(instance.machines[machine], 24)}" for machine, count in bundle) or "-"
