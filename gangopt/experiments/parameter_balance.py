"""Effect of parameter-server load balance on step time (eqn 2 of Optimus with the slowest server's load)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer, number
from gangopt.instances.networks import NETWORKS
from gangopt.instances.parameters.generate import network
from gangopt.instances.parameters.instance import ParametersInstance, ParametersSolution
from gangopt.reporting.experiment import ExperimentTable
from gangopt.solvers.parameters.heuristics import mxnet, paa

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COMPUTE", "StepModel", "balanced", "parameter_balance", "picture"]

COMPUTE = {"resnet50": 0.449, "resnet101": 0.898, "vgg16": 0.535, "inception-bn": 0.815}
"""Forward and backward pass of one worker, s: local steps of DL2's public trace (batches of 32, 32 and 128); twice
ResNet-50's time for ResNet-101, by the ratio of their multiply-adds."""

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
    r"""Step time of synchronous training by eqn 2 with unequal parameter servers.

    .. math:: T = c + \max_\rho \left\{ 2 \frac{s_\rho w}{B} + h\,r_\rho w \right\}

    Server :math:`\rho` holds :math:`s_\rho` MB in :math:`r_\rho` parts; every worker requests each part once per step.
    The update and connection terms of eqn 2 are omitted: their coefficients are not published, the update scales like
    the transfers, and the connections are the same for every assignment.

    Parameters
    ----------
    workers : int
        Number of workers, w.
    bandwidth : float
        Bandwidth of a parameter server, B, MB/s.
    request_seconds : float
        Time of one request of one worker in addition to its transfer, h, s.
    """

    def __init__(self, workers: int, bandwidth: float, request_seconds: float) -> None:
        integer("workers", workers, 1, 10_000)
        number("bandwidth", bandwidth, high=1e9, unit="MB/s", above=0)
        number("request_seconds", request_seconds, 0, 1000, "s")
        self.parameter = TRANSFERS * MB_A_PARAMETER * workers / bandwidth
        """Transfer time of one parameter, s."""
        self.request = request_seconds * workers
        """Request time of one part, s."""

    def slowest(self, instance: ParametersInstance, solution: ParametersSolution) -> tuple[float, int, int]:
        """Return the time of the slowest server in s, the largest load in parameters, and the number of requests."""
        loads, counts = [0] * instance.servers, [0] * instance.servers
        for parts in solution.parts:
            for server, amount in parts:
                loads[server] += amount
                counts[server] += 1
        seconds = max(self.parameter * s + self.request * r for s, r in zip(loads, counts, strict=True))
        return seconds, max(loads), sum(counts)

    def bound(self, instance: ParametersInstance) -> float:
        """Return a lower bound on the time of the slowest server in s: no block cut and all servers equal."""
        sizes = instance.sizes
        return (self.parameter * int(sizes.sum()) + self.request * len(sizes)) / instance.servers


def balanced(instance: ParametersInstance, model: StepModel) -> ParametersSolution:
    """Return an assignment with a small time of the slowest server.

    It is the better of two: longest processing time first (largest block to the least-loaded server, no block cut),
    and McNaughton's wrap-around rule (fill one server after the other up to the same time and cut blocks that exceed
    it). The latter cuts at most p - 1 blocks, so it exceeds the bound by at most (p - 1) / p requests.

    Parameters
    ----------
    instance : ParametersInstance
        Blocks and servers.
    model : StepModel
        Times of a parameter and of a request.
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
    """Compare the step times of MXNet's rule, PAA and the optimum.

    Parameters
    ----------
    networks : sequence of str, optional
        Networks, e.g. resnet50 (default: four with a known computing time). Networks not in `COMPUTE` compute in 0 s.
    servers : sequence of int, optional
        Numbers of parameter servers.
    workers : int, optional
        Number of workers.
    bandwidth : float, optional
        Bandwidth of a parameter server, in MB/s.
    request_seconds : float, optional
        Time of one request of one worker, in s.
    draws : int, optional
        Random draws of MXNet's rule to average.
    seed : int, optional
        Random seed of the first draw.

    Raises
    ------
    InputError
        If a network is unknown or a number out of range.

    References
    ----------
    Optimus (EuroSys'18), eqn 2, section 5.3 and figures 20 and 21.
    """
    model = StepModel(workers, bandwidth, request_seconds)
    integer("draws", draws, 1, 1000)
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
        f"a request of one worker is assumed to take {1000 * request_seconds:g} ms; no figure is published",
        f"mxnet: mean of {draws} draws of its random rule; bound: equal servers and no block cut",
        "computing: " + ", ".join(f"{name} {COMPUTE.get(name, 0.0):g} s" for name in networks),
    )
    title = "Step time of synchronous training by assignment of parameters to servers"
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
    """Plot training speed over the number of parameter servers, one panel per network.

    Parameters
    ----------
    table : ExperimentTable
        Result of `parameter_balance`.
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
