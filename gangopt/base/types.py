"""Names of the types that many modules share."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Ints", "Pyomo", "Sense"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

Pyomo: TypeAlias = Any
"""Anything of Pyomo's, which has no types of its own: a Block, a Var, an expression, the value of a rule."""

Sense: TypeAlias = Literal["minimise", "maximise"]
"""What is better, less or more of an objective."""
