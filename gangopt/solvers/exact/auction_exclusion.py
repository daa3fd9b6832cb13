"""Rows that exclude selections already seen, so that what is nearly as good can be found one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Exclusion", "Seen"]


@dataclass(frozen=True)
class Seen:
    """A selection: for each column that may be used, its position, how often it was used, and how often it could be."""

    columns: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, eq=False)
class Exclusion:
    r"""Rows for selections that use equally many columns in all.

    Another such selection uses some column more often than the one seen, so

    .. math:: \sum_j w_j \ge 1, \qquad x_j \ge (\hat x_j + 1)\, w_j

    with w binary; where a column is used at most once and was not used, w is x itself.

    Attributes
    ----------
    matrix : rows over the columns of the model and then the w, sparse
    lower : lower sides
    switches : number of the w
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
            for j, used, most in selection.columns:
                if used >= most:
                    continue
                if most == 1:
                    entries.append((some, j, 1.0))
                    continue
                switch = columns + switches
                switches += 1
                entries += [(some, switch, 1.0), (len(lower), j, 1.0), (len(lower), switch, -(used + 1.0))]
                lower.append(0.0)
        rows, at, values = zip(*entries, strict=True) if entries else ((), (), ())
        matrix = coo_matrix((values, (rows, at)), shape=(len(lower), columns + switches)).tocsc()
        return cls(matrix, np.array(lower), switches)
