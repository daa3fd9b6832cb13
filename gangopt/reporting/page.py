"""HTML reports: a self-contained page of headings, paragraphs, tables and plots."""

from __future__ import annotations

import html
from collections.abc import Collection
from typing import TYPE_CHECKING

from gangopt.reporting.text import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure", "heading", "page", "paragraph", "preformatted", "table"]

_STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:84em;margin:2em auto;padding:0 1em;color:#1c2430}
table{border-collapse:collapse;margin:0 0 2em}th,td{padding:.25em .8em;border-bottom:1px solid #d8dee6;text-align:right}
.left{text-align:left}tr.best td{font-weight:600}svg{max-width:100%;height:auto}"""


def page(title: str, *parts: str) -> str:
    """Return a page with the given title and parts, each made by a function of this module."""
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title><style>{_STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def heading(text: str, level: int = 1) -> str:
    """Return a heading, 1 being the most prominent level."""
    return f"<h{level}>{html.escape(text)}</h{level}>"


def paragraph(text: str, *, strong: bool = False) -> str:
    """Return a paragraph."""
    inner = html.escape(text)
    return f"<p>{f'<strong>{inner}</strong>' if strong else inner}</p>"


def preformatted(text: str) -> str:
    """Return lines of text whose blanks and line ends are kept."""
    return f"<pre>{html.escape(text)}</pre>"


def table(content: Table, best: Collection[int] = ()) -> str:
    """Return a table.

    Parameters
    ----------
    content : Table
        Heads and rows.
    best : collection of int, optional
        Indices of the rows to set in bold.
    """
    marks = [" class=left" if side == "left" else "" for side in content.columns.values()]
    head = _cells("th", tuple(content.columns), marks)
    rows = (
        f"<tr{' class=best' if index in best else ''}>{_cells('td', row, marks)}</tr>"
        for index, row in enumerate(content.rows)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cells(tag: str, texts: tuple[str, ...], marks: list[str]) -> str:
    return "".join(f"<{tag}{mark}>{html.escape(text)}</{tag}>" for text, mark in zip(texts, marks, strict=True))


def figure(content: Figure) -> str:
    """Return a plot as inline SVG."""
    from gangopt.reporting.plots import to_svg

    return to_svg(content)
