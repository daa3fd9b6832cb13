"""The text and the HTML report of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangopt.instances.workload.summary import summarise
from gangopt.instances.workload.text import notice_lines, summary_text
from gangopt.reporting import page

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload

__all__ = ["workload_report", "workload_text"]


def workload_text(workload: Workload) -> str:
    """Return the summary and the notices of a workload as lines of text.

    Parameters
    ----------
    workload : Workload
        The workload.
    """
    return "\n".join([summary_text(summarise(workload)), *notice_lines(workload.notices)])


def workload_report(workload: Workload, cluster_gpus: int | None = None) -> str:
    """Return a self-contained HTML page of a workload's summary, notices and plot.

    Parameters
    ----------
    workload : Workload
        Workload with at least one job.
    cluster_gpus : int or None, optional
        Number of GPUs of a cluster to compare the demand with.

    Returns
    -------
    str
        The page.
    """
    from gangopt.reporting.workload_plots import workload_chart

    return page.page(
        "gangopt workload",
        page.heading(workload.name or "workload"),
        page.preformatted(summary_text(summarise(workload), cluster_gpus)),
        *map(page.paragraph, notice_lines(workload.notices)),
        page.figure(workload_chart(workload, cluster_gpus)),
    )
