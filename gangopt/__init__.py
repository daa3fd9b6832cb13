"""Explicit optimisation models of GPU-cluster scheduling problems, solved exactly and used to score heuristics.

`load` a named instance or a file, `solve` it with one method, or `compare` many methods on many instances. The public
names are listed in `__init__.pyi` and imported on first use, so `import gangopt` loads neither Pyomo nor a solver.
"""

import lazy_loader

from gangopt.base.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
