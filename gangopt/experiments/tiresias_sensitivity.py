"""Figures 14 and 15 of Tiresias: sensitivity to thresholds, number of queues and promotion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.experiments.traces import Setting, Trace, bars, replays, settings, trace
from gangopt.instances.workload.workload import Workload
from gangopt.reporting.experiment import ExperimentTable
from gangopt.topology import Cluster

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PANELS", "SETTINGS", "Panel", "picture", "tiresias_sensitivity"]

SETTINGS = (Setting("workload/philly-like", 256, load=1.0, jobs=2000),)

COLUMNS = {"panel": "", "setting": "", "policy": "", "metric": "", "value": "s", "to base": "", "paper": ""}

METRICS = {"avg_jct": "mean JCT", "p95_jct": "95th JCT", "max_jct": "max JCT"}

BASE = "thresholds=3600"

NOTES = (
    "to base: relative to the same policy with 2 queues, 3,600 GPU s (1h of one GPU) and no promotion",
    "paper: figures 14 (tiresias-l) and 15 (tiresias-g) of Tiresias (NSDI'19), on an unpublished trace",
    "tiresias-g knows the service distribution of this workload",
)


@dataclass(frozen=True)
class Panel:
    """One panel of the figures.

    Attributes
    ----------
    name : str
        Varied setting.
    metrics : tuple of str
        Metrics of tiresias-l and tiresias-g.
    settings : mapping of str to tuple of str and float
        Arguments of the policy, and the paper's figures for tiresias-l and tiresias-g, by label.
    """

    name: str
    metrics: tuple[str, str]
    settings: Mapping[str, tuple[str, float, float]]


PANELS = (
    Panel(
        "threshold",
        ("avg_jct", "avg_jct"),
        {
            "0.5h": ("thresholds=1800", 1.03, 1.00),
            "1h": (BASE, 1.00, 1.00),
            "2h": ("thresholds=7200", 1.00, 1.00),
            "4h": ("thresholds=14400", 1.00, 1.00),
        },
    ),
    Panel(
        "queues",
        ("avg_jct", "avg_jct"),
        {
            "K=2: 1h": (BASE, 1.00, 1.00),
            "K=3: 1h, 2h": ("thresholds=3600+7200", 0.99, 1.00),
            "K=4: 1h, 2h, 4h": ("thresholds=3600+7200+14400", 0.99, 1.00),
        },
    ),
    Panel(
        "promoteknob",
        ("p95_jct", "max_jct"),
        {
            "off": (BASE, 1.000, 1.00),
            "8": (f"{BASE}&knob=8", 0.952, 0.65),
            "4": (f"{BASE}&knob=4", 0.947, 0.65),
            "2": (f"{BASE}&knob=2", 0.943, 0.65),
            "1": (f"{BASE}&knob=1", 0.936, 0.65),
        },
    ),
)


def tiresias_sensitivity(
    workload: Workload | str | Path | None = None,
    cluster: Cluster | str | Path | int | None = None,
    *,
    jobs: int | None = None,
    seed: int = 0,
) -> ExperimentTable:
    """Vary one setting of Tiresias-L and Tiresias-G at a time.

    Parameters
    ----------
    workload : Workload, str, Path or None, optional
        Jobs with durations (default: philly-like at load 1).
    cluster : Cluster, str, Path, int or None, optional
        Machines or a number of GPUs (default: 256 GPUs).
    jobs : int or None, optional
        Number of jobs to generate, or to keep from the start of a job log.
    seed : int, optional
        Random seed of a generated workload.

    Raises
    ------
    InputError
        If the workload or cluster is unknown or defective, or a job has no duration or is larger than the cluster.

    References
    ----------
    Tiresias (NSDI 2019), section 5.4, figures 14 and 15.
    """
    given = trace(settings(SETTINGS, workload, cluster)[0], jobs=jobs, seed=seed)
    rows = _rows(given, "tiresias-l", 0, seed) + _rows(given, "tiresias-g", 1, seed)
    title = "Completion times of Tiresias by setting"
    return ExperimentTable("tiresias-sensitivity", title, COLUMNS, tuple(rows), (given.note(), *NOTES))


def _rows(given: Trace, policy: str, which: int, seed: int) -> list[dict[str, Any]]:
    arguments = dict.fromkeys(item[0] for panel in PANELS for item in panel.settings.values())
    found, _ = replays(given, [f"{policy}?{item}" for item in arguments], seed=seed)
    rows = []
    for panel in PANELS:
        metric = panel.metrics[which]
        base = found[f"{policy}?{BASE}"].metrics[metric]
        for label, setting in panel.settings.items():
            value = found[f"{policy}?{setting[0]}"].metrics[metric]
            rows.append(
                {
                    "panel": panel.name,
                    "setting": label,
                    "policy": policy,
                    "metric": METRICS[metric],
                    "value": value,
                    "to base": value / base if value and base else None,
                    "paper": setting[1 + which],
                }
            )
    return rows


def picture(table: ExperimentTable) -> Figure:
    """Plot bars of each panel in rows of Tiresias-L and Tiresias-G, with the paper's figures as dots.

    Parameters
    ----------
    table : ExperimentTable
        Result of `tiresias_sensitivity`.
    """
    labelled = [{**row, "panel": f"{row['policy']}: {row['panel']}, {row['metric']}"} for row in table.rows]
    shown = ExperimentTable(table.name, table.title, table.columns, tuple(labelled))
    return bars(shown, "panel", "setting", {"to base": "paper"})
