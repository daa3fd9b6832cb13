"""Type aliases shared by many modules."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Ints", "Pyomo", "Sense"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

Pyomo: TypeAlias = Any
"""Object of Pyomo, which has no type annotations: a block, a variable, an expression, the result of a rule."""

Sense: TypeAlias = Literal["minimise", "maximise"]
"""Sense of an objective."""
