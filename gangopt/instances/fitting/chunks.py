"""Assignment of training-data chunks to workers after their number has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gangopt.base.errors import InputError

__all__ = ["ChunkAssignment", "reassign_chunks"]


@dataclass(frozen=True)
class ChunkAssignment:
    """Owner of every data chunk.

    Attributes
    ----------
    owners : tuple of int
        Worker of each chunk, shape (C,).
    moved : tuple of int
        Chunks with a new owner, ascending.
    """

    owners: tuple[int, ...]
    moved: tuple[int, ...]

    def chunks_of(self, worker: int) -> tuple[int, ...]:
        """Return the chunks of a worker, ascending."""
        return tuple(chunk for chunk, owner in enumerate(self.owners) if owner == worker)


def reassign_chunks(owners: Sequence[int | None], workers: Sequence[int]) -> ChunkAssignment:
    r"""Assign chunks of equal size evenly to the current workers and move as few as possible.

    With C chunks and w workers, :math:`C \bmod w` workers get :math:`\lceil C/w \rceil` chunks and the others
    :math:`\lfloor C/w \rfloor`. The larger shares go to the workers with the most chunks, in case of ties to
    the first in `workers`. A worker keeps its lowest chunks up to its share. The other chunks (of former workers,
    without owner, or above a share) are assigned round robin in ascending order to workers whose share is not full.

    No other even assignment moves fewer chunks: a worker keeps at most the minimum of its chunks and its share, and the
    larger shares go to those that can keep one more chunk.

    Parameters
    ----------
    owners : sequence of int or None
        Current worker of each chunk, or None; shape (C,).
    workers : sequence of int
        Workers that run now, at least one, without duplicates.

    Raises
    ------
    InputError
        If there are no workers or duplicates.

    References
    ----------
    Optimus (EuroSys'18), section 5.1.
    """
    if not workers:
        raise InputError("workers must not be empty")
    repeated = [worker for worker, times in Counter(workers).items() if times > 1]
    if repeated:
        raise InputError(f"workers: duplicate worker {repeated[0]}")
    shares = _shares(owners, workers)
    dealt: list[int | None] = []
    for owner in owners:
        keeps = owner is not None and shares.get(owner, 0) > 0
        dealt.append(owner if keeps else None)
        if owner is not None and keeps:
            shares[owner] -= 1
    queue = _round_robin(shares, workers)
    result = tuple(queue.pop() if owner is None else owner for owner in dealt)
    moved = tuple(chunk for chunk, owner in enumerate(result) if owner != owners[chunk])
    return ChunkAssignment(result, moved)


def _shares(owners: Sequence[int | None], workers: Sequence[int]) -> dict[int, int]:
    held = Counter(owner for owner in owners if owner is not None)
    low, larger = divmod(len(owners), len(workers))
    # sorted() is stable, so ties keep the given order
    favoured = sorted(workers, key=lambda worker: -held[worker])[:larger]
    shares = dict.fromkeys(workers, low)
    for worker in favoured:
        shares[worker] += 1
    return shares


def _round_robin(room: dict[int, int], workers: Sequence[int]) -> list[int]:
    """Return the receivers of the remaining chunks in reverse order."""
    queue = [(turn, place, worker) for place, worker in enumerate(workers) for turn in range(room[worker])]
    return [worker for _, _, worker in sorted(queue, reverse=True)]
