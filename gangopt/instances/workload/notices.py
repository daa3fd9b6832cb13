"""What a reader found odd in a log: named warnings with counts, and errors that a lenient reading only counts."""

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
        What was found, as `unsorted-arrivals`.
    count : int
        Rows it concerns.
    message : str
        One line for people.
    dropped : bool
        Whether these rows were left out.
    """

    name: str
    count: int
    message: str
    dropped: bool = False


class Tally:
    """The findings of one reading.

    Parameters
    ----------
    origin : str
        What messages call the file.
    lenient : bool, optional
        Count defective rows and leave them out instead of raising.
    """

    def __init__(self, origin: str, lenient: bool = False) -> None:
        self.origin = origin
        self.lenient = lenient
        self._found: dict[tuple[str, bool], Notice] = {}

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Findings in the order in which they were made, one of a name."""
        return tuple(self._found.values())

    def warn(self, name: str, count: int, message: str, dropped: bool = False) -> None:
        """Add a warning; a second one of the name adds its count. A count of 0 is no finding."""
        if count:
            known = self._found.get((name, dropped))
            total = count + (known.count if known else 0)
            self._found[name, dropped] = Notice(name, total, known.message if known else message, dropped)

    def refuse(self, name: str, count: int, message: str) -> None:
        """Count rows that a lenient reading leaves out.

        Raises
        ------
        InputError
            If the reading is not lenient and the count is not 0; `message` names the first row.
        """
        if count and not self.lenient:
            raise InputError(f"{self.origin}: {message} ({name}: {count}; a lenient reading leaves such rows out)")
        self.warn(name, count, message, dropped=True)
