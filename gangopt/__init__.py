"""Explicit optimisation models of GPU-cluster scheduling decisions, solved exactly and used to score heuristics.

`load` a named instance or a file, `solve` it by one method, `compare` many methods on many instances. Everything here
is imported when it is first used, so that `import gangopt` loads neither Pyomo nor a solver.
"""

from __future__ import annotations

# Ctrl-C is handled from the first import of the command line on, so nothing is imported before it; type checkers take
# any constant of this name as true
TYPE_CHECKING = False

from gangopt.base.version import __version__ as __version__  # noqa: E402 - see above

__all__ = [
    "Cluster",
    "Comparison",
    "GangoptError",
    "InfeasibleError",
    "InputError",
    "NoSolutionError",
    "Result",
    "SolverError",
    "Workload",
    "compare",
    "load",
    "load_workload",
    "names",
    "policies",
    "problems",
    "replay",
    "save_workload",
    "solve",
]

_HOMES = {
    "Cluster": "gangopt.topology",
    "Comparison": "gangopt.solvers.compare.comparison",
    "GangoptError": "gangopt.base.errors",
    "InfeasibleError": "gangopt.base.errors",
    "InputError": "gangopt.base.errors",
    "NoSolutionError": "gangopt.base.errors",
    "Result": "gangopt.solvers.core.result",
    "SolverError": "gangopt.base.errors",
    "Workload": "gangopt.instances.workload.workload",
    "compare": "gangopt.solvers.compare.compare",
    "load": "gangopt.catalogue",
    "load_workload": "gangopt.instances.workload.catalogue",
    "names": "gangopt.catalogue",
    "policies": "gangopt.replays.registry",
    "problems": "gangopt.registry.records",
    "replay": "gangopt.replays.run",
    "save_workload": "gangopt.instances.workload.files",
    "solve": "gangopt.solvers.solve",
}

if TYPE_CHECKING:
    from typing import Any

    from gangopt.base.errors import GangoptError, InfeasibleError, InputError, NoSolutionError, SolverError
    from gangopt.catalogue import load, names
    from gangopt.instances.workload.catalogue import load_workload
    from gangopt.instances.workload.files import save_workload
    from gangopt.instances.workload.workload import Workload
    from gangopt.registry.records import problems
    from gangopt.replays.registry import policies
    from gangopt.replays.run import replay
    from gangopt.solvers.compare.compare import compare
    from gangopt.solvers.compare.comparison import Comparison
    from gangopt.solvers.core.result import Result
    from gangopt.solvers.solve import solve
    from gangopt.topology import Cluster


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public object
    if name not in _HOMES:
        raise AttributeError(f"module 'gangopt' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
