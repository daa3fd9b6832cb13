"""Interface of the readers of job logs, and the checks of their results."""

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
    """File to read, with the options of the caller.

    Attributes
    ----------
    path : Path
        Path of the file.
    data : bytes
        Content of the file, without a byte-order mark and with line feeds as line ends.
    tally : Tally
        Collects findings.
    cluster : Cluster or None
        Cluster that must be able to run the jobs.
    throughputs : Path or None
        File of measured speeds, for formats with steps but no running times.
    gpu_type : str or None
        GPU type to select in `throughputs`.
    """

    path: Path
    data: bytes
    tally: Tally
    cluster: Cluster | None = None
    throughputs: Path | None = None
    gpu_type: str | None = None

    @property
    def stem(self) -> str:
        """Name of the file without directory and suffix; `.gz` is removed too."""
        return Path(self.path.name.removesuffix(".gz")).stem


@dataclass(frozen=True)
class Draft:
    """Result of a reader: rows, and an expression over them for each column of the workload."""

    rows: Rows
    columns: Mapping[str, pl.Expr]
    description: str
    models: frozenset[str] | None = None
    """Models that the tools of the format know; None accepts every name."""


@dataclass(frozen=True)
class Format:
    """Format of job logs.

    Attributes
    ----------
    name : str
        Name for `--format`.
    summary : str
        Summary in one line.
    module : str
        Module that defines `read(source) -> Draft`.
    required, optional : tuple of str
        Column names of the header; a file is of this format if it has all required ones.
    fields : tuple of int
        Allowed numbers of fields in files without a header.
    separator : str
        Separator of fields, one character.
    """

    name: str
    summary: str
    module: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    fields: tuple[int, ...] = ()
    separator: str = ","


def table_of(source: Source, form: Format) -> Rows:
    """Return the rows of a file with a header; unknown columns are reported.

    Raises
    ------
    InputError
        If a required column is missing or the file is invalid; see `read_rows`.
    """
    header = header_of(source.data, form.separator)
    missing = [name for name in form.required if name not in header]
    if missing:
        wanted = ", ".join(form.required)
        raise InputError(f"{source.tally.origin}: missing column {missing[0]}; format {form.name} requires {wanted}")
    rows = read_rows(source.data, source.tally, separator=form.separator, quoted=True)
    rows.ignore_others((*form.required, *form.optional))
    return rows


def finish(draft: Draft, source: Source, form: Format) -> Workload:
    """Return the workload of a draft after checks that span rows.

    Raises
    ------
    InputError
        If no job is left or, unless the reader is lenient, if there are duplicate ids.
    """
    rows = Rows(draft.rows.frame.select("line", **draft.columns), source.tally, draft.rows.unit)
    rows.refuse(
        "duplicate-ids",
        ~rows.frame["id"].is_first_distinct(),
        lambda row: f"duplicate id {shown(row['id'])}",
    )
    if not rows.frame.height:
        raise InputError(f"{source.tally.origin}: no valid jobs in the file{_causes(source.tally)}")
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
    """Report models that neither the tools of the format nor this one know; `ResNet-50` is `resnet50`."""
    plain = rows.frame["model"].str.to_lowercase().str.replace_all(_MARKS, "")
    names_known = {re.sub(_MARKS, "", name.lower()) for name in (*known, *MODELS)}
    strange = plain.is_not_null() & ~plain.is_in(sorted(names_known))
    names = rows.frame["model"].filter(strange).unique().sort().to_list()
    rows.warn("unknown-models", strange, lambda _: f"models unknown to the tools of the format: {', '.join(names[:8])}")


def _marked(frame: pl.DataFrame) -> pl.DataFrame:
    """Mark durations of running jobs as lower limits, unless the reader has marked them."""
    if "censored" in frame.columns or not {"status", "duration"} <= set(frame.columns):
        return frame
    return frame.with_columns(runs_with_duration(frame).alias("censored"))


def _warn_order(rows: Rows) -> None:
    arrival = rows.frame["arrival"]
    rows.warn(
        "unsorted-arrivals",
        arrival.diff() < 0,
        lambda row: (
            f"arrival {row['arrival']:.15g} s is earlier than that of the previous row; jobs are sorted by arrival"
        ),
    )
    rows.warn(
        "equal-arrivals",
        ~arrival.is_first_distinct(),
        lambda row: f"several jobs arrive at {row['arrival']:.15g} s; they keep the order of the file",
    )
