"""The path from a linear Pyomo model to HiGHS and back.

`solve_model` solves any linear ConcreteModel or Block. Its parts are public, too: `compile_model` reads a model into
`LinearArrays`, `Session` holds arrays in HiGHS for repeated solves, `load_values` writes a solution back.
Importing the package registers the solver `gangopt_highs` with Pyomo's SolverFactory.
"""

from __future__ import annotations

from gangopt.solvers.highs import plugin as plugin
from gangopt.solvers.highs.arrays import LinearArrays
from gangopt.solvers.highs.compiler import compile_model
from gangopt.solvers.highs.records import Progress, SolverOutcome, SolveSettings
from gangopt.solvers.highs.session import Session, load_values, solve_arrays, solve_model

__all__ = [
    "LinearArrays",
    "Progress",
    "Session",
    "SolveSettings",
    "SolverOutcome",
    "compile_model",
    "load_values",
    "solve_arrays",
    "solve_model",
]
