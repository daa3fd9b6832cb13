"""A contest as text, as a JSON document, and as files."""

from __future__ import annotations

import html
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import InputError
from gangopt.reporting.text import format_gap, format_number, render, text_table

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from gangopt.replays.contest import Contest

__all__ = ["OUTPUT_SUFFIXES", "check_output_suffix", "contest_json", "contest_text", "write_contest"]

_PICTURES = (".png", ".svg", ".pdf")
OUTPUT_SUFFIXES = (".parquet", ".csv", ".json", ".html", *_PICTURES)
"""Files that a contest is written to."""

_COLUMNS = {
    "avg_jct": "mean JCT (s)",
    "improvement": "factor",
    "jct_gap": "gap %",
    "median_jct": "median (s)",
    "p95_jct": "p95 (s)",
    "makespan": "makespan (s)",
    "avg_queueing": "queueing (s)",
    "preemptions": "preemptions",
    "max_rho": "max rho",
    "jain": "Jain",
    "seconds": "seconds",
}


def contest_json(contest: Contest) -> dict[str, Any]:
    """Return everything but the jobs and events of a contest, ready for JSON.

    Returns
    -------
    dict
        `policies` (the rows of the contest, each with its `bins`), `workload`, `cluster`, `gpus`, `jobs`,
        `jct_bounds` (mean completion time in s of each bound that was computed), `notices` (of the reader, and of
        what jobs asked for that replays ignore) and `interrupted`.
    """
    rows = contest.rows()
    for row, entry in zip(rows, contest.entries, strict=True):
        if entry.replay is not None:
            row["bins"] = entry.replay.bins()
            row["localities"] = dict(entry.replay.localities)
    return {
        "policies": rows,
        "workload": contest.workload.name,
        "cluster": contest.cluster or None,
        "gpus": contest.n_gpus,
        "jobs": len(contest.workload),
        "jct_bounds": None if contest.bound is None else dict(contest.bound.bounds),
        "notices": [vars(item) for item in (*contest.workload.notices, *contest.notices)],
        "interrupted": contest.interrupted,
    }


def contest_text(contest: Contest) -> str:
    """Return one aligned table with a line a policy, the bound below it, and why policies were not replayed."""
    lines = [*_partial(contest), render(_table(contest))]
    if contest.bound is not None:
        kind = contest.bound.name.replace("_", " ")
        lines.append(
            f"no scheduler of fixed gangs has a mean JCT below {format_number(contest.bound.mean)} s ({kind}, proven "
            f"in {contest.bound.seconds:.2f} s)"
        )
    return "\n\n".join([*lines, *_reasons(contest)])


def _partial(contest: Contest) -> list[str]:
    if not contest.interrupted:
        return []
    missing = contest.missing
    left = f"{len(missing)} of {len(contest.asked)} policies not finished"
    return [f"PARTIAL: interrupted by Ctrl-C, {left}" + (f": {', '.join(missing)}" if missing else "")]


def _reasons(contest: Contest) -> list[str]:
    reasons = [f"{entry.policy} was not replayed: {entry.reason}" for entry in contest.entries if entry.replay is None]
    return ["\n".join(reasons)] if reasons else []


def _table(contest: Contest) -> Table:
    table = text_table({"policy": "left", **dict.fromkeys(_COLUMNS.values(), "right")})
    for row in contest.rows():
        if row["reason"] is None:
            table.add_row(row["policy"], *(_cell(name, row[name]) for name in _COLUMNS))
    return table


def _cell(name: str, value: float | None) -> str:
    if name == "jct_gap":
        return format_gap(value, rounding=1e-9)
    if value is None:
        return "-"
    if name in {"improvement", "max_rho", "seconds"}:
        return f"{value:,.2f}"
    return f"{value:.3f}" if name == "jain" else f"{value:,.1f}" if isinstance(value, float) else format_number(value)


def check_output_suffix(path: Path) -> str:
    """Return the suffix of a file that a contest can be written to.

    Raises
    ------
    InputError
        If it is another.
    """
    suffix = path.suffix.lower()
    if suffix not in OUTPUT_SUFFIXES:
        raise InputError(f"{path}: suffix {suffix or 'missing'}, allowed: {', '.join(OUTPUT_SUFFIXES)}")
    return suffix


def write_contest(contest: Contest, path: Path) -> None:
    """Write a contest, whole or not at all.

    Parameters
    ----------
    contest : Contest
        At least one policy replayed.
    path : Path
        `.parquet` gets every event of every policy, `.csv` every job of every policy, `.json` all figures with the
        bins, `.html` tables and pictures, `.png`, `.svg` or `.pdf` the pictures.

    Raises
    ------
    InputError
        If the suffix is another or the file cannot be written.
    """
    from gangopt.base.jsonfile import write_bytes, write_json, write_text

    suffix = check_output_suffix(path)
    if suffix == ".json":
        write_json(path, contest_json(contest))
    elif suffix == ".parquet":
        stream = io.BytesIO()
        _events(contest).write_parquet(stream)
        write_bytes(path, stream.getvalue())
    elif suffix == ".csv":
        write_text(path, _jobs(contest).write_csv())
    elif suffix == ".html":
        write_text(path, _page(contest))
    else:
        from gangopt.reporting.gap_plots import save_picture
        from gangopt.reporting.replay_plots import contest_chart

        save_picture(contest_chart(contest), path)


def _events(contest: Contest) -> pl.DataFrame:
    return _stacked({entry.policy: entry.replay.events() for entry in contest.entries if entry.replay is not None})


def _jobs(contest: Contest) -> pl.DataFrame:
    return _stacked({entry.policy: entry.replay.jobs() for entry in contest.entries if entry.replay is not None})


def _stacked(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat([frame.select(pl.lit(name).alias("policy"), pl.all()) for name, frame in frames.items()])


_STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:84em;margin:2em auto;padding:0 1em;color:#1c2430}
table{border-collapse:collapse;margin:0 0 2em}th,td{padding:.25em .8em;border-bottom:1px solid #d8dee6;text-align:right}
th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto}"""


def _page(contest: Contest) -> str:
    from gangopt.instances.workload.text import notice_lines
    from gangopt.reporting.gap_plots import to_svg
    from gangopt.reporting.replay_plots import contest_chart

    text = contest_text(contest).split("\n\n")
    notes = [part for part in text if part.startswith(("PARTIAL", "no scheduler"))] + _reasons(contest)
    title = f"{contest.workload.name or 'workload'} on {contest.n_gpus:,} GPUs"
    parts = [f"<h1>{html.escape(title)}</h1>", _html(_table(contest))]
    parts += [f"<p>{html.escape(note)}</p>" for note in (*notes, *notice_lines(contest.notices))]
    parts += ["<h2>Bins by size and length</h2>", _html(_bins(contest)), to_svg(contest_chart(contest))]
    head = f"<meta charset='utf-8'><title>gangopt replay</title><style>{_STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def _bins(contest: Contest) -> Table:
    table = text_table(
        {"policy": "left", **dict.fromkeys(("bin", "jobs", "mean JCT (s)", "median (s)", "p95 (s)"), "right")}
    )
    for entry in contest.entries:
        for name, item in ({} if entry.replay is None else entry.replay.bins()).items():
            table.add_row(
                entry.policy, name, *(format_number(item[key]) for key in ("jobs", "avg_jct", "median_jct", "p95_jct"))
            )
    return table


def _html(table: Table) -> str:
    head = "".join(f"<th>{html.escape(str(column.header))}</th>" for column in table.columns)
    rows = zip(*(column.cells for column in table.columns), strict=True)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
