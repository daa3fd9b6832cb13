"""Rows that exclude selections already seen, to enumerate near-optimal selections one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Exclusion", "Seen"]


@dataclass(frozen=True)
class Seen:
    """A selection, by kinds of columns whose exchange does not change the product.

    Attributes
    ----------
    kinds : tuple of tuple of tuple of int and int
        For each kind, the positions of its usable columns, the number used, and the maximum number.
    """

    kinds: tuple[tuple[tuple[int, ...], int, int], ...]


@dataclass(frozen=True, eq=False)
class Exclusion:
    r"""Rows for selections that use equally many columns in all.

    Another such selection, of another product, uses the columns of some kind k more often than the one seen, so

    .. math:: \sum_k w_k \ge 1, \qquad \sum_{j \in k} x_j \ge (\hat x_k + 1)\, w_k

    with w binary; where a kind was not used, w is the sum of x itself.

    Attributes
    ----------
    matrix : object
        Rows over the columns of the model followed by the w, sparse.
    lower : ndarray of float
        Lower sides.
    switches : int
        Number of the w.
    """

    matrix: Any
    lower: NDArray[np.float64]
    switches: int

    @classmethod
    def of(cls, seen: Sequence[Seen], columns: int) -> Exclusion:
        """Return the rows for selections of a model with so many columns."""
        from scipy.sparse import coo_matrix

        entries: list[tuple[int, int, float]] = []
        lower: list[float] = []
        switches = 0
        for selection in seen:
            some = len(lower)
            lower.append(1.0)
            for positions, used, most in selection.kinds:
                if used >= most:
                    continue
                if not used:
                    entries += [(some, j, 1.0) for j in positions]
                    continue
                switch = columns + switches
                switches += 1
                entries += [(len(lower), j, 1.0) for j in positions]
                entries += [(some, switch, 1.0), (len(lower), switch, -(used + 1.0))]
                lower.append(0.0)
        rows, at, values = zip(*entries, strict=True) if entries else ((), (), ())
        matrix = coo_matrix((values, (rows, at)), shape=(len(lower), columns + switches)).tocsc()
        return cls(matrix, np.array(lower), switches)
