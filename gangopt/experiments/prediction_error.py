"""Cost of prediction errors: allocate with wrong steps and speeds, evaluate with the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer
from gangopt.base.errors import InputError
from gangopt.base.interrupts import unless_interrupted
from gangopt.base.types import Floats
from gangopt.catalogue import load
from gangopt.instances.allocation.instance import AllocationInstance
from gangopt.reporting.experiment import ExperimentTable
from gangopt.solvers.core.result import PROVEN_GAP, Result
from gangopt.solvers.solve import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ERRORS", "INSTANCES", "KINDS", "METHODS", "picture", "prediction_error", "with_error"]

INSTANCES = ("allocation/optimus-testbed", "allocation/random?jobs=50&nodes=50&seed=1")
ERRORS = (0.0, 0.15, 0.30, 0.45)
KINDS = ("steps", "speed", "both", "coefficients")
METHODS = ("optimus", "optimus?skip=true", "optimus?skip=true&priority=0.95", "exact")

COLUMNS = {
    "instance": "",
    "error in": "",
    "error": "%",
    "method": "",
    "seeds": "",
    "mean loss": "%",
    "largest loss": "%",
    "standard error": "%",
}
NOTES = (
    "loss: total completion time, with the true data, above the optimum for the true data",
    "error e: a value v becomes v (1 + e') or v (1 - e') with equal probability per job, e' = e (1 - progress)",
    "steps: remaining steps; speed: all speeds of the job alike; both: steps and speed with independent signs;",
    "  coefficients: each coefficient of the speed function, or entry of the speed table, with its own sign",
    "priority 0.95: multiplies the gains of jobs below 10 % progress",
)


def with_error(instance: AllocationInstance, kind: str, error: float, rng: np.random.Generator) -> AllocationInstance:
    """Return the jobs with prediction errors.

    A value v becomes v (1 + e') or v (1 - e') with equal probability, e' = e (1 - progress) of its job.

    Parameters
    ----------
    instance : AllocationInstance
        The true jobs.
    kind : str
        `steps`, `speed`, `both` or `coefficients`.
    error : float
        Relative error e, >= 0 and < 1.
    rng : numpy.random.Generator
        Generator of the signs, which do not depend on the error.
    """
    if kind not in KINDS:
        raise unknown("kind of error", kind, list(KINDS))
    if not 0 <= error < 1:
        raise InputError(f"error must be >= 0 and < 1 (got {error:g})")
    size = error * (1 - instance.progress)
    J = len(instance.jobs)
    steps, speed = _signs(rng, (J,)), _signs(rng, (J,))
    if kind == "coefficients":
        return _speeds(instance, 1 + size[:, None] * _signs(rng, (J, instance.theta.shape[1])), size, rng)
    wrong = instance
    if kind in {"steps", "both"}:
        wrong = replace(wrong, steps=wrong.steps * (1 + size * steps))
    if kind in {"speed", "both"}:
        # (1 + e') times the speed takes 1 / (1 + e') of the time
        wrong = _scaled(wrong, 1 + size * speed)
    return wrong


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.where(rng.random(shape) < 0.5, -1.0, 1.0)


def _scaled(instance: AllocationInstance, factor: Floats) -> AllocationInstance:
    tables = _own_tables(instance)
    at = np.flatnonzero(np.array(instance.mode) == "table").tolist()
    return replace(
        instance,
        theta=instance.theta / factor[:, None],
        tables=tuple(speeds * factor[j] for j, speeds in zip(at, tables, strict=True)),
        **_table_fields(instance, at),
    )


def _speeds(instance: AllocationInstance, factor: Floats, size: Floats, rng: np.random.Generator) -> AllocationInstance:
    at = np.flatnonzero(np.array(instance.mode) == "table").tolist()
    tables = tuple(
        speeds * (1 + size[j] * _signs(rng, speeds.shape)) for j, speeds in zip(at, _own_tables(instance), strict=True)
    )
    return replace(instance, theta=instance.theta * factor, tables=tables, **_table_fields(instance, at))


def _own_tables(instance: AllocationInstance) -> list[Floats]:
    """Return one table per job of mode table, so that jobs with a shared table get independent errors."""
    return [instance.tables[t] for t in instance.table.tolist() if t >= 0]


def _table_fields(instance: AllocationInstance, at: list[int]) -> dict[str, Any]:
    table = np.full(len(instance.jobs), -1)
    table[at] = np.arange(len(at))
    return {"table": table, "table_labels": tuple(f"table of {instance.jobs[j]}" for j in at)}


def prediction_error(
    instances: Sequence[str | AllocationInstance] = INSTANCES,
    *,
    errors: Sequence[float] = ERRORS,
    kinds: Sequence[str] = KINDS,
    methods: Sequence[str] = METHODS,
    seeds: int = 10,
    time_limit: float | None = 60.0,
) -> ExperimentTable:
    """Allocate with wrong predictions and evaluate with the true data, over several seeds.

    Parameters
    ----------
    instances : sequence of str or AllocationInstance, optional
        Instances of problem `allocation` (default: the testbed and 50 random jobs).
    errors : sequence of float, optional
        Relative errors, each >= 0 and < 1.
    kinds : sequence of str, optional
        Wrong predictions.
    methods : sequence of str, optional
        Methods of problem `allocation`.
    seeds : int, optional
        Number of random draws of the errors.
    time_limit : float or None, optional
        Wall-clock limit of each exact solve, in s.

    Raises
    ------
    InputError
        If an instance is of another problem, its optimum is not proven in time, or an argument is out of range.

    References
    ----------
    Optimus (EuroSys'18), section 6.4 of the paper, figure 15.
    """
    integer("seeds", seeds, 1, 10_000)
    rows: list[dict[str, Any]] = []
    for item in instances:
        true = load(item) if isinstance(item, str) else item
        if not isinstance(true, AllocationInstance):
            raise InputError(f"prediction-error: {true.name} must be an allocation instance (got {true.noun})")
        bound = _solved(true, "exact", time_limit).bound
        assert bound is not None
        for kind in kinds:
            for error in errors:
                rows += _rows(true, bound, kind, error, methods, seeds, time_limit)
    title = "Allocation with wrong predictions, compared with the optimum for the true data"
    return ExperimentTable("prediction-error", title, COLUMNS, tuple(rows), NOTES)


def _rows(
    true: AllocationInstance,
    bound: float,
    kind: str,
    error: float,
    methods: Sequence[str],
    seeds: int,
    time_limit: float | None,
) -> list[dict[str, Any]]:
    draws = range(seeds if error else 1)
    seen = [with_error(true, kind, error, np.random.default_rng(seed)) for seed in draws]
    rows = []
    for method in methods:
        found = [_solved(wrong, method, time_limit).solution for wrong in seen]
        losses = np.array([_loss(true.evaluate(solution).objective, bound) for solution in found])
        spread = losses.std(ddof=1) / np.sqrt(len(losses)) if len(losses) > 1 else 0.0
        rows.append(
            {
                "instance": true.name,
                "error in": kind,
                "error": 100 * error,
                "method": method,
                "seeds": len(losses),
                "mean loss": float(losses.mean()),
                "largest loss": float(losses.max()),
                "standard error": float(spread),
            }
        )
    return rows


def _solved(instance: AllocationInstance, method: str, time_limit: float | None) -> Result:
    """Return the result of a method; fail if it is interrupted or an exact one is unproven."""
    exact = method.partition("?")[0] == "exact"
    result = unless_interrupted(solve(instance, method, time_limit=time_limit if exact else None))
    if exact and result.solution_status != "optimal":
        why = "within the time limit" if result.termination == "time_limit" else f"({result.reason})"
        raise InputError(f"prediction-error: {instance.name}: optimum not proven {why}")
    return result


def _loss(objective: float, bound: float) -> float:
    """Return the percentage above the optimum; losses within the precision of a proof count as 0."""
    gap = objective / bound - 1
    return 100 * gap if gap > PROVEN_GAP else 0.0


def picture(table: ExperimentTable) -> Figure:
    """Plot the mean loss over the error, one panel per instance and kind of error.

    Parameters
    ----------
    table : ExperimentTable
        Result of `prediction_error`.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["instance"] for row in table.rows))
    kinds = list(dict.fromkeys(row["error in"] for row in table.rows))
    methods = list(dict.fromkeys(row["method"] for row in table.rows))
    figure = Figure(figsize=(3.0 * len(kinds), 2.8 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), len(kinds), squeeze=False, sharex=True)
    for line, name in zip(panels, names, strict=True):
        for axes, kind in zip(line, kinds, strict=True):
            for method in methods:
                rows = [
                    row
                    for row in table.rows
                    if (row["instance"], row["error in"], row["method"]) == (name, kind, method)
                ]
                axes.errorbar(
                    [row["error"] for row in rows],
                    [row["mean loss"] for row in rows],
                    [row["standard error"] for row in rows],
                    marker="o",
                    markersize=4,
                    label=method,
                )
            axes.grid(alpha=0.3)
        line[0].set_ylabel(f"{name.partition('/')[2]}\nmean loss (%)", fontsize="small")
    for axes, kind in zip(panels[-1], kinds, strict=True):
        axes.set_xlabel(f"error in {kind} (%)")
    panels[0][0].legend(frameon=False, fontsize="small")
    return figure
