"""Effect of wrong estimates of work and slowdown on THEMIS's rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gangopt.base.checks import integer, number
from gangopt.experiments.themis_runs import Workload, measures, run
from gangopt.reporting.experiment import ExperimentTable
from gangopt.solvers.themis.rounds import RoundSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ERRORS", "picture", "themis_estimation_error"]

ERRORS = (0.0, 5.0, 10.0, 20.0)
"""X in percent."""

COLUMNS = {
    "X": "%",
    "max rho": "",
    "to X = 0": "%",
    "mean rho": "",
    "jain": "",
    "mean JCT": "h",
    "GPU time": "h",
    "runs": "",
}


def themis_estimation_error(
    errors: Sequence[float] = ERRORS,
    workload: Workload | None = None,
    *,
    fairness: float = 0.8,
    lease: float = 10.0,
    seeds: int = 5,
) -> ExperimentTable:
    """Run workloads to completion with agents whose estimates of work and slowdowns are wrong by up to X %.

    Parameters
    ----------
    errors : sequence of float, optional
        Largest errors X, in percent from 0 to 90; 0 is always included.
    workload : Workload or None, optional
        Apps and their cluster (default: those of `Workload`).
    fairness : float, optional
        Fairness knob f: the share 1 - f of apps with the largest rho bids.
    lease : float, optional
        Length of a lease, in minutes.
    seeds : int, optional
        Number of random workloads to average.

    Raises
    ------
    InputError
        If a value is out of range.

    References
    ----------
    THEMIS (NSDI'20), section 6.4 of the paper and figure 17: the largest rho changes by 10.76 % at X = 20 %.
    """
    workload = Workload() if workload is None else workload
    for value in errors:
        number("X", value, 0, 90, "%")
    integer("seeds", seeds, 1, 1000)
    settings = RoundSettings(fairness=fairness, lease=60.0 * lease)
    rows: list[dict[str, Any]] = []
    for error in sorted({0.0, *errors}):
        runs = [run(workload, settings, seed, error / 100.0) for seed in range(seeds)]
        found = measures(runs, workload, range(seeds))
        base = rows[0]["max rho"] if rows else found["max rho"]
        rows.append({"X": error, **found, "to X = 0": 100.0 * (found["max rho"] / base - 1.0), "runs": seeds})
    return ExperimentTable(
        "themis-estimation-error",
        f"Agents with estimates wrong by up to X %: {workload.apps} apps on {workload.cluster}",
        COLUMNS,
        tuple(rows),
        (
            f"f = {fairness:g}, leases of {lease:g} min, rounding floor; means of {seeds} workloads",
            "each app's work, and the excess of its slowdowns over 1, has one relative error drawn from -X to X",
            "rho: of each app at its end, with its true work",
            "paper: the largest rho changes by 10.76 % at X = 20 %; the workload is not published",
        ),
    )


def picture(table: ExperimentTable) -> Figure:
    """Plot the largest and the mean rho over X.

    Parameters
    ----------
    table : ExperimentTable
        Result of `themis_estimation_error`.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.6), layout="constrained")
    axes = figure.subplots()
    errors = [row["X"] for row in table.rows]
    for column, marker in (("max rho", "o"), ("mean rho", "s")):
        axes.plot(errors, [row[column] for row in table.rows], marker=marker, label=column)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("X (%)")
    axes.set_ylabel("rho")
    axes.legend(frameon=False)
    return figure
