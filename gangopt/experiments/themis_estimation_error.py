"""What wrong estimates of work and slowdown do to THEMIS's rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import InputError
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
    """Run workloads to completion whose agents estimate work and slowdowns wrongly by up to X %.

    Parameters
    ----------
    errors : sequence of float, optional
        X, percents from 0 to 90; 0 is always run.
    workload : Workload or None, optional
        The apps and their cluster; None for the defaults on the paper's simulator cluster.
    fairness : float, optional
        F.
    lease : float, optional
        Minutes.
    seeds : int, optional
        Workloads, with their errors, that are drawn and averaged.

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
        if not 0 <= value <= 90:
            raise InputError(f"themis-estimation-error: X = {value:g} %, 0 to 90 is allowed")
    if not 1 <= seeds <= 1000:
        raise InputError(f"themis-estimation-error: {seeds} runs, 1 to 1000 are allowed")
    settings = RoundSettings(fairness=fairness, lease=60.0 * lease)
    rows: list[dict[str, Any]] = []
    for error in sorted({0.0, *errors}):
        runs = [run(workload, settings, seed, error / 100.0) for seed in range(seeds)]
        found = measures(runs, workload, range(seeds))
        base = rows[0]["max rho"] if rows else found["max rho"]
        rows.append({"X": error, **found, "to X = 0": 100.0 * (found["max rho"] / base - 1.0), "runs": seeds})
    return ExperimentTable(
        "themis-estimation-error",
        f"Agents that are wrong by up to X %: {workload.apps} apps on {workload.cluster}",
        COLUMNS,
        tuple(rows),
        (
            f"f = {fairness:g}, leases of {lease:g} min, rounding floor; means of {seeds} workloads",
            "each app's work, and what is above 1 of its slowdowns, is wrong by a share drawn from -X to X and kept",
            "rho is of apps at their end, by what their work truly was",
            "the paper: the largest rho changes by 10.76 % at X = 20 %; its workload is not published",
        ),
    )


def picture(table: ExperimentTable) -> Figure:
    """Return the largest and the mean rho over X.

    Parameters
    ----------
    table : ExperimentTable
        Of `themis_estimation_error`.
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
