"""Figures of the bounds on mean completion times: seconds, and the gap of SRSF without overheads.

`GANGOPT_TRACES` is a folder with public job logs in folders of their own (as `muri/trace1.csv`); without it, generated
workloads alone are measured. Run on one thread: `OMP_NUM_THREADS=1`.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import gangopt
from gangopt.solvers.bounds import jct_bound

pytestmark = pytest.mark.benchmark

LOGS = Path(os.environ.get("GANGOPT_TRACES", "no-such-folder"))


def measured(workload: gangopt.Workload, n_gpus: int, *, policy: bool = True) -> tuple[float, float]:
    """Return the gap of SRSF and the CPU seconds of the bound; gangs larger than the cluster are cut to it."""
    gangs = np.minimum(workload.gpus, n_gpus)
    begin = time.process_time()
    bound = jct_bound(workload.arrival, gangs, workload.duration, n_gpus)
    cpu = time.process_time() - begin
    gap = float("nan")
    if policy:
        columns = {"id": workload.ids, "arrival": workload.arrival, "gpus": gangs, "duration": workload.duration}
        cut = gangopt.Workload.from_columns(columns)
        gap = bound.gap(gangopt.replay(cut, n_gpus, "srsf").metrics["avg_jct"])
    others = ", ".join(f"{name} {mean:,.0f}" for name, mean in bound.bounds.items())
    print(
        f"\n{workload.name or 'log'}, {len(workload)} jobs on {n_gpus} GPUs: SRSF {gap:.2%} above {bound.mean:,.0f} s"
    )
    print(f"({bound.name}) in {cpu:.1f} s cpu; {others}")
    return gap, cpu


@pytest.mark.parametrize(
    ("file", "n_gpus", "most"),
    [
        ("muri/trace1.csv", 64, 0.0205),
        ("muri/trace1.csv", 128, 0.036),
        ("elasticflow/philly_103959.csv", 32, 0.068),
        ("elasticflow/philly_103959.csv", 64, 0.0018),
        ("tiresias/60_job.csv", 8, 0.36),
        ("tiresias/60_job.csv", 16, 0.04),
        ("synthetic/synthetic_5000.csv", 256, 0.014),
    ],
)
def test_public_logs(file: str, n_gpus: int, most: float) -> None:
    if not (LOGS / file).exists():
        pytest.skip(f"GANGOPT_TRACES has no {file}")
    gap, cpu = measured(gangopt.Workload.load(LOGS / file), n_gpus)
    assert gap <= most
    assert cpu <= 20


@pytest.mark.parametrize(("n_gpus", "gap"), [(64, 2000), (2400, 70)])
def test_some_2600_jobs(n_gpus: int, gap: int) -> None:
    _, cpu = measured(gangopt.Workload.load(f"workload/philly-like?jobs=2638&gap={gap}"), n_gpus)
    assert cpu <= 20


def test_a_hundred_thousand_jobs() -> None:
    _, cpu = measured(gangopt.Workload.load("workload/philly-like?jobs=100000&gap=75"), 2400, policy=False)
    assert cpu <= 120
