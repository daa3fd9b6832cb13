"""Seconds and memory of an Optimus interval at the scale of its paper, and the tables of the experiments."""

import math
import resource
import subprocess
import sys
import time

import pytest

import gangopt
from gangopt.experiments import optimus_ablation, parameter_balance, prediction_error

JOBS, SERVERS = (1000, 2000, 4000, 8000), (1000, 2000, 4000, 8000, 16000)
NAME = "interval/random?jobs={}&servers={}&tasks=cpu&max_tasks=40"

ONE_INTERVAL = """
import resource, sys, time
import gangopt
instance = gangopt.load(sys.argv[1])
method = gangopt.problems["interval"].methods["optimus+optimus"].function()
begin = time.process_time()
solution = method(instance)
seconds = time.process_time() - begin
tasks = sum(solution.allocation.workers) + sum(solution.allocation.parameter_servers)
placed = len(instance.allocation.jobs) - len(solution.placement.paused)
print(seconds, tasks, placed, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def measured(jobs, servers):
    """Seconds, tasks, jobs placed and MiB of greedy allocation and placement, in a process of their own."""
    name = NAME.format(jobs, servers)
    done = subprocess.run([sys.executable, "-c", ONE_INTERVAL, name], capture_output=True, text=True, check=True)
    seconds, tasks, placed, memory = done.stdout.split()
    return float(seconds), int(tasks), int(placed), float(memory)


@pytest.mark.benchmark
def test_the_scale_of_the_paper():
    best = min(measured(4000, 16000) for _ in range(3))
    print(
        f"\n4,000 jobs, 16,000 servers: {best[1]:,} tasks, {best[2]:,} jobs placed, {best[0]:.2f} s, {best[3]:.0f} MiB"
    )
    assert best[0] < 1.0
    assert best[1] > 90_000
    assert best[3] < 1024


@pytest.mark.benchmark
def test_growth():
    """Seconds, and the slope of log seconds against log servers and against log jobs."""
    print("\nseconds (tasks); - where not one task of each kind fits for every job")
    print("   jobs " + "".join(f"{servers:>20,}" for servers in SERVERS) + "   servers")
    seconds = {}
    for jobs in JOBS:
        cells = []
        for servers in SERVERS:
            if servers < jobs / 2:
                cells.append("-")
                continue
            spent, tasks, _, _ = measured(jobs, servers)
            seconds[jobs, servers] = spent
            cells.append(f"{spent:.3f} ({tasks:,})")
        print(f"{jobs:>7,} " + "".join(f"{cell:>20}" for cell in cells))
    for jobs in JOBS:
        low = max(servers for servers in SERVERS if (jobs, servers) in seconds and servers <= max(jobs, 1000))
        slope = math.log(seconds[jobs, 16000] / seconds[jobs, low]) / math.log(16000 / low)
        print(f"{jobs:,} jobs, {low:,} to 16,000 servers: seconds grow with servers^{slope:.2f}")
    slope = math.log(seconds[8000, 16000] / seconds[1000, 16000]) / math.log(8)
    print(f"16,000 servers, 1,000 to 8,000 jobs: seconds grow with jobs^{slope:.2f}")
    assert seconds[8000, 16000] < 5


INTERVALS = (
    "interval/optimus-testbed",
    *(f"interval/testbed?seed={seed}" for seed in range(5)),
    *(f"interval/random?jobs=8&max_tasks=6&seed={seed}" for seed in range(4)),
)
IN_TURN = (
    "exact+exact",
    "exact+optimus",
    "optimus+exact",
    "optimus+optimus",
    "drf+spread",
    "tetris+pack",
    "equal+optimus",
    "retry",
)


@pytest.mark.benchmark
def test_price_of_deciding_in_turn():
    """Sum of completion times, paused jobs with their charge, as multiples of the joint optimum's."""
    prices = {method: [] for method in IN_TURN}
    placed = dict.fromkeys(IN_TURN, 0)
    jobs = 0
    for name in INTERVALS:
        instance = gangopt.load(name)
        begin = time.process_time()
        best = gangopt.solve(instance, "exact", time_limit=120)
        seconds = time.process_time() - begin
        jobs += len(instance.allocation.jobs)
        print(f"\n{name}: {best.metrics['sum_completion_time']:,.0f} s, {best.termination} in {seconds:.1f} s", end="")
        assert best.termination == "optimal"
        for method in IN_TURN:
            metrics = gangopt.solve(instance, method).metrics
            prices[method].append(metrics["sum_completion_time"] / best.metrics["sum_completion_time"])
            placed[method] += metrics["jobs_placed"]
    print()
    for method, values in prices.items():
        mean = sum(values) / len(values)
        print(
            f"{method:<16} {mean:.2f} times the optimum ({min(values):.2f} to {max(values):.2f}), "
            f"{placed[method]} of {jobs} jobs placed"
        )


@pytest.mark.benchmark
def test_experiments():
    for run in (
        optimus_ablation.optimus_ablation,
        parameter_balance.parameter_balance,
        prediction_error.prediction_error,
    ):
        begin = time.process_time()
        table = run()
        print(f"\n{table.text()}\n{time.process_time() - begin:.1f} s")
        assert table.rows
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
