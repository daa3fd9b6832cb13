"""Text of the summary and the notices of a workload."""

from __future__ import annotations

from gangopt.instances.workload.notices import Notice
from gangopt.instances.workload.summary import BIN_BOUNDS, Summary

__all__ = ["notice_lines", "seconds_text", "summary_text"]


def seconds_text(seconds: float) -> str:
    """Return a time with a suitable unit."""
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if abs(seconds) < limit:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 86_400:,.1f} days"


def summary_text(summary: Summary, cluster_gpus: int | None = None) -> str:
    """Return a summary as aligned lines.

    Parameters
    ----------
    summary : Summary
        Summary of a workload.
    cluster_gpus : int or None, optional
        GPUs of a cluster, for the share that the workload would use.

    Returns
    -------
    str
        Several lines without a trailing newline.
    """
    lines = [f"workload {summary.name or 'without a name'}: {summary.description}".rstrip(": ")]
    counts = [
        f"{count:,} {word}{'' if count == 1 else 's'}"
        for count, word in (
            (summary.jobs, "job"),
            (summary.apps, "app"),
            (summary.users, "user"),
            (summary.vcs, "virtual cluster"),
            (summary.models, "model"),
        )
        if count
    ]
    lines.append(f"  {', '.join(counts) or 'no jobs'}; gangs of {summary.gpus:,} GPUs together")
    if summary.first_arrival is not None and summary.last_arrival is not None:
        gap = "" if summary.mean_gap is None else f", mean gap {seconds_text(summary.mean_gap)}"
        span = seconds_text(summary.last_arrival - summary.first_arrival)
        lines.append(f"  arrivals  {summary.first_arrival:,.15g} s to {summary.last_arrival:,.15g} s ({span}){gap}")
    lines += _duration_lines(summary, cluster_gpus)
    lines += _size_lines(summary)
    lines += _bin_lines(summary)
    return "\n".join(lines)


def _duration_lines(summary: Summary, cluster_gpus: int | None) -> list[str]:
    if summary.duration_quantiles is None or summary.mean_duration is None or summary.gpu_hours is None:
        return ["  durations unknown"]
    least, low, median, high, late, most = map(seconds_text, summary.duration_quantiles)
    part = "" if summary.known_durations == summary.jobs else f" of {summary.known_durations:,} jobs"
    part += f" ({summary.censored:,} of them lower limits)" if summary.censored else ""
    mean = seconds_text(summary.mean_duration)
    lines = [
        f"  durations{part}  {least} to {most}; mean {mean}, quartiles {low}, {median}, {high}, 95 % {late}",
        f"  work      {summary.gpu_hours:,.1f} GPU hours; demand without a limit up to {summary.peak_demand:,} GPUs",
    ]
    if summary.mean_demand is not None:
        filled = (
            "" if not cluster_gpus else f", {summary.mean_demand / cluster_gpus:.0%} of the cluster's {cluster_gpus:,}"
        )
        lines.append(f"  load      {summary.mean_demand:,.1f} GPUs on average while jobs arrive{filled}")
    return lines


def _size_lines(summary: Summary) -> list[str]:
    lines = ["  GPUs      jobs   share  GPU hours"]
    for size in summary.sizes:
        hours = "unknown" if size.gpu_hours is None else f"{size.gpu_hours:,.1f}"
        lines.append(f"  {size.gpus:>4,}  {size.jobs:>8,}  {size.jobs / summary.jobs:>6.1%}  {hours:>9}")
    return lines


def _bin_lines(summary: Summary) -> list[str]:
    lines = []
    for (gpus, seconds), bins in zip(BIN_BOUNDS, summary.bins, strict=True):
        if bins:
            lines.append(f"  bins: small up to {gpus} GPUs, long from {seconds_text(seconds)}; jobs and GPU time")
            lines.append("    " + "   ".join(f"{item.name} {item.share:.1%} {item.gpu_share:.1%}" for item in bins))
    return lines


def notice_lines(notices: tuple[Notice, ...]) -> list[str]:
    """Return a line for each notice."""
    return [f"{item.name}: {item.count:,}{' skipped' if item.dropped else ''}; {item.message}" for item in notices]
