"""Figures of `parameters`: the uncut optimum of ResNet-50 and the whole frontier, proven, one thread."""

from __future__ import annotations

import time

import pytest

import gangopt
from gangopt.solvers.parameters.exact import frontier
from gangopt.solvers.parameters.levels import search_of

pytestmark = pytest.mark.benchmark


def test_resnet50_on_ten_servers_without_cuts() -> None:
    instance = gangopt.load("parameters/resnet50-p10")
    search_of.cache_clear()
    begin, cpu = time.perf_counter(), time.process_time()
    result = gangopt.solve(instance)
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    rows = {name: gangopt.solve(instance, name).metrics for name in ("paa", "mxnet", "mxnet?keys=script")}
    print(f"\nresnet50-p10: {result.objective:,.0f} parameters at {result.metrics['requests']} requests, bound")
    print(f"  {result.bound:,.0f}, {result.termination} in {wall:.2f} s wall, {cpu:.2f} s cpu")
    for name, metrics in rows.items():
        print(f"  {name:<18} " + ", ".join(f"{key} {value:,}" for key, value in metrics.items()))
    assert result.termination == "optimal"
    assert result.objective == result.bound == 1920
    assert result.metrics["requests"] == 157
    assert wall <= 10
    assert dict(rows["paa"]) == {"size_difference": 104_576, "requests": 157, "request_difference": 1}
    assert rows["mxnet"]["requests"] == 247


@pytest.mark.parametrize("servers", [2, 3, 4, 5, 6, 7, 8, 9, 10, 12])
@pytest.mark.parametrize("network", ["resnet50", "resnet101", "resnet152", "googlenet", "inception-bn"])
def test_frontier(network: str, servers: int) -> None:
    instance = gangopt.load(f"parameters/{network}-p{servers}")
    search_of.cache_clear()
    begin = time.perf_counter()
    points = frontier(instance, time_limit=30)
    wall = time.perf_counter() - begin
    shown = [
        f"{point.requests}: {point.size_difference:,}" + ("" if point.proven else f" (at least {point.bound:,})")
        for point in points
    ]
    print(f"\n{network}-p{servers}, {wall:.2f} s, {sum(point.proven for point in points)} of {len(points)} proven")
    print("  " + ", ".join(shown))
    assert points[-1].proven
    if network == "resnet50" and servers <= 10:
        assert wall <= 30
        assert all(point.proven for point in points)
