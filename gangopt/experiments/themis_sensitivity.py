"""Effect of the fairness knob f and the lease on the fairness and efficiency of THEMIS's rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gangopt.base.checks import integer
from gangopt.experiments.themis_runs import DEMANDS, Workload, measures, run
from gangopt.reporting.experiment import ExperimentTable
from gangopt.solvers.themis.rounds import RoundSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KNOBS", "LEASES", "picture", "themis_sensitivity"]

KNOBS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Values of f: the share 1 - f of apps with the largest rho bids."""

LEASES = (5.0, 10.0, 20.0, 40.0)
"""Lengths of the leases, minutes."""

PAPER: Mapping[float, tuple[tuple[float, ...], tuple[float, ...]]] = {
    5.0: (
        (9.3, 6.3, 6.3, 5.2, 5.1, 3.9, 4.0, 3.4, 1.8, 1.8, 2.7),
        (2085, 2100, 2095, 2105, 2105, 2130, 2148, 2195, 2253, 2415, 2525),
    ),
    10.0: (
        (9.8, 6.3, 5.7, 5.9, 5.1, 4.7, 4.6, 4.3, 2.3, 2.6, 4.0),
        (2085, 2095, 2095, 2105, 2105, 2105, 2130, 2183, 2218, 2348, 2570),
    ),
    20.0: (
        (9.8, 6.4, 6.6, 6.1, 6.0, 5.4, 4.1, 4.2, 3.8, 3.8, 4.8),
        (2080, 2100, 2090, 2110, 2110, 2118, 2130, 2098, 2203, 2265, 2578),
    ),
    40.0: (
        (10.2, 6.6, 5.9, 5.8, 4.8, 4.2, 4.1, 4.3, 4.2, 3.9, 4.8),
        (2088, 2102, 2098, 2102, 2098, 2112, 2132, 2137, 2160, 2265, 2672),
    ),
}
"""Largest rho and GPU-hours at f = 0, 0.1, ..., 1 by lease, read off the curves of figure 19 to 0.1 and 15 h."""

COLUMNS = {
    "f": "",
    "lease": "min",
    "max rho": "",
    "mean rho": "",
    "jain": "",
    "mean JCT": "h",
    "GPU time": "h",
    "rounds": "",
    "runs": "",
    "paper max rho": "",
    "paper GPU time": "h",
}


def themis_sensitivity(
    knobs: Sequence[float] = KNOBS,
    leases: Sequence[float] = LEASES,
    workload: Workload | None = None,
    *,
    seeds: int = 1,
) -> ExperimentTable:
    """Run workloads to completion for every pair of f and lease.

    Parameters
    ----------
    knobs : sequence of float, optional
        Values of the fairness knob f, from 0 to 1.
    leases : sequence of float, optional
        Lengths of the leases, in minutes.
    workload : Workload or None, optional
        Apps and their cluster (default: those of `Workload`).
    seeds : int, optional
        Number of random workloads to average.

    Raises
    ------
    InputError
        If a value is out of range.

    References
    ----------
    THEMIS (NSDI'20), section 6.4 of the paper and figure 19.
    """
    workload = Workload() if workload is None else workload
    integer("seeds", seeds, 1, 1000)
    settings = [RoundSettings(fairness=f, lease=60.0 * lease) for lease in leases for f in knobs]
    rows: list[dict[str, Any]] = []
    for setting in settings:
        runs = [run(workload, setting, seed) for seed in range(seeds)]
        found = measures(runs, workload, range(seeds))
        own = {"f": setting.fairness, "lease": setting.lease / 60.0, **found, "runs": seeds}
        rows.append(own | _paper(setting.fairness, setting.lease / 60.0))
    return ExperimentTable(
        "themis-sensitivity",
        f"f and the lease: {workload.apps} apps on {workload.cluster}",
        COLUMNS,
        tuple(rows),
        _notes(workload),
    )


def _paper(fairness: float, lease: float) -> dict[str, float | None]:
    """Return the values of figure 19 at f and a lease in minutes, None where it has no point."""
    rho, hours = PAPER.get(lease, ((), ()))
    step = round(10 * fairness)
    known = bool(rho) and abs(10 * fairness - step) < 1e-9
    return {"paper max rho": rho[step] if known else None, "paper GPU time": hours[step] if known else None}


def _demands() -> str:
    return f"{', '.join(map(str, DEMANDS[:-1]))} or {DEMANDS[-1]}"


def _notes(workload: Workload) -> tuple[str, ...]:
    return (
        f"single-job apps, one every {workload.gap:g} min on average, median {workload.hours:g} GPU-hours;",
        f"  {workload.intensive:.0%} have slowdowns 1, 1.1 and 1.3, the others none; demands of {_demands()} GPUs",
        f"every change of an app's GPUs costs {workload.restart:g} s; rounding floor",
        "rho: of each app at its end, by equation 1 with the time-weighted number of apps present",
        "GPU time: GPUs leased until their app ended, including lost progress and slowdowns",
        "paper: figure 19 of THEMIS (NSDI'20), read off its curves to 0.1 in rho and 15 h;",
        "  the workload is not published: compare shapes, not heights",
    )


def picture(table: ExperimentTable) -> Figure:
    """Plot the largest rho and the GPU time over f, one line per lease.

    Parameters
    ----------
    table : ExperimentTable
        Result of `themis_sensitivity`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, column, label in zip(panels, ("max rho", "GPU time"), ("max rho", "GPU time (h)"), strict=True):
        for lease in dict.fromkeys(row["lease"] for row in table.rows):
            rows = [row for row in table.rows if row["lease"] == lease]
            axes.plot([row["f"] for row in rows], [row[column] for row in rows], marker="o", label=f"{lease:g} min")
        axes.set_xlabel("f")
        axes.set_ylabel(label)
    panels[0].legend(frameon=False, title="lease")
    return figure
