"""Figures of `allocation` at scale: 8,000 jobs of 400 configurations each on 16,000 servers, one thread.

Each measurement runs in a process of its own, so that its peak memory is its own.
"""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.benchmark

SCRIPT = """
import json, resource, sys, time
import gangopt
from gangopt.instances.allocation.generate import random
gangopt.solve(random(jobs=3))
gangopt.solve(random(jobs=3), "optimus")
arguments, methods = json.loads(sys.argv[1]), sys.argv[2:]
instance = random(**arguments)
for method in methods:
    begin, cpu = time.perf_counter(), time.process_time()
    result = gangopt.solve(instance, method)
    print(json.dumps({
        "method": method, "termination": result.termination, "objective": result.objective, "bound": result.bound,
        "gap": result.rel_gap, "wall": time.perf_counter() - begin, "cpu": time.process_time() - cpu,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "core_columns": result.metrics.get("core_columns"),
    }))
"""


def measure(arguments: dict, *methods: str) -> dict[str, dict]:
    """Return the measured figures by method, of methods run one after the other in a new process."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(arguments), *methods], capture_output=True, text=True, check=True
    )
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    return {row["method"]: row for row in rows}


@pytest.mark.parametrize("load", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("mode", ["async", "sync", "mixed"])
def test_8000_jobs_on_16000_servers(mode: str, load: float) -> None:
    arguments = {"jobs": 8000, "nodes": 16000, "max_tasks": 20, "mode": mode, "load": load, "seed": 1}
    exact = measure(arguments, "exact")["exact"]
    rows = measure(arguments, "optimus", "optimus?skip=true", "optimus?per=share&skip=true", "drf", "tetris", "equal")
    print(
        f"\n{mode}, load {load}: exact {exact['wall']:.2f} s wall, {exact['cpu']:.2f} s cpu, "
        f"{exact['peak_gib']:.2f} GiB, gap {exact['gap']:.1e}, {exact['core_columns']} core columns"
    )
    for name, row in rows.items():
        above = row["objective"] / exact["objective"] - 1
        print(f"  {name:<28} {row['cpu']:6.2f} s cpu, {above:8.3%} above the optimum, {row['peak_gib']:.2f} GiB")
    assert exact["termination"] == "optimal"
    assert exact["gap"] <= 1e-9
    assert exact["cpu"] <= 10
    assert exact["peak_gib"] <= 4
    assert rows["optimus"]["cpu"] <= 1
    assert all(row["objective"] >= exact["bound"] * (1 - 1e-12) for row in rows.values())


@pytest.mark.parametrize("jobs", [1000, 2000, 4000, 8000])
def test_greedy_by_number_of_jobs(jobs: int) -> None:
    arguments = {"jobs": jobs, "nodes": 16000, "mode": "mixed", "seed": 1}
    row = measure(arguments, "optimus")["optimus"]
    print(f"\n{jobs} jobs on 16,000 nodes: greedy {row['cpu']:.2f} s cpu, {row['peak_gib']:.2f} GiB")
    assert row["cpu"] <= 1
