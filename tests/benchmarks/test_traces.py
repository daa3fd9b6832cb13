"""Public job logs under every policy that they can feed: mean completion time, proven bound, gap and seconds.

The logs are not part of the repository; `GANGOPT_TRACES` names a folder with those of the projects below in it.
"""

import os
from pathlib import Path

import pytest

from gangopt.instances.workload.catalogue import load_workload
from gangopt.replays.contest import contest

pytestmark = pytest.mark.benchmark

TRACES = os.environ.get("GANGOPT_TRACES", "")
THROUGHPUTS = "gavel/simulation_throughputs.json"
CASES = (
    ("tiresias/60_job.csv", 16, False),
    ("muri/trace1.csv", 64, False),
    ("elasticflow/philly_103959.csv", 64, False),
    ("synthetic/synthetic_5000.csv", 256, False),
    ("openb/openb_pod_list_default.csv", 6212, False),
    ("gavel/physical_cluster/small_test.trace", 16, True),
    ("gavel/msr_seed0/103959.trace", 64, True),
    ("philly/readme_example_entry.json", 8, False),
)
POLICIES = (
    *("fifo", "sf", "srtf", "srsf", "yarn-cs", "best-effort", "tiresias-l", "tiresias-g", "2d-las?interval=3600"),
    *("time-sharing?quantum=3600", "slaq?interval=3600", "optimus?speed=linear&interval=3600"),
    *("drf?speed=linear&interval=3600", "tetris?speed=linear&interval=3600"),
)


@pytest.mark.skipif(not TRACES, reason="GANGOPT_TRACES names no folder with public job logs")
@pytest.mark.parametrize(("file", "gpus", "timed"), CASES)
def test_log_under_every_policy(file, gpus, timed, capsys):
    folder = Path(TRACES)
    throughputs = folder / THROUGHPUTS if timed else None
    workload = load_workload(folder / file, lenient=True, throughputs=throughputs).where("duration")
    done = contest(workload, gpus, POLICIES)
    bound = done.bound
    with capsys.disabled():
        print(f"\n{file}: {len(workload)} jobs, {gpus} GPUs")
        print(f"  bound {bound.mean:,.1f} s ({bound.name}, {bound.seconds:.1f} s)")
        for row in done.rows():
            gap = "-" if row["jct_gap"] is None else f"{100 * row['jct_gap']:.2f} %"
            print(f"  {row['policy']:36} {row['avg_jct']:14,.1f} s  gap {gap:>10}  {row['seconds']:6.2f} s")
    assert all(row["jct_gap"] is None or row["jct_gap"] >= -1e-9 for row in done.rows())
