"""Seconds to read a million rows, and to generate and summarise as many jobs."""

import time

import numpy as np
import pytest

from gangopt.instances.workload.catalogue import load_workload
from gangopt.instances.workload.summary import summarise

ROWS = 1_000_000


@pytest.mark.benchmark
def test_a_million_rows(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "million.csv"
    gap = rng.integers(0, 60, ROWS)
    columns = (np.arange(ROWS), 2 ** rng.integers(0, 4, ROWS), np.cumsum(gap), rng.integers(60, 100_000, ROWS), gap)
    with path.open("w") as file:
        file.write("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n")
        for job, gpus, submit, duration, wait in zip(*(column.tolist() for column in columns), strict=True):
            file.write(f"{job},{gpus},{submit},{duration},vgg16,{duration},{wait}\n")
    start, wall = time.process_time(), time.perf_counter()
    workload = load_workload(path)
    cpu, wall = time.process_time() - start, time.perf_counter() - wall
    print(f"\nread {ROWS:,} rows of a Tiresias CSV: {cpu:.2f} CPU s, {wall:.2f} s")
    assert len(workload) == ROWS
    assert cpu < 5
    for ending in ("parquet", "csv"):
        copy = tmp_path / f"copy.{ending}"
        workload.save(copy)
        start = time.process_time()
        assert load_workload(copy) == workload
        print(f"read {ROWS:,} rows of this tool's {ending}: {time.process_time() - start:.2f} CPU s")
    start = time.process_time()
    summarise(workload)
    print(f"summarised in {time.process_time() - start:.2f} CPU s")


@pytest.mark.benchmark
def test_a_hundred_thousand_generated_jobs():
    start = time.process_time()
    workload = load_workload("workload/philly-like?jobs=100000")
    print(f"\ngenerated {len(workload):,} jobs in {time.process_time() - start:.2f} CPU s")
    assert time.process_time() - start < 5
