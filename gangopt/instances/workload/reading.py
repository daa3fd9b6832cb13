"""What readers of logs share: what they are given, what they return, and the checks on the whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gangopt.base.errors import InputError
from gangopt.instances.networks.models import MODELS
from gangopt.instances.workload.columns import COLUMNS
from gangopt.instances.workload.notices import Tally
from gangopt.instances.workload.rows import Rows, header_of, read_rows
from gangopt.instances.workload.shown import shown
from gangopt.instances.workload.signs import runs_with_duration
from gangopt.instances.workload.workload import Workload

if TYPE_CHECKING:
    import polars as pl

    from gangopt.topology import Cluster

__all__ = ["Draft", "Format", "Source", "finish", "table_of"]

_MARKS = "[-_. ]"


@dataclass(frozen=True)
class Source:
    """A file that is being read, with what the caller gave for it.

    Attributes
    ----------
    path : Path
        The file.
    data : bytes
        Its bytes, line ends and byte-order mark normalised.
    tally : Tally
        Collects what is found.
    cluster : Cluster or None
        The cluster that the jobs have to fit, or None.
    throughputs : Path or None
        File of measured speeds for formats that tell steps and no seconds, or None.
    gpu_type : str or None
        GPU type to look up in it.
    """

    path: Path
    data: bytes
    tally: Tally
    cluster: Cluster | None = None
    throughputs: Path | None = None
    gpu_type: str | None = None

    @property
    def stem(self) -> str:
        """Name of the file without its folder and endings, that of gzip beside its own."""
        return Path(self.path.name.removesuffix(".gz")).stem


@dataclass(frozen=True)
class Draft:
    """What a reader makes of a file: rows, and an expression over them for each column of the workload."""

    rows: Rows
    columns: Mapping[str, pl.Expr]
    description: str
    models: frozenset[str] | None = None
    """Models that the format's own tools know; None accepts every name."""


@dataclass(frozen=True)
class Format:
    """One format of job logs.

    Attributes
    ----------
    name : str
        What `--format` calls it.
    summary : str
        One line.
    module : str
        Defines `read(source) -> Draft`.
    required, optional : tuple of str
        Column names of the header; a file has the format if it has all the required ones.
    fields : tuple of int
        Numbers of fields of a file without a header line.
    separator : str
        One character.
    """

    name: str
    summary: str
    module: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    fields: tuple[int, ...] = ()
    separator: str = ","


def table_of(source: Source, form: Format) -> Rows:
    """Return the rows of a file with a header line, columns of other names reported.

    Raises
    ------
    InputError
        If a required column is missing, or as `read_rows`.
    """
    header = header_of(source.data, form.separator)
    missing = [name for name in form.required if name not in header]
    if missing:
        raise InputError(
            f"{source.tally.origin}: column {missing[0]} is missing; format {form.name} has {', '.join(form.required)}"
        )
    rows = read_rows(source.data, source.tally, separator=form.separator, quoted=True)
    rows.ignore_others((*form.required, *form.optional))
    return rows


def finish(draft: Draft, source: Source, form: Format) -> Workload:
    """Return the workload of a draft, checked as a whole.

    Raises
    ------
    InputError
        In a strict reading, if an id stands twice; always, if no job is left.
    """
    rows = Rows(draft.rows.frame.select("line", **draft.columns), source.tally, draft.rows.unit)
    rows.refuse(
        "duplicate-ids",
        ~rows.frame["id"].is_first_distinct(),
        lambda row: f"id {shown(row['id'])} stands on an earlier {rows.unit} too",
    )
    if not rows.frame.height:
        raise InputError(f"{source.tally.origin}: no job is left of those in the file{_causes(source.tally)}")
    if draft.models is not None and "model" in rows.frame.columns:
        _warn_models(rows, draft.models)
    if form.module:
        rows.frame = _marked(rows.frame)
    _warn_order(rows)
    try:
        return Workload.from_columns(
            {name: rows.frame[name] for name in COLUMNS if name in rows.frame.columns},
            name=source.stem,
            description=draft.description,
            source=f"file {source.path.name}, format {form.name}",
            notices=source.tally.notices,
        )
    except InputError as error:
        raise InputError(f"{source.tally.origin}: {error}") from None


def _causes(tally: Tally) -> str:
    found = ", ".join(f"{item.name} {item.count}" for item in tally.notices if item.dropped)
    return f" ({found})" if found else ""


def _warn_models(rows: Rows, known: frozenset[str]) -> None:
    """Report models that neither the format's tools nor this one know; `ResNet-50` is `resnet50`."""
    plain = rows.frame["model"].str.to_lowercase().str.replace_all(_MARKS, "")
    names_known = {re.sub(_MARKS, "", name.lower()) for name in (*known, *MODELS)}
    strange = plain.is_not_null() & ~plain.is_in(sorted(names_known))
    names = rows.frame["model"].filter(strange).unique().sort().to_list()
    rows.warn(
        "unknown-models", strange, lambda _: f"models that the format's tools do not know: {', '.join(names[:8])}"
    )


def _marked(frame: pl.DataFrame) -> pl.DataFrame:
    """Mark the durations of jobs that the log calls running as lower limits, unless its reader has marked them."""
    if "censored" in frame.columns or not {"status", "duration"} <= set(frame.columns):
        return frame
    return frame.with_columns(runs_with_duration(frame).alias("censored"))


def _warn_order(rows: Rows) -> None:
    arrival = rows.frame["arrival"]
    rows.warn(
        "unsorted-arrivals",
        arrival.diff() < 0,
        lambda row: f"arrival {row['arrival']:.15g} s is before the row above; the jobs are sorted by arrival",
    )
    rows.warn(
        "equal-arrivals",
        ~arrival.is_first_distinct(),
        lambda row: f"another job arrives at {row['arrival']:.15g} s too; such jobs keep the order of the file",
    )
