"""What is known of other solvers: how to get them, and how their Pyomo interfaces name the settings of a solve."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["EXTERNAL_SOLVERS", "ExternalSolver"]


def _same(value: float) -> object:
    return value


def _whole_seconds(value: float) -> object:
    return max(1, math.ceil(value))


@dataclass(frozen=True)
class ExternalSolver:
    """How one solver is asked for what SolveSettings holds, in the option names of its Pyomo interface.

    Attributes
    ----------
    how_to_get : str
        One line for those who do not have it.
    time_limit, rel_gap, abs_gap, threads, seed : str or str or None
        Option names, None where the solver has no such option.
    seconds : callable
        Form of the time limit that the solver takes.
    fixed : mapping of str to object
        Options that are always given.
    reports_bound : bool
        Whether the bound that Pyomo shows is a proven one.
    refusal : str or None
        How a line of its log begins when it skips an option it does not know, None where it stops instead.
    """

    how_to_get: str
    time_limit: str
    rel_gap: str
    abs_gap: str | None = None
    threads: str | None = None
    seed: str | None = None
    seconds: Callable[[float], object] = _same
    fixed: Mapping[str, object] = field(default_factory=dict)
    reports_bound: bool = True
    refusal: str | None = None


_HIGHS = ExternalSolver("pip install highspy", "time_limit", "mip_rel_gap", "mip_abs_gap", "threads", "random_seed")
_GUROBI = ExternalSolver(
    "pip install gurobipy (large models require a licence)", "TimeLimit", "MIPGap", "MIPGapAbs", "Threads", "Seed"
)
EXTERNAL_SOLVERS: dict[str, ExternalSolver] = {
    "appsi_highs": _HIGHS,
    "highs": _HIGHS,
    "gurobi": _GUROBI,
    "gurobi_direct": _GUROBI,
    "appsi_gurobi": _GUROBI,
    "cbc": ExternalSolver(
        "apt-get install coinor-cbc, or conda install -c conda-forge coin-or-cbc",
        "sec",
        "ratioGap",
        "allowableGap",
        "threads",
        "randomCbcSeed",
        fixed={"timeMode": "elapsed"},
        refusal="No match for",
    ),
    "glpk": ExternalSolver(
        "apt-get install glpk-utils, or conda install -c conda-forge glpk",
        "tmlim",
        "mipgap",
        seconds=_whole_seconds,
        reports_bound=False,
    ),
    "scip": ExternalSolver(
        "conda install -c conda-forge scip",
        "limits/time",
        "limits/gap",
        "limits/absgap",
        seed="randomization/randomseedshift",
    ),
    "cplex": ExternalSolver(
        "IBM's installer for CPLEX, with the program cplex on the PATH (requires a licence)",
        "timelimit",
        "mip_tolerances_mipgap",
        "mip_tolerances_absmipgap",
        "threads",
        "randomseed",
    ),
}
"""Solvers whose option names are known, by their name in Pyomo's SolverFactory."""
