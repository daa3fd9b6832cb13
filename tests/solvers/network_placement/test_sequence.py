import math

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.solvers.network_placement.sequence import (
    NetworkJob,
    compare_sequences,
    figure3_cluster,
    figure3_jobs,
    place_sequence,
    random_jobs,
)
from gangopt.topology import Cluster, named_cluster


def cluster(machines=2, gpus=2):
    return Cluster.uniform(machines_per_rack=machines, gpus_per_slot=gpus, name="t")


def job(name, arrival, departure=math.inf, workers=2, sizes=(5.0, 5.0)):
    return NetworkJob(name, arrival, departure, workers, sizes)


def test_gpus_and_traffic_are_carried_along_and_given_back():
    # across two machines of 1 + 1 workers and 5 + 5 MiB: each machine 1 * 5 + 5 * 1 = 10
    one = cluster(machines=2, gpus=1)
    jobs = [job("a", 0, 10), job("b", 5), job("c", 10)]
    placed = place_sequence(one, jobs, "consolidate").placed
    assert [item.largest_load for item in placed] == [10.0, 10.0, 10.0]
    assert placed[1].solution is None
    assert placed[1].reason == "all_workers_placed: 2 workers, but only 0 GPUs are free"
    assert placed[2].solution.workers == (1, 1)


def test_loads_add_up_over_jobs():
    jobs = [job("a", 0, workers=1, sizes=(4.0, 6.0)), job("b", 1, workers=3, sizes=(3.0,) * 3)]
    first, second = place_sequence(cluster(3, 2), jobs, "random", seed=1).placed
    from gangopt.instances.network_placement.instance import NetworkPlacementInstance, machine_loads

    loads = np.zeros(3)
    for item, sizes, workers in ((first, (4.0, 6.0), 1), (second, (3.0,) * 3, 3)):
        instance = NetworkPlacementInstance(
            name="t",
            machines=("x", "y", "z"),
            free_gpus=np.full(3, 2),
            traffic=loads,
            workers=workers,
            ps_sizes=np.array(sizes),
        )
        loads = machine_loads(instance, item.solution)
        assert item.largest_load == pytest.approx(loads.max())
    assert second.own_load <= second.largest_load


def test_everything_departed_leaves_no_rounding_behind():
    jobs = [job(f"{k}", k, 100 + k, workers=1, sizes=(0.1 * (k + 1), 0.7)) for k in range(3)]
    last = job("last", 1000, workers=1, sizes=(1.0,))
    placed = place_sequence(cluster(3, 2), [*jobs, last], "greedy_load").placed
    assert placed[-1].largest_load in {0.0, 1.0}


def test_bounds_prove_what_was_possible_at_each_arrival():
    jobs = random_jobs(8, workers=(2, 4), seed=3)
    sequence = place_sequence(named_cluster("tiresias-testbed"), jobs, "packlimit", bounds=True, rel_gap=1e-6)
    assert all(item.bound <= item.largest_load * (1 + 1e-9) for item in sequence.placed)
    assert any(item.bound < item.largest_load * 0.99 for item in sequence.placed)
    assert place_sequence(named_cluster("tiresias-testbed"), jobs, "packlimit").placed[0].bound is None


def test_figure3_all_methods_place_the_four_jobs():
    found = {item.method: item for item in compare_sequences(figure3_cluster(), figure3_jobs("vgg16"), time_limit=20)}
    assert all(item.turned_away == 0 for item in found.values())
    # two machines of 4 workers; the server of 392 MiB and more: 4 (M - S) + S 4 = 4 M = 2,111.23
    assert found["consolidate"].largest_load == pytest.approx(2111.231, abs=1e-3)
    assert [item.machines_used for item in found["consolidate"].placed] == [2, 2, 2, 2]
    assert found["packlimit"].placed == found["consolidate"].placed
    assert found["exact"].placed[0].largest_load <= min(item.placed[0].largest_load for item in found.values())
    assert found["random"].mean_largest_load > found["consolidate"].mean_largest_load


def test_sequence_is_deterministic_and_empty_ones_are_fine():
    jobs = random_jobs(5, seed=2)
    runs = [place_sequence(named_cluster("tiresias-testbed"), jobs, "random", seed=5) for _ in range(2)]
    assert runs[0] == runs[1]
    assert random_jobs(5, seed=2) == jobs
    empty = place_sequence(cluster(), [], "random")
    assert (empty.largest_load, empty.mean_largest_load, empty.turned_away) == (0.0, 0.0, 0)


def test_wrong_times_and_unknown_methods_are_refused():
    with pytest.raises(InputError, match="job a: arrival 3, departure 3; must satisfy 0 <= arrival < departure"):
        job("a", 3, 3)
    with pytest.raises(InputError, match="unknown method of network_placement 'best'"):
        place_sequence(cluster(), [job("a", 0)], "best")
