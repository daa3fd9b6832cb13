"""What balance among parameter servers is worth: the step time by eqn 2 with the slowest server's load."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.errors import InputError
from gangopt.instances.networks import NETWORKS
from gangopt.instances.parameters.generate import network
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.reporting.experiment import ExperimentTable
from gangopt.solvers.parameters.heuristics import mxnet, paa

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COMPUTE", "StepModel", "balanced", "parameter_balance", "picture"]

COMPUTE = {"resnet50": 0.449, "resnet101": 0.898, "vgg16": 0.535, "inception-bn": 0.815}
"""Seconds of forward and backward pass of one worker: the local steps of the public trace of DL2 (batches of 32, 32 and
128); ResNet-101 twice ResNet-50's, the ratio of their multiply-adds."""

SERVERS = (4, 6, 8, 10, 12, 14, 16, 18, 20)
MB_A_PARAMETER = 4e-6
TRANSFERS = 2
MXNET_DRAWS = 10

COLUMNS = {
    "network": "",
    "servers": "",
    "mxnet": "s",
    "paa": "s",
    "optimum": "s",
    "bound": "s",
    "speed of paa to mxnet": "",
    "speed of optimum to paa": "",
    "mxnet largest load": "MB",
    "paa largest load": "MB",
    "mxnet requests": "",
    "paa requests": "",
}


class StepModel:
    r"""Step time of synchronous training by eqn 2 where parameter servers hold unequal parts.

    .. math:: T = c + \max_\rho \left\{ 2 \frac{s_\rho w}{B} + h\,r_\rho w \right\}

    with server :math:`\rho` holding :math:`s_\rho` MB in :math:`r_\rho` parts, each a request of every worker in every
    step. The update and the connections of eqn 2 are left out: their coefficients are not published, the update scales
    like the transfers and the connections are the same for every assignment.

    Parameters
    ----------
    workers : int
        W.
    bandwidth : float
        B, MB/s of a parameter server.
    request_seconds : float
        H, seconds that one request of one worker takes beside its bytes.
    """

    def __init__(self, workers: int, bandwidth: float, request_seconds: float) -> None:
        if not 1 <= workers <= 10_000:
            raise InputError(f"workers: {workers}, 1 to 10,000 are allowed")
        if not 0 < bandwidth <= 1e9:
            raise InputError(f"bandwidth: {bandwidth:g} MB/s, above 0 and at most 1e9 is needed")
        if not 0 <= request_seconds <= 1e3:
            raise InputError(f"request seconds: {request_seconds:g}, 0 to 1000 is needed")
        self.parameter = TRANSFERS * MB_A_PARAMETER * workers / bandwidth
        """Seconds for one parameter."""
        self.request = request_seconds * workers
        """Seconds for one part."""

    def slowest(self, instance: ParametersInstance, solution: ParametersSolution) -> tuple[float, int, int]:
        """Return the seconds of the slowest server, the largest load in parameters, and all requests."""
        loads, counts = [0] * instance.servers, [0] * instance.servers
        for parts in solution.parts:
            for server, amount in parts:
                loads[server] += amount
                counts[server] += 1
        seconds = max(self.parameter * s + self.request * r for s, r in zip(loads, counts, strict=True))
        return seconds, max(loads), sum(counts)

    def bound(self, instance: ParametersInstance) -> float:
        """Return the seconds of the slowest server below which no assignment is: nothing cut, all servers equal."""
        sizes = instance.sizes
        return (self.parameter * int(sizes.sum()) + self.request * len(sizes)) / instance.servers


def balanced(instance: ParametersInstance, model: StepModel) -> ParametersSolution:
    """Return the best assignment found for the slowest server's seconds.

    The better of two: blocks in descending size, each to the server with the least seconds so far, and none cut; or
    filled server by server up to the same time, a block that does not fit cut there (McNaughton's wrap-around rule).
    The latter cuts p - 1 blocks at most, so it is within p - 1 requests over all servers of the bound.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    model : StepModel
        Seconds of a parameter and of a request.
    """
    both = (_largest_first(instance, model), _wrapped(instance, model))
    return min(both, key=lambda item: model.slowest(instance, item)[0])


def _largest_first(instance: ParametersInstance, model: StepModel) -> ParametersSolution:
    sizes = instance.sizes.tolist()
    heap = [(0.0, server) for server in range(instance.servers)]
    parts: list[tuple[tuple[int, int], ...]] = [()] * len(sizes)
    for block in sorted(range(len(sizes)), key=lambda block: (-sizes[block], block)):
        seconds, server = heap[0]
        parts[block] = ((server, sizes[block]),)
        heapq.heapreplace(heap, (seconds + model.parameter * sizes[block] + model.request, server))
    return ParametersSolution(tuple(parts))


def _wrapped(instance: ParametersInstance, model: StepModel) -> ParametersSolution:
    servers, sizes = instance.servers, instance.sizes.tolist()
    total = model.parameter * sum(sizes) + model.request * (len(sizes) + servers - 1)
    room = total / servers
    server, used = 0, 0.0
    parts: list[tuple[tuple[int, int], ...]] = []
    for size in sizes:
        left, mine = size, []
        while left:
            fitting = left
            if server < servers - 1:
                fitting = min(left, int((room - used - model.request) / model.parameter))
            if fitting >= 1:
                mine.append((server, fitting))
                left -= fitting
                used += model.request + model.parameter * fitting
            if left:
                server, used = server + 1, 0.0
        parts.append(tuple(mine))
    return ParametersSolution(tuple(parts))


def parameter_balance(
    networks: Sequence[str] = tuple(COMPUTE),
    *,
    servers: Sequence[int] = SERVERS,
    workers: int = 10,
    bandwidth: float = 125.0,
    request_seconds: float = 1e-4,
    draws: int = MXNET_DRAWS,
    seed: int = 0,
) -> ExperimentTable:
    """Compare MXNet's rule, PAA and the optimum by the seconds of a step.

    Parameters
    ----------
    networks : sequence of str, optional
        Names; the computing time of one that is not in `COMPUTE` counts as 0.
    servers : sequence of int, optional
        Numbers of parameter servers.
    workers, bandwidth, request_seconds : int or float, optional
        Of `StepModel`.
    draws : int, optional
        Random draws of MXNet's rule; the mean of their step times is shown.
    seed : int, optional
        Of the first draw.

    Raises
    ------
    InputError
        If a network is unknown or a number out of range.

    References
    ----------
    Optimus (EuroSys'18), eqn 2, section 5.3 and figures 20 and 21.
    """
    model = StepModel(workers, bandwidth, request_seconds)
    if not 1 <= draws <= 1000:
        raise InputError(f"draws: {draws}, 1 to 1000 are allowed")
    for name in networks:
        if name not in NETWORKS:
            raise unknown("network", name, list(NETWORKS))
    rows = [
        _row(network(name, count), name, COMPUTE.get(name, 0.0), model, range(seed, seed + draws))
        for name in networks
        for count in servers
    ]
    notes = (
        f"step = computing + slowest server; {workers} workers, {bandwidth:g} MB/s",
        f"a request of one worker takes {1000 * request_seconds:g} ms: an assumption, no figure is published",
        f"mxnet: mean of {draws} draws of its random rule; bound: all servers equal and nothing cut",
        "computing: " + ", ".join(f"{name} {COMPUTE.get(name, 0.0):g} s" for name in networks),
    )
    title = "step time of synchronous training by how parameters are spread over servers"
    return ExperimentTable("parameter-balance", title, COLUMNS, tuple(rows), notes)


def _row(instance: ParametersInstance, name: str, compute: float, model: StepModel, seeds: range) -> dict[str, Any]:
    drawn = np.array([model.slowest(instance, mxnet(instance, seed=seed)) for seed in seeds])
    random, load, requests = drawn.mean(axis=0).tolist()
    by_paa = paa(instance)
    seconds, paa_load, paa_requests = model.slowest(instance, by_paa)
    best = min(model.slowest(instance, item)[0] for item in (balanced(instance, model), by_paa))
    return {
        "network": name,
        "servers": instance.servers,
        "mxnet": compute + random,
        "paa": compute + seconds,
        "optimum": compute + best,
        "bound": compute + model.bound(instance),
        "speed of paa to mxnet": (compute + random) / (compute + seconds),
        "speed of optimum to paa": (compute + seconds) / (compute + best),
        "mxnet largest load": MB_A_PARAMETER * load,
        "paa largest load": MB_A_PARAMETER * paa_load,
        "mxnet requests": round(requests),
        "paa requests": paa_requests,
    }


def picture(table: ExperimentTable) -> Figure:
    """Return the training speed against the number of parameter servers, one panel a network.

    Parameters
    ----------
    table : ExperimentTable
        Of `parameter_balance`.
    """
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["network"] for row in table.rows))
    figure = Figure(figsize=(3.4 * len(names), 3.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        rows = [row for row in table.rows if row["network"] == name]
        for method, marker in (("mxnet", "o"), ("paa", "s"), ("optimum", "^")):
            speeds = [1 / row[method] for row in rows]
            axes.plot([row["servers"] for row in rows], speeds, marker=marker, label=method)
        axes.set_title(name)
        axes.set_xlabel("parameter servers")
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("steps per second")
    figure.axes[0].legend(frameon=False)
    return figure
