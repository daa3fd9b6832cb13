"""GPUs that gangs can use at once where each of them stays on one machine."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangopt.solvers.bounds.jobs import largest_sum

__all__ = ["usable_gpus"]


def usable_gpus(gpus: npt.ArrayLike, machines: tuple[int, ...]) -> int:
    """Return the most GPUs that work at once when every gang runs on the fewest machines that could hold it.

    If each gang fits on one machine, a machine works with at most the largest sum of gangs within its GPUs. Otherwise
    gangs may have parts of any size, and all GPUs count.

    Parameters
    ----------
    gpus : array_like
        GPUs of each gang.
    machines : tuple of int
        GPUs of each machine.

    Returns
    -------
    int
        Pass it as `n_gpus` to `jct_bound`.
    """
    gangs = np.asarray(gpus, dtype=np.int64)
    if gangs.max() > max(machines):
        return sum(machines)
    return sum(largest_sum(gangs[gangs <= size], size) for size in machines)
