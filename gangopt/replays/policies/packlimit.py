"""Placement of Tiresias: jobs of skewed models on the fewest machines, others so as to reduce fragmentation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gangopt.base.checks import number
from gangopt.base.types import Ints
from gangopt.instances.networks.models import MODELS
from gangopt.instances.profiling.skew import model_skew
from gangopt.replays.state import State
from gangopt.solvers.network_placement.heuristics import LIMIT

__all__ = ["PackLimit"]


@dataclass
class PackLimit:
    """Rule `packed` for jobs whose skew exceeds PACKLIMIT or is unknown, else `fragments`.

    The skew follows from the tensors of the job's model, assigned round robin to its parameter servers (their number in
    the log, or one per GPU). It is known for the ten published models.

    Attributes
    ----------
    limit : float
        PACKLIMIT, share of the model on the fullest parameter server, from 0 to 1.
    rules : tuple of str
        Rules that it selects; they place every gang if there are enough free GPUs.

    References
    ----------
    Tiresias (NSDI 2019), section 3.3.2.
    """

    limit: float = LIMIT
    rules: ClassVar[tuple[str, ...]] = ("packed", "fragments")
    _models: tuple[str | None, ...] | None = field(default=None, repr=False)
    _servers: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    _skews: dict[tuple[str, int], float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        number("packlimit", self.limit, 0, 1)

    def __call__(self, state: State, job: int) -> str:
        """Return the placement rule of a job."""
        if self._models is None:
            self._models = state.workload.texts("model")
            logged = np.nan_to_num(state.workload.numbers("ps"), nan=0.0).astype(np.int64)
            self._servers = np.where(logged > 0, logged, state.gpus)
        model = self._models[job]
        if model not in MODELS:
            return "packed"
        key = (model, int(self._servers[job]))
        if key not in self._skews:
            self._skews[key] = model_skew(*key)
        return "packed" if self._skews[key] > self.limit else "fragments"
