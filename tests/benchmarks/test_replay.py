"""CPU seconds of replays: the sizes that are promised, and how they grow with jobs and machines."""

import math
import resource
import time

import numpy as np
import pytest

import gangopt
from gangopt.instances.workload.catalogue import load_workload


def seconds(workload, cluster, policy):
    """CPU seconds of a replay, and the replay."""
    start = time.process_time()
    played = gangopt.replay(workload, cluster, policy)
    return time.process_time() - start, played


def mix(jobs, gpus, load, seed=0):
    """Jobs of 1 to 8 GPUs and minutes to hours that ask for a share `load` of the GPUs, whole seconds."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 1, 1, 2, 4, 8], jobs)
    durations = np.ceil(rng.lognormal(7.0, 1.5, jobs)).astype(np.int64)
    span = float((sizes * durations).sum()) / (gpus * load)
    arrival = np.floor(np.sort(rng.uniform(0, span, jobs)))
    ids = [f"j{job}" for job in range(jobs)]
    return gangopt.Workload.from_columns({"id": ids, "arrival": arrival, "gpus": sizes, "duration": durations})


@pytest.mark.benchmark
@pytest.mark.parametrize("policy", ["fifo", "srsf", "tiresias-l"])
def test_5000_jobs_on_256_counted_gpus(policy):
    workload = mix(5000, 256, 0.9)
    cpu, played = min((seconds(workload, 256, policy) for _ in range(3)), key=lambda pair: pair[0])
    print(f"\n{policy}: 5,000 jobs on 256 GPUs, {len(played.log):,} events: {cpu:.2f} CPU s")
    assert cpu < 1


@pytest.mark.benchmark
def test_2d_gittins_costs_about_as_much_as_2d_las():
    workload, best = mix(5000, 256, 0.9), {}
    # in turns, so that both see the same machine
    for policy in ["2d-las", "2d-gittins"] * 4:
        cpu, _ = seconds(workload, 256, policy)
        best[policy] = min(cpu, best.get(policy, math.inf))
    ratio = best["2d-gittins"] / best["2d-las"]
    print(f"\n5,000 jobs on 256 GPUs: {best['2d-las']:.2f}, {best['2d-gittins']:.2f} CPU s, ratio {ratio:.2f}")
    assert best["2d-gittins"] < 1
    assert ratio < 2


@pytest.mark.benchmark
def test_100_000_jobs_on_the_machines_of_philly():
    workload = load_workload("workload/philly-like?jobs=100000&gap=90&seed=1")
    cpu, played = seconds(workload, "philly-2017", "tiresias-l")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\ntiresias-l: 100,000 jobs on 350 machines, {len(played.log):,} events: {cpu:.1f} CPU s, {peak:.2f} GiB")
    assert cpu < 60
    assert peak < 2


def slope(sizes, times):
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def draw(path, title, label, sizes, times):
    from matplotlib.figure import Figure

    from gangopt.reporting.plots import save_picture

    figure = Figure(figsize=(5.0, 3.4), layout="constrained")
    axes = figure.add_subplot()
    axes.loglog(sizes, times, "o-", label="measured")
    reference = np.array(sizes) * np.log(sizes)
    axes.loglog(sizes, times[0] * reference / reference[0], "--", color="grey", label="n log n")
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(label)
    axes.set_ylabel("CPU s")
    axes.legend(frameon=False)
    save_picture(figure, path)
    print(f"  drawn in {path}")


@pytest.mark.benchmark
def test_growth_with_jobs(tmp_path):
    sizes = [2000, 4000, 8000, 16_000]
    times = [seconds(mix(jobs, 256, 0.8), 256, "tiresias-l")[0] for jobs in sizes]
    print(f"\ntiresias-l on 256 GPUs by jobs: {dict(zip(sizes, np.round(times, 2).tolist(), strict=True))} CPU s")
    draw(tmp_path / "jobs.png", "tiresias-l, 256 GPUs", "jobs", sizes, times)
    assert slope(sizes, times) < 1.3


@pytest.mark.benchmark
def test_growth_with_machines(tmp_path):
    sizes, times = [50, 100, 200, 400, 800], []
    for machines in sizes:
        cluster = gangopt.Cluster.uniform(racks=machines // 50, machines_per_rack=50, gpus_per_slot=8)
        # as many jobs for each, at the same load
        times.append(seconds(mix(4000, 8 * machines, 0.8), cluster, "tiresias-l")[0])
    print(f"\ntiresias-l, 4,000 jobs by machines: {dict(zip(sizes, np.round(times, 2).tolist(), strict=True))} CPU s")
    draw(tmp_path / "machines.png", "tiresias-l, 4,000 jobs", "machines", sizes, times)
    assert slope(sizes, times) < 1
