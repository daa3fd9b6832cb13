"""Formulations of `allocation`: the number of parameter servers and workers of each job.

`choice` has a binary for each job and configuration, `counts` an integer for each class of equal jobs and
configuration, and `literal` is the nonlinear program as published. `Choice` and `Counts` accept precomputed columns.
"""

from gangopt.formulations.allocation._choice import Choice, choice
from gangopt.formulations.allocation._counts import Counts, counts
from gangopt.formulations.allocation._literal import Literal, literal

__all__ = ["Choice", "Counts", "Literal", "choice", "counts", "literal"]
