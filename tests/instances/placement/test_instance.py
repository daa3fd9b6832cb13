"""The instance, the judge and the scale of `placement`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.placement.counting import most_jobs_by_counting
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.reasons import pause_reason
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.topology import named_cluster

GOOD = {
    "name": "x",
    "resources": ("cpu", "gpu"),
    "units": ("core", "GPU"),
    "machines": ("a", "b"),
    "capacity": [[4, 1], [4, 0]],
    "jobs": ("j",),
    "parameter_servers": [1],
    "workers": [2],
    "ps_demand": [[1, 0]],
    "worker_demand": [[2, 0]],
    "size": [6.0],
    "ps_bandwidth": [2.0],
    "worker_bandwidth": [3.0],
}


def make(**changes):
    return PlacementInstance.from_machines(**{**GOOD, **changes})


def placed(*pieces):
    return PlacementSolution((tuple(pieces),), ("",))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"resources": ()}, r"resources must name at least one resource \(got none\)"),
        ({"units": ("core",)}, r"units must have one unit for each of the 2 resources \(got 1\)"),
        ({"machines": ("a", "a")}, r"machines\[1\]: duplicate label 'a' \(first at machines\[0\]\)"),
        (
            {"machines": (), "capacity": np.zeros((0, 2))},
            r"number of machines must be an integer from 1 to 1,000,000 \(got 0\)",
        ),
        ({"capacity": [[4, 1]]}, r"capacity must have shape \(2, 2\) \(got \(1, 2\)\)"),
        ({"capacity": [[4, 1], [-1, 0]]}, r"capacity\[1, 0\] must be a number from 0 to 1e9 \(got -1\.0\)"),
        ({"capacity": [[4, 1], [float("nan"), 0]]}, r"capacity\[1, 0\] must be a number from 0 to 1e9 \(got nan\)"),
        ({"jobs": (), "workers": []}, r"number of jobs must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"parameter_servers": [0]}, r"parameter_servers\[0\] must be an integer from 1 to 1000 \(got 0\)"),
        ({"workers": [1001]}, r"workers\[0\] must be an integer from 1 to 1000 \(got 1001\)"),
        ({"workers": [1.5]}, r"workers must hold integers \(got float64\)"),
        ({"ps_demand": [[1, -1]]}, r"ps_demand\[0, 1\] must be a number from 0 to 1e9 \(got -1\.0\)"),
        ({"worker_demand": [[1]]}, r"worker_demand must have shape \(1, 2\) \(got \(1, 1\)\)"),
        ({"size": [0.0]}, r"size\[0\] must be a number from 1e-9 to 1e12 \(got 0\.0\)"),
        ({"ps_bandwidth": [0.0]}, r"ps_bandwidth\[0\] must be a number from 1e-9 to 1e12 \(got 0\.0\)"),
        ({"worker_bandwidth": [float("inf")]}, r"worker_bandwidth\[0\] must be a number from 1e-9 to 1e12 \(got inf\)"),
        ({"steps": [-1.0]}, r"steps\[0\] must be a number from 0 to 1e60 \(got -1\.0\)"),
        ({"compute": [1.0, 2.0]}, r"compute must have shape \(1,\) \(got \(2,\)\)"),
        ({"pause_charge": [-1.0]}, r"pause_charge\[0\] must be a number from 0 to 1e60 \(got -1\.0\)"),
        ({"objective": "speed"}, r"objective must be one of transfer, completion \(got 'speed'\)"),
        ({"charge": "all"}, r"charge must be one of tasks, hosts \(got 'all'\)"),
    ],
)
def test_defects_name_field_and_value(changes, message):
    with pytest.raises(InputError, match=message):
        make(**changes)


def test_sums_that_no_whole_number_holds_are_refused():
    with pytest.raises(InputError, match=r"total capacity of cpu must be at most 4e\+12 core \(got 5e\+12\)"):
        make(machines=tuple(f"s{k}" for k in range(5000)), capacity=np.tile([1e9, 1], (5000, 1)))


@pytest.mark.parametrize(
    ("pieces", "rule"),
    [
        (((2, 1, 2),), "known_machine"),
        (((-1, 1, 2),), "known_machine"),
        (((0, 1, 2), (1, 0, 0)), "tasks_in_piece"),
        (((0, 2, 2), (1, -1, 0)), "tasks_in_piece"),
        (((0, 1, 1), (0, 0, 1)), "one_piece_per_machine"),
        (((0, 0, 2),), "place_all_parameter_servers"),
        (((0, 1, 1),), "place_all_workers"),
        (((0, 1, 2),), "machine_capacity"),
    ],
)
def test_judge_names_the_broken_rule(pieces, rule):
    violations = make().check(placed(*pieces))
    assert [item.rule for item in violations] == [rule]


def test_judge_states_load_capacity_and_unit():
    (violation,) = make().check(placed((1, 1, 2)))
    assert str(violation) == "machine_capacity at machine b, cpu: 5 core, allowed 4 core"


def test_judge_wants_every_job():
    assert make().check(PlacementSolution((), ()))[0].where == "number of jobs"


def test_capacity_is_exact_in_decimals():
    tenths = make(capacity=[[0.3, 0], [0, 0]], ps_demand=[[0.1, 0]], worker_demand=[[0.1, 0]])
    assert tenths.check(placed((0, 1, 2))) == []
    less = make(capacity=[[0.299999, 0], [0, 0]], ps_demand=[[0.1, 0]], worker_demand=[[0.1, 0]])
    assert [item.rule for item in less.check(placed((0, 1, 2)))] == ["machine_capacity"]


def test_transfer_time_is_that_of_the_slowest_task():
    # a parameter server sends 6 MB to one worker elsewhere at 2 MB/s, a worker alone receives 6 MB at 3 MB/s
    split = placed((0, 1, 1), (1, 0, 1))
    assert make().check(split) == []
    assert make().evaluate(split).objective == 3.0
    assert make(ps_bandwidth=[6.0]).evaluate(split).objective == 2.0


def test_charging_hosts_charges_both_terms_on_every_server():
    # a server with only the second worker: it receives 6 MB at 3 MB/s, and as a host it also sends to one at 2 MB/s;
    # the server with only the parameter server sends to two at 2 MB/s, and as a host it receives nothing
    alone = placed((0, 1, 0), (1, 0, 2))
    assert make().evaluate(alone).objective == make(charge="hosts").evaluate(alone).objective == 6.0
    slow = {"ps_bandwidth": [100.0], "worker_bandwidth": [3.0]}
    together = placed((0, 0, 1), (1, 1, 1))
    assert make(**slow).evaluate(together).objective == 2.0
    sending = {"ps_bandwidth": [0.5], "worker_bandwidth": [100.0], "workers": [3], "parameter_servers": [1]}
    uneven = placed((0, 0, 1), (1, 1, 2))
    assert make(**sending).evaluate(uneven).objective == 12.0
    assert make(charge="hosts", **sending).evaluate(uneven).objective == 24.0


def test_completion_counts_two_transfers_a_step():
    split = placed((0, 1, 1), (1, 0, 1))
    score = make(objective="completion", steps=[10.0], compute=[4.0]).evaluate(split)
    assert score.objective == 10 * (4 + 2 * 3)
    assert score.metrics["completion_time"] == score.objective
    assert score.metrics["transfer_time"] == 3.0


def test_pausing_beyond_what_counting_forces_is_charged():
    instance = make()
    paused = PlacementSolution(((),), ("why not",))
    assert instance.fewest_paused == 0
    assert instance.pause_cost == 1 + 6.0
    score = instance.evaluate(paused)
    assert score.objective == 7.0
    assert (score.metrics["jobs_paused"], score.metrics["paused_beyond_count"]) == (1, 1)


def test_a_paused_job_costs_its_charge():
    instance = make(pause_charge=[20.0])
    score = instance.evaluate(PlacementSolution(((),), ("why not",)))
    # one more job placed outweighs every charge, too
    assert instance.pause_cost == 1 + 20.0
    assert score.objective == 20.0 + 21.0
    assert score.metrics["pause_charge"] == 20.0
    assert (
        instance.evaluate(placed((0, 1, 1), (1, 0, 1))).objective
        == make().evaluate(placed((0, 1, 1), (1, 0, 1))).objective
    )


def test_pausing_that_counting_forces_is_free():
    instance = make(capacity=[[1, 1], [1, 0]])
    assert instance.fewest_paused == 1
    assert instance.evaluate(PlacementSolution(((),), ("no room",))).objective == 0.0


def test_tasks_are_counted_into_servers_not_only_summed():
    # 16 + 8 cores hold 4 tasks of 5 cores, not 24 / 5
    capacity, task = np.array([[16], [8]]) * 10**6, np.full((3, 1), 5 * 10**6)
    assert most_jobs_by_counting(capacity, task, task, np.array([1, 1, 1]), np.array([1, 1, 1])) == 2
    assert most_jobs_by_counting(capacity, task, task, np.array([1, 2, 1]), np.array([2, 2, 1])) == 1


@given(st.data())
def test_counting_never_promises_less_than_a_heuristic_places(data):
    seed = data.draw(st.integers(0, 10**6))
    load = data.draw(st.sampled_from([0.8, 0.9, 1.0]))
    tasks = data.draw(st.sampled_from(["small", "paper"]))
    instance = gangopt.load(f"placement/random?servers=6&jobs=5&load={load}&tasks={tasks}&seed={seed}")
    for method in ("optimus", "pack", "spread"):
        assert gangopt.solve(instance, method).metrics["paused_beyond_count"] >= 0


@pytest.mark.parametrize(
    ("pieces", "seconds"),
    [
        (((0, 1, 2), (1, 1, 2)), 2.0),
        (((0, 2, 1), (1, 0, 2), (2, 0, 1)), 3.0),
        (((0, 1, 1), (1, 1, 1), (2, 0, 2)), 3.0),
        (((0, 2, 1), (1, 0, 3)), 3.0),
        (((0, 1, 2), (1, 1, 1), (2, 0, 1)), 3.0),
        (((0, 1, 0), (1, 1, 2), (2, 0, 2)), 4.0),
        (((0, 2, 0), (1, 0, 3), (2, 0, 1)), 4.0),
    ],
)
def test_layouts_of_figure_10(pieces, seconds):
    instance = gangopt.load("placement/optimus-figure10")
    assert instance.check(placed(*pieces)) == []
    assert instance.evaluate(placed(*pieces)).objective == seconds


def test_machines_of_a_cluster_become_servers():
    cluster = named_cluster("optimus-testbed")
    fields = {key: GOOD[key] for key in GOOD if key not in {"resources", "units", "machines", "capacity"}}
    instance = PlacementInstance(cluster=cluster, resources=("gpu", "cpu"), **fields)
    assert instance.machines == cluster.machines
    assert instance.units == ("GPU", "core")
    assert sorted(map(tuple, instance.capacity.tolist())) == [(0.0, 16.0)] * 7 + [(2.0, 8.0)] * 6
    with pytest.raises(InputError, match="resources: unknown resource 'disk'; the cluster has cpu, gpu, memory"):
        PlacementInstance(cluster=cluster, resources=("disk",), **fields)


def test_reasons_of_pausing():
    nothing = np.zeros(2, dtype=np.int64)
    plenty = np.full(2, 10**9)
    assert pause_reason(make(worker_demand=[[5, 0]]), 0, plenty) == "no machine is large enough for one of its workers"
    assert pause_reason(make(ps_demand=[[0, 2]]), 0, plenty).endswith("for one of its parameter servers")
    assert pause_reason(make(), 0, nothing) == "it needs 5 core of cpu, but only 0 are free"
    assert pause_reason(make(), 0, plenty) == "the free amounts suffice in total, but not on single machines"


@pytest.mark.parametrize(
    ("pieces", "reasons", "message"),
    [
        (((),), (), r"reasons must have one entry for each of the 1 jobs \(got 0\)"),
        (((),), ("",), r"reasons\[0\] must give a reason, since the job is paused \(got ''\)"),
        ((((0, 1, 1),),), ("late",), r"reasons\[0\] must be empty, since the job is placed \(got 'late'\)"),
        ((((0, 1),),), ("",), r"pieces\[0\] must be integers \(server, parameter servers, workers\) \(got \(0, 1\)\)"),
        ((((0, 1, 1.0),),), ("",), r"pieces\[0\] must be integers \(server, parameter servers, workers\) \(got"),
    ],
)
def test_solutions_of_the_wrong_shape_are_refused(pieces, reasons, message):
    with pytest.raises(InputError, match=message):
        PlacementSolution(pieces, reasons)


def test_paused_jobs_are_listed():
    assert PlacementSolution((((0, 1, 1),), ()), ("", "late")).paused == (1,)
