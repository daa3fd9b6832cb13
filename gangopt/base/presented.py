"""Objects that print as a report: the text of the command line, in terminals and notebooks alike."""

from __future__ import annotations

import html
from typing import ClassVar

from gangopt.base.plugins import resolve

__all__ = ["Presented"]


class Presented:
    """Base of objects that `print` and notebooks show as the text of a report, and `repr` in one line.

    Attributes
    ----------
    report : str
        Function `module:attribute` that returns the text of an object.
    picture : str
        Function `module:attribute` that returns HTML with a picture of it for notebooks; empty for its text.
    """

    report: ClassVar[str]
    picture: ClassVar[str] = ""

    def __str__(self) -> str:
        return str(resolve(self.report)(self))

    def _repr_html_(self) -> str:
        """Return the picture for a notebook, or else the text with blanks and line ends kept."""
        return str(resolve(self.picture)(self)) if self.picture else f"<pre>{html.escape(str(self))}</pre>"
