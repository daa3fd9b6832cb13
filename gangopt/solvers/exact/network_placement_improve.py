"""Exchanges that lower the largest load of a placement."""

from __future__ import annotations

import numpy as np

from gangopt.solvers.contract import Controls
from gangopt.solvers.exact.network_placement_bounds import Reduced
from gangopt.solvers.exact.network_placement_packing import Packer, Packing

__all__ = ["improve"]

_ROUNDS = 200
_TARGETS = 50
_KICKS = 20


def improve(packer: Packer, reduced: Reduced, best: Packing, low: float, controls: Controls) -> Packing:
    """Move or swap servers of the most loaded machine while that lowers the largest load; then disturb and repeat.

    After every exchange the worker counts are the best ones for the new hosts. A disturbance moves three servers to
    machines drawn with the seed of the call.

    Parameters
    ----------
    packer : worker counts for given hosts
    reduced : machines and job
    best : the placement to improve
    low : a level that cannot be beaten, in model sizes
    controls : time and seed

    Returns
    -------
    Packing
        At least as good as the one given.
    """
    generator = np.random.default_rng(controls.seed)
    current = _descend(packer, reduced, best, low, controls)
    best = current
    for _ in range(_KICKS):
        if best.level <= low or controls.remaining() == 0:
            break
        hosts = best.hosts.copy()
        moved = generator.choice(len(hosts), size=min(3, len(hosts)), replace=False)
        hosts[moved] = generator.integers(len(reduced.traffic), size=len(moved))
        kicked = packer.with_best_workers(hosts)
        if kicked is not None:
            current = _descend(packer, reduced, kicked, low, controls)
            best = min(best, current, key=lambda item: item.level)
    return best


def _descend(packer: Packer, reduced: Reduced, current: Packing, low: float, controls: Controls) -> Packing:
    for _ in range(_ROUNDS):
        if current.level <= low or controls.remaining() == 0:
            break
        found = _step(packer, reduced, current)
        if found is None:
            break
        current = found
    return current


def _step(packer: Packer, reduced: Reduced, current: Packing) -> Packing | None:
    """Return the first better placement among the exchanges of the most loaded machine's servers, or None."""
    held = np.bincount(current.hosts, reduced.sizes, minlength=len(reduced.traffic))
    loads = reduced.traffic + current.workers + held * (reduced.workers - 2 * current.workers)
    worst = int(np.argmax(loads))
    by_load = np.argsort(loads, kind="stable")[:_TARGETS].tolist()
    for server in np.flatnonzero(current.hosts == worst).tolist():
        for machine in by_load:
            if machine == worst:
                continue
            found = _exchanged(packer, current, {server: machine})
            if found is not None:
                return found
        for other in range(len(reduced.sizes)):
            if reduced.sizes[other] < reduced.sizes[server] and current.hosts[other] != worst:
                found = _exchanged(packer, current, {server: int(current.hosts[other]), other: worst})
                if found is not None:
                    return found
    return None


def _exchanged(packer: Packer, current: Packing, hosts: dict[int, int]) -> Packing | None:
    changed = current.hosts.copy()
    changed[list(hosts)] = list(hosts.values())
    found = packer.with_best_workers(changed)
    return found if found is not None and found.level < current.level * (1 - 1e-12) else None
