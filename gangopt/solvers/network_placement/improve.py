"""Local search that lowers the largest load of a placement."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from gangopt.solvers.core.clock import OutOfTime
from gangopt.solvers.network_placement.bounds import Reduced
from gangopt.solvers.network_placement.packing import Packer, Packing

__all__ = ["improve"]

_TRIES = 4000
"""Exchanges tried in one call: a count, not a time, so that results are reproducible."""

_TARGETS = 50
"""Least loaded machines to which a server is moved."""


def improve(packer: Packer, reduced: Reduced, best: Packing, low: float, seed: int = 0) -> Packing:
    """Move or swap servers of the most loaded machine while that lowers the largest load; then perturb and repeat.

    After every exchange the worker counts are optimal for the new hosts. A perturbation moves three servers to random
    machines.

    Parameters
    ----------
    packer : Packer
        Worker counts for given hosts; if its clock expires, the search ends with the best placement so far.
    reduced : Reduced
        Machines and job.
    best : Packing
        The placement to improve.
    low : float
        A lower bound, in model sizes.
    seed : int, optional
        Seed of the perturbations.

    Returns
    -------
    Packing
        At least as good as the one given.
    """
    search = _Search(packer, reduced, best, low)
    generator = np.random.default_rng(seed)
    with contextlib.suppress(OutOfTime):
        search.descend(best)
        while search.best.level > low and search.goes_on():
            hosts = search.best.hosts.copy()
            moved = generator.choice(len(hosts), size=min(3, len(hosts)), replace=False)
            hosts[moved] = generator.integers(len(reduced.traffic), size=len(moved))
            kicked = search.evaluated(hosts)
            if kicked is not None:
                search.descend(kicked)
    return search.best


class _Search:
    """Count the exchanges tried, and keep the best placement."""

    def __init__(self, packer: Packer, reduced: Reduced, best: Packing, low: float) -> None:
        self._packer, self._reduced, self._low = packer, reduced, low
        self._tries = 0
        self.best = best

    def goes_on(self) -> bool:
        """Return whether more exchanges may be tried."""
        return self._tries < _TRIES

    def evaluated(self, hosts: np.ndarray) -> Packing | None:
        """Return the best placement with these hosts, and count the exchange."""
        self._tries += 1
        found = self._packer.with_best_workers(hosts)
        if found is not None and found.level < self.best.level:
            self.best = found
        return found

    def descend(self, current: Packing) -> None:
        """Exchange until no exchange improves the placement."""
        while current.level > self._low and self.goes_on():
            found = self._step(current)
            if found is None:
                break
            current = found

    def _step(self, current: Packing) -> Packing | None:
        """Return the first better placement among the exchanges of the most loaded machine's servers, or None."""
        for hosts in self._exchanges(current):
            if not self.goes_on():
                return None
            found = self.evaluated(hosts)
            if found is not None and found.level < current.level * (1 - 1e-12):
                return found
        return None

    def _exchanges(self, current: Packing) -> Iterator[np.ndarray]:
        """Yield new hosts: moves to the least loaded machines, then swaps with smaller servers elsewhere."""
        reduced = self._reduced
        held = np.bincount(current.hosts, reduced.sizes, minlength=len(reduced.traffic))
        loads = reduced.traffic + current.workers + held * (reduced.workers - 2 * current.workers)
        worst = int(np.argmax(loads))
        for server in np.flatnonzero(current.hosts == worst).tolist():
            size = float(reduced.sizes[server])
            # with at most half a model, a machine's load is smallest without workers: skip if even that is too much
            least = reduced.traffic + reduced.workers * (held + size)
            open_to = (least < current.level) | (held + size > 0.5)
            open_to[worst] = False
            targets = np.flatnonzero(open_to)
            for machine in targets[np.argsort(loads[targets], kind="stable")][:_TARGETS].tolist():
                yield _changed(current, {server: machine})
            for other in np.flatnonzero((reduced.sizes < size) & (current.hosts != worst)).tolist():
                host, gain = int(current.hosts[other]), size - float(reduced.sizes[other])
                after = held[host] + gain
                if after > 0.5 or reduced.traffic[host] + reduced.workers * after < current.level:
                    yield _changed(current, {server: host, other: worst})


def _changed(current: Packing, hosts: dict[int, int]) -> np.ndarray:
    changed = current.hosts.copy()
    changed[list(hosts)] = list(hosts.values())
    return changed
