"""Text of `gangopt show` and `gangopt solve` for the division of GPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gangopt.base.errors import shorten
from gangopt.instances.auction.bids import LEVELS
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.solution import FairShareSolution

__all__ = ["describe", "describe_solution", "place_text"]

SHOWN = 20


def describe(instance: FairShareInstance) -> str:
    """Return the GPUs on offer and a table of the first apps with their demands and values.

    Parameters
    ----------
    instance : FairShareInstance
        Apps and GPUs.

    Returns
    -------
    str
        Several lines; at most `SHOWN` apps are listed.
    """
    sizes = Counter(instance.offered.tolist())
    kinds = ", ".join(f"{count:,} x {gpus} GPUs" for gpus, count in sorted(sizes.items(), reverse=True))
    lines = [
        f"{instance.market.total_gpus:,} GPUs on {len(instance.machines):,} machines ({kinds})",
        f"{len(instance.racks):,} racks, {len(instance.apps):,} apps",
    ]
    for name, capacity in zip(instance.resources, instance.market.capacities, strict=True):
        lines.append(f"{capacity:g} of {name} in the cluster")
    heads = " ".join(f"{level:>10}" for level in LEVELS)
    lines += [
        "",
        "rho with all GPUs that the app can use, by level",
        f"{'app':<24} {'GPUs':>6} {'held':>6} {heads}",
    ]
    for app, held in list(zip(instance.apps, instance.market.held.tolist(), strict=True))[:SHOWN]:
        best = [app.at(level, app.demand) for level in range(len(LEVELS))]
        cells = " ".join(f"{float(1 / value):>10.4g}" if value else f"{'inf':>10}" for value in best)
        lines.append(f"{shorten(app.label, 24):<24} {app.demand:>6,} {held:>6,} {cells}")
    if len(instance.apps) > SHOWN:
        lines.append(f"... and {len(instance.apps) - SHOWN:,} more")
    return "\n".join(lines)


def describe_solution(instance: FairShareInstance, solution: FairShareSolution) -> Iterator[str]:
    """Yield a heading and, for every app, its GPUs, rho and machines.

    Parameters
    ----------
    instance : FairShareInstance
        Apps and GPUs.
    solution : FairShareSolution
        A feasible allocation.

    Yields
    ------
    str
        One line.
    """
    yield f"{'app':<24} {'GPUs':>6} {'rho':>10}  machines"
    for i, (app, bundle) in enumerate(zip(instance.apps, solution.bundles, strict=True)):
        value = instance.auction.value(i, bundle)
        rho = f"{float(1 / value):.4g}" if value else "inf"
        count = sum(gpus for _, gpus in bundle)
        yield f"{shorten(app.label, 24):<24} {count:>6,} {rho:>10}  {place_text(instance.machines, bundle)}"


def place_text(machines: tuple[str, ...], bundle: tuple[tuple[int, int], ...]) -> str:
    """Return the machines of a bundle, e.g. `2 on m0, 2 on m1`; `-` for none.

    Parameters
    ----------
    machines : tuple of str
        Labels.
    bundle : tuple of tuple of int
        (machine, number of GPUs).
    """
    return ", ".join(f"{gpus} on {shorten(machines[machine], 24)}" for machine, gpus in bundle) or "-"
