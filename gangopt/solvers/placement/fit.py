"""Tight placements by a search for exact fits."""

from __future__ import annotations

from gangopt.formulations.placement.data import PlacementData
from gangopt.formulations.placement.packing import ClassPieces
from gangopt.solvers.core.exact_fit import LOOKS, exact_fit
from gangopt.solvers.placement.neighbourhoods import Held

__all__ = ["fit_pieces", "fit_whole_jobs"]


def fit_whole_jobs(data: PlacementData) -> Held | None:
    """Place every job on a single server, where no task waits for another server.

    Parameters
    ----------
    data : PlacementData
        The instance.

    Returns
    -------
    dict
        Piece by job; None if the search found no such placement.
    """
    needs = [job.need((job.ps, job.workers)) for job in data.jobs]
    servers = [data.classes[c].capacity for c in data.class_of]
    found = exact_fit(needs, servers).bins
    if found is None:
        return None
    return {job.index: ((k, job.ps, job.workers),) for job, k in zip(data.jobs, found, strict=True)}


def fit_pieces(data: PlacementData, pieces: ClassPieces, looks: int = LOOKS) -> Held | None:
    """Pack all pieces into servers of their classes.

    Parameters
    ----------
    data : PlacementData
        The instance.
    pieces : ClassPieces
        Pieces (class, parameter servers, workers) by job.
    looks : int, optional
        Maximum items examined by the search in each class.

    Returns
    -------
    dict
        Pieces (server, parameter servers, workers) by job; None if the search found no such packing.
    """
    held: dict[int, dict[int, tuple[int, int]]] = {j: {} for j in pieces}
    for c, item in enumerate(data.classes):
        rows = [(j, x, y) for j, of_job in sorted(pieces.items()) for d, x, y in of_job if d == c]
        needs = [data.jobs[j].need((x, y)) for j, x, y in rows]
        found = exact_fit(needs, [item.capacity] * len(item.servers), looks).bins
        if found is None:
            return None
        for (j, x, y), at in zip(rows, found, strict=True):
            server = item.servers[at]
            before = held[j].get(server, (0, 0))
            held[j][server] = (before[0] + x, before[1] + y)
    return {j: tuple((k, x, y) for k, (x, y) in sorted(of_job.items())) for j, of_job in held.items()}
