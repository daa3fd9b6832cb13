"""A contest of policies as text, JSON and files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.base.suffixes import check_suffix
from gangopt.reporting import page
from gangopt.reporting.plots import PICTURE_SUFFIXES
from gangopt.reporting.text import Table, format_fixed, format_gap, format_number, render

if TYPE_CHECKING:
    import polars as pl

    from gangopt.replays.contest import Contest

__all__ = ["OUTPUT_SUFFIXES", "check_output_suffix", "contest_json", "contest_text", "write_contest"]

OUTPUT_SUFFIXES = (".parquet", ".csv", ".json", ".html", *PICTURE_SUFFIXES)
"""Suffixes of the files that a contest can be written to."""

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
    """Return a contest without its jobs and events as a JSON object.

    Returns
    -------
    dict
        `policies` (the rows of the contest, each with its `bins`), `workload`, `cluster`, `gpus`, `jobs`,
        `jct_bounds` (mean completion time in s by each computed bound), `notices` (of the reader, and of requests of
        jobs that replays ignore) and `interrupted`.
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
    """Return a table with one row for each policy, the bound, and the reasons why policies were not replayed."""
    reasons = "\n".join(_reasons(contest))
    return "\n\n".join([*_partial(contest), render(_table(contest)), *_bound_line(contest), *filter(None, [reasons])])


def _bound_line(contest: Contest) -> list[str]:
    bound = contest.bound
    if bound is None:
        return []
    proof = f"{bound.name.replace('_', ' ')}, proven in {bound.seconds:.2f} s"
    return [f"no scheduler of fixed gangs has a mean JCT below {format_number(bound.mean)} s ({proof})"]


def _partial(contest: Contest) -> list[str]:
    if not contest.interrupted:
        return []
    missing = contest.missing
    left = f"{len(missing)} of {len(contest.asked)} policies not finished"
    return [f"PARTIAL: interrupted by Ctrl-C, {left}" + (f": {', '.join(missing)}" if missing else "")]


def _reasons(contest: Contest) -> list[str]:
    return [f"{entry.policy} was not replayed: {entry.reason}" for entry in contest.entries if entry.replay is None]


def _table(contest: Contest) -> Table:
    table = Table({"policy": "left", **dict.fromkeys(_COLUMNS.values(), "right")})
    for row in contest.rows():
        if row["reason"] is None:
            table.add_row(row["policy"], *(_cell(name, row[name]) for name in _COLUMNS))
    return table


_DECIMALS = {"improvement": 2, "max_rho": 2, "seconds": 2, "jain": 3}
"""Decimals by column; other columns have one."""


def _cell(name: str, value: float | None) -> str:
    if name == "jct_gap":
        return format_gap(value, rounding=1e-9)
    return format_number(value) if isinstance(value, int) else format_fixed(value, _DECIMALS.get(name, 1))


def check_output_suffix(path: Path) -> str:
    """Return the suffix of an output file of a contest.

    Raises
    ------
    InputError
        If contests cannot be written in this format.
    """
    return check_suffix(path, OUTPUT_SUFFIXES)


def write_contest(contest: Contest, path: Path) -> None:
    """Write a contest; a write that fails leaves no file behind.

    Parameters
    ----------
    contest : Contest
        Contest with at least one replayed policy.
    path : Path
        `.parquet` holds the events of all policies, `.csv` their jobs, `.json` all metrics and bins, `.html` tables
        and plots, `.png`, `.svg` or `.pdf` the plots.

    Raises
    ------
    InputError
        If the path has another suffix or cannot be written.
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
        from gangopt.reporting.plots import save_picture
        from gangopt.reporting.replay_plots import contest_chart

        save_picture(contest_chart(contest), path)


def _events(contest: Contest) -> pl.DataFrame:
    return _stacked({entry.policy: entry.replay.events() for entry in contest.entries if entry.replay is not None})


def _jobs(contest: Contest) -> pl.DataFrame:
    return _stacked({entry.policy: entry.replay.jobs() for entry in contest.entries if entry.replay is not None})


def _stacked(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat([frame.select(pl.lit(name).alias("policy"), pl.all()) for name, frame in frames.items()])


def _page(contest: Contest) -> str:
    from gangopt.instances.workload.text import notice_lines
    from gangopt.reporting.replay_plots import contest_chart

    notes = [*_partial(contest), *_bound_line(contest), *_reasons(contest), *notice_lines(contest.notices)]
    return page.page(
        "gangopt replay",
        page.heading(f"{contest.workload.name or 'workload'} on {contest.n_gpus:,} GPUs"),
        page.table(_table(contest)),
        *map(page.paragraph, notes),
        page.heading("Bins by size and length", 2),
        page.table(_bins(contest)),
        page.figure(contest_chart(contest)),
    )


def _bins(contest: Contest) -> Table:
    table = Table(
        {"policy": "left", **dict.fromkeys(("bin", "jobs", "mean JCT (s)", "median (s)", "p95 (s)"), "right")}
    )
    for entry in contest.entries:
        for name, item in ({} if entry.replay is None else entry.replay.bins()).items():
            table.add_row(
                entry.policy, name, *(format_number(item[key]) for key in ("jobs", "avg_jct", "median_jct", "p95_jct"))
            )
    return table
