"""Formulations of `allocation`: how many parameter servers and workers each job gets.

`choice` has a binary for every job and configuration, `counts` an integer for every class of equal jobs, and `literal`
is the nonlinear program as printed. The classes take columns that the caller has already.
"""

from gangopt.formulations.allocation._choice import Choice, choice
from gangopt.formulations.allocation._counts import Counts, counts
from gangopt.formulations.allocation._literal import Literal, literal

__all__ = ["Choice", "Counts", "Literal", "choice", "counts", "literal"]
