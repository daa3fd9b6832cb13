"""Requests for parts of a cluster: GPUs, amounts and shares, checked one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._checks import shown
from gangopt.topology._cluster import Cluster

__all__ = ["PER_UNIT", "Amounts", "Shares", "amount_rows", "distinct_gpus", "millionths", "share_parts"]

PER_UNIT = 1_000_000
"""Amounts and shares are rounded to millionths of a unit, so that sums are exact and do not depend on their order."""

Amounts = Mapping[int | str, Mapping[str, float]]
"""Amount by machine (index or label) and resource, in the unit of the cluster's capacities."""

Shares = Mapping[int | str, float]
"""Fraction of a GPU (index or label), above 0 and at most 1."""


def millionths(value: float) -> int:
    """Return a number of units in millionths, rounded."""
    return round(value * PER_UNIT)


def distinct_gpus(cluster: Cluster, gpus: Iterable[int | str]) -> list[int]:
    """Return the indices of distinct GPUs given by index or label; raise InputError for an unknown or repeated one."""
    ids: list[int] = cluster.gpu_ids(gpus).tolist()
    seen: set[int] = set()
    for gpu in ids:
        if gpu in seen:
            raise InputError(f"duplicate GPU {shown(cluster.gpus[gpu])}")
        seen.add(gpu)
    return ids


def amount_rows(cluster: Cluster, amounts: Amounts | None) -> dict[int, dict[int, int]]:
    """Return the requested amounts in millionths by machine and resource index; raise InputError for a wrong one."""
    rows: dict[int, dict[int, int]] = {}
    if amounts is not None and not isinstance(amounts, Mapping):
        raise InputError(f"amounts must be a mapping from machine to amounts (got {shown(amounts)})")
    for machine, wanted in (amounts or {}).items():
        m = cluster.machine_id(machine)
        where = f"machine {shown(cluster.machines[m])}"
        if not isinstance(wanted, Mapping):
            raise InputError(f"{where}: amounts must be a mapping from resource (got {shown(wanted)})")
        row = rows.setdefault(m, {})
        for resource, value in wanted.items():
            k = _resource(cluster, resource, where)
            row[k] = row.get(k, 0) + millionths(_checks.amount(value, f"{where}: amount of {shown(resource)}"))
    return rows


def _resource(cluster: Cluster, resource: object, where: str) -> int:
    if resource == "gpu":
        raise InputError(f"{where}: GPUs must be given by index or label, not by amount")
    if resource not in cluster.resources:
        known = ", ".join(name for name in cluster.resources if name != "gpu") or "none"
        raise InputError(f"{where}: unknown resource {shown(resource)}; known: {known}")
    return cluster.resources.index(resource)


def share_parts(cluster: Cluster, shares: Shares | None) -> dict[int, int]:
    """Return the requested shares in millionths by GPU index; raise InputError for one that is out of range."""
    if shares is not None and not isinstance(shares, Mapping):
        raise InputError(f"shares must be a mapping from GPU to fraction (got {shown(shares)})")
    ids = distinct_gpus(cluster, shares or ())
    parts: dict[int, int] = {}
    for gpu, value in zip(ids, (shares or {}).values(), strict=True):
        where = f"share of GPU {shown(cluster.gpus[gpu])}"
        parts[gpu] = millionths(_checks.amount(value, where, positive=True))
        if not 0 < parts[gpu] <= PER_UNIT:
            raise InputError(f"{where} must be from 1e-6 to 1 (got {shown(value)})")
    return parts
