"""Which worker reads which chunk of the training data, after the number of workers has changed."""

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
        Worker that reads each chunk, shape (C,).
    moved : tuple of int
        Chunks whose owner is another than before, ascending.
    """

    owners: tuple[int, ...]
    moved: tuple[int, ...]

    def chunks_of(self, worker: int) -> tuple[int, ...]:
        """Return the chunks of a worker, ascending."""
        return tuple(chunk for chunk, owner in enumerate(self.owners) if owner == worker)


def reassign_chunks(owners: Sequence[int | None], workers: Sequence[int]) -> ChunkAssignment:
    r"""Deal chunks of equal size to the workers that run now, equal within one chunk, moving as few as possible.

    With C chunks and w workers, :math:`C \bmod w` workers get :math:`\lceil C/w \rceil` chunks and the others
    :math:`\lfloor C/w \rfloor`. The larger shares go to the workers that hold most chunks now, among equals to the
    first in `workers`. A worker keeps its lowest chunks up to its share. What remains (chunks of workers that are
    gone, of nobody, and those above a share) is dealt in ascending order round-robin: to the workers in the order
    given, one chunk each, round after round, passing by those whose share is full.

    No assignment that is equal within one chunk moves fewer: a worker keeps at most the smaller of what it holds and
    its share, and the rule gives the larger shares to those that can keep a chunk more by it.

    Parameters
    ----------
    owners : sequence of int or None
        Worker that reads each chunk now; None for a chunk of nobody, shape (C,).
    workers : sequence of int
        The workers that run now, all different, at least one.

    Raises
    ------
    InputError
        If there is no worker, or one stands twice.

    References
    ----------
    Optimus (EuroSys'18), section 5.1.
    """
    if not workers:
        raise InputError("workers: empty, at least one is needed to read the chunks")
    repeated = [worker for worker, times in Counter(workers).items() if times > 1]
    if repeated:
        raise InputError(f"workers: {repeated[0]} stands {Counter(workers)[repeated[0]]} times, once is allowed")
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
    # sorted() is stable, so that equal holders stay in the order given
    favoured = sorted(workers, key=lambda worker: -held[worker])[:larger]
    shares = dict.fromkeys(workers, low)
    for worker in favoured:
        shares[worker] += 1
    return shares


def _round_robin(room: dict[int, int], workers: Sequence[int]) -> list[int]:
    """Return the receivers of the chunks that are left, the last one first."""
    queue = [(turn, place, worker) for place, worker in enumerate(workers) for turn in range(room[worker])]
    return [worker for _, _, worker in sorted(queue, reverse=True)]
