"""Registry of other solvers: how to install them, and the option names of their Pyomo interfaces."""

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
    """Option names of one solver's Pyomo interface for the fields of SolveSettings.

    Attributes
    ----------
    how_to_get : str
        One line on how to install it.
    time_limit, rel_gap, abs_gap, threads, seed : str or str or None
        Option names, None if the solver has no such option.
    seconds : callable
        Converts the time limit to the solver's type.
    fixed : mapping of str to object
        Options that are always set.
    reports_bound : bool
        Whether the bound reported by Pyomo is proven.
    refusal : str or None
        Start of the log line with which it skips an unknown option, None if it stops instead.
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
"""Supported solvers by their name in Pyomo's SolverFactory."""
