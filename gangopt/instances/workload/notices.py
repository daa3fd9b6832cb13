"""Findings of a reader: named warnings with counts, and errors that a lenient reader only counts."""

from __future__ import annotations

from dataclasses import dataclass

from gangopt.base.errors import InputError

__all__ = ["Notice", "Tally"]


@dataclass(frozen=True)
class Notice:
    """A named warning about a workload.

    Attributes
    ----------
    name : str
        Name of the finding, e.g. `unsorted-arrivals`.
    count : int
        Number of affected rows.
    message : str
        Description of the first one, one line.
    dropped : bool
        Whether the rows were skipped.
    """

    name: str
    count: int
    message: str
    dropped: bool = False


class Tally:
    """Findings of one reading.

    Parameters
    ----------
    origin : str
        Name of the file in messages.
    lenient : bool, optional
        Skip and count invalid rows instead of raising.
    """

    def __init__(self, origin: str, lenient: bool = False) -> None:
        self.origin = origin
        self.lenient = lenient
        self._found: dict[tuple[str, bool], Notice] = {}

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Findings in the order of their first occurrence."""
        return tuple(self._found.values())

    def warn(self, name: str, count: int, message: str, dropped: bool = False) -> None:
        """Add a warning unless its count is 0; counts of the same name are added up."""
        if count:
            known = self._found.get((name, dropped))
            total = count + (known.count if known else 0)
            self._found[name, dropped] = Notice(name, total, known.message if known else message, dropped)

    def refuse(self, name: str, count: int, message: str) -> None:
        """Report invalid rows, which a lenient reader skips.

        Raises
        ------
        InputError
            If the reader is strict and the count is not 0; `message` describes the first row.
        """
        if count and not self.lenient:
            raise InputError(f"{self.origin}: {message} ({name}: {count}; a lenient reader skips such rows)")
        self.warn(name, count, message, dropped=True)
