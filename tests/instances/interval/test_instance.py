"""Intervals: what is refused, and what the judge says, computed by hand."""

import dataclasses

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.interval.instance import IntervalInstance, IntervalSolution
from gangopt.instances.interval.times import smallest_configurations
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.topology import Cluster, MachineGroup, Requirement


def jobs(**changes):
    """An async, a sync and a table job of one-core tasks."""
    fields = {
        "name": "allocation/made",
        "resources": ("cpu",),
        "units": ("core",),
        "capacity": np.array([8.0]),
        "jobs": ("async", "sync", "table"),
        "steps": np.array([10.0, 20.0, 30.0]),
        "mode": ("async", "sync", "table"),
        "theta": np.array([[2.0, 4.0, 0.0, 0.0, 0.0], [1.0, 0.0, 3.0, 0.0, 0.0], [0.0] * 5]),
        "batch": np.array([0.0, 8.0, 0.0]),
        "tables": (np.array([[np.nan, 2.0], [1.0, 3.0]]),),
        "table_labels": ("measured",),
        "table": np.array([-1, -1, 0]),
        "worker_demand": np.ones((3, 1)),
        "ps_demand": np.ones((3, 1)),
        "max_workers": np.array([2, 2, 2]),
        "max_ps": np.array([2, 2, 2]),
    }
    return AllocationInstance(**{**fields, **changes})


def machines(*cores):
    return Cluster.from_groups([MachineGroup(1, capacities={"cpu": count}, name="m") for count in cores])


def interval(**changes):
    fields = {
        "name": "interval/made",
        "allocation": jobs(),
        "cluster": machines(4.0, 4.0),
        "size": np.array([100.0, 50.0, 10.0]),
        "ps_bandwidth": np.array([100.0, 100.0, 100.0]),
        "worker_bandwidth": np.array([100.0, 50.0, 100.0]),
    }
    return IntervalInstance(**{**fields, **changes})


def solution(pieces, ps=(1, 2, 1), workers=(2, 2, 2)):
    reasons = tuple("" if held else "no room" for held in pieces)
    return IntervalSolution(AllocationSolution(workers, ps), PlacementSolution(pieces, reasons))


def test_times_by_hand():
    instance = interval()
    # async (1, 2): Q (t0 + t1 w/p) / w = 10 (2 + 8) / 2 = 50 s, of which 10 * 4 / 1 = 40 s are transfers; all on one
    # server, so none is left
    # sync (2, 2): Q (t0 M/w + t2 w/p) = 20 (4 + 3) = 140 s, of which 60 s; full transfer 50/2 max(2/100, 2/50) = 1 s;
    # (1, 1) on each server: max(50/2 * 1/100, 50/2 * 1/50) = 0.5 s, so 30 s are saved
    even = solution((((0, 1, 1), (1, 0, 1)), ((0, 1, 1), (1, 1, 1)), ()))
    assert not instance.check(even)
    # async: ps and a worker on a, a worker on b: ps sends to one worker of two, the worker on b receives all:
    # max(100 * 1/100, 100 * 1/100) = 1 s of full max(2, 1) = 2 s: half of 40 s is saved
    # table: paused, then (1, 2), the faster of its two smallest: 30 / 2 s
    assert instance.completion_times(even).tolist() == pytest.approx([50 - 20, 140 - 30, 600 + 15])
    assert instance.evaluate(even).metrics["transfer_time"] == pytest.approx(1 + 0.5)
    local = solution((((0, 1, 2),), ((1, 2, 2),), ()))
    assert instance.completion_times(local).tolist() == pytest.approx([10, 80, 615])


def test_metrics_and_the_charge_of_a_pause():
    instance = interval()
    some = solution((((0, 1, 2),), ((1, 2, 2),), ()))
    score = instance.evaluate(some)
    # smallest table configuration: two of three tasks, the faster one (1, 2) at 15 s
    assert instance.smallest.ps.tolist() == [1, 1, 1]
    assert instance.smallest.workers.tolist() == [1, 1, 2]
    assert instance.pause_charge.tolist() == pytest.approx([600 + 60, 600 + 220, 600 + 15])
    assert instance.fewest_paused == 0
    assert score.metrics["jobs_placed"] == 2
    assert score.metrics["jobs_paused"] == score.metrics["paused_beyond_count"] == 1
    assert score.metrics["sum_completion_time"] == pytest.approx(10 + 80 + 615)
    assert score.metrics["fitted_completion_time"] == pytest.approx(50 + 140 + 615)
    assert score.metrics["mean_completion_time"] == pytest.approx((10 + 80 + 615) / 3)
    assert score.metrics["transfer_time"] == 0
    assert score.metrics["tasks"] == 7
    assert score.metrics["hosts"] == 2
    assert score.objective == pytest.approx(705 + instance.pause_cost)
    # longest times: async 60, sync (1, 2) 20 (4 + 6) = 200 and (1, 1) 220, table 30
    assert instance.pause_cost == pytest.approx(1 + 660 + 820 + 615)


def test_one_more_job_placed_outweighs_every_time():
    instance = interval()
    slow = solution((((0, 1, 0), (1, 0, 1)), ((0, 1, 0), (1, 0, 1)), ((0, 1, 0), (1, 0, 2))), (1, 1, 1), (1, 1, 2))
    fast = solution((((0, 1, 2),), ((1, 2, 2),), ()))
    assert not instance.check(slow)
    assert instance.evaluate(slow).objective < instance.evaluate(fast).objective


def test_paused_by_counting_is_free_of_the_pause_cost():
    capacity = np.array([[2.0], [2.0]])
    instance = interval(allocation=jobs(capacity=np.array([4.0])), cluster=machines(*capacity[:, 0]))
    assert instance.fewest_paused == 1
    one = solution((((0, 1, 1),), ((1, 1, 1),), ()), (1, 1, 1), (1, 1, 2))
    score = instance.evaluate(one)
    assert score.metrics["paused_beyond_count"] == 0
    assert score.objective == score.metrics["sum_completion_time"]


def test_the_placement_left_over_costs_the_completion_times():
    instance = interval()
    given = instance.placement_of(AllocationSolution((2, 2, 2), (1, 2, 1)))
    placement = PlacementSolution((((0, 1, 1), (1, 0, 1)), ((0, 1, 1), (1, 1, 1)), ((0, 1, 0), (1, 0, 2))), ("",) * 3)
    whole = IntervalSolution(AllocationSolution((2, 2, 2), (1, 2, 1)), placement)
    assert given.evaluate(placement).metrics["completion_time"] == pytest.approx(
        instance.completion_times(whole).sum(), rel=1e-6
    )


def all_transfers():
    """Return an interval with a job whose fitted time is all transfers."""
    allocation = AllocationInstance(
        name="allocation/transfers",
        resources=("cpu",),
        units=("core",),
        capacity=np.array([12.0]),
        jobs=("j",),
        steps=np.array([353.40467198323665]),
        mode=("async",),
        theta=np.array([[0.0, 2.2267840428929877, 0.0, 0.0, 0.0]]),
        batch=np.array([0.0]),
        worker_demand=np.array([[3.0]]),
        ps_demand=np.array([[3.0]]),
        max_workers=np.array([1]),
        max_ps=np.array([3]),
    )
    return IntervalInstance(
        name="interval/transfers",
        allocation=allocation,
        cluster=machines(12.0),
        size=np.array([49.25989190073481]),
        ps_bandwidth=np.array([16.883167815977675]),
        worker_bandwidth=np.array([1.0]),
    )


@pytest.mark.parametrize("ps", [1, 2, 3])
def test_a_fitted_time_of_transfers_only_leaves_no_time_to_compute(ps):
    instance = all_transfers()
    placement = instance.placement_of(AllocationSolution((1,), (ps,)))
    assert placement.compute.tolist() == pytest.approx([0.0], abs=1e-12)
    whole = IntervalSolution(AllocationSolution((1,), (ps,)), PlacementSolution((((0, ps, 1),),), ("",)))
    assert instance.evaluate(whole).objective == pytest.approx(0.0, abs=1e-9)
    assert instance.evaluate(whole).objective >= 0


def test_numbers_at_their_limits_leave_a_placement():
    allocation = jobs(steps=np.full(3, 1e15), theta=np.array([[1e15] * 4 + [0.0], [1e15] * 5, [0.0] * 5]))
    for size, bandwidth in ((1e-9, 1e12), (1e12, 1e-9)):
        extreme = interval(
            allocation=allocation,
            size=np.full(3, size),
            ps_bandwidth=np.full(3, bandwidth),
            worker_bandwidth=np.full(3, bandwidth),
        )
        assert (extreme.placement_of(AllocationSolution((2, 2, 2), (1, 2, 1))).steps > 0).all()


def test_the_judge_names_what_is_broken():
    instance = interval()
    hole = solution((((0, 1, 2),), ((1, 2, 2),), ()), (1, 2, 1), (2, 2, 1))
    assert [item.rule for item in instance.check(hole)] == ["one_configuration_per_job"]
    assert "job 2 (table): p=1, w=1" in str(instance.check(hole)[0])
    beyond = solution((((0, 1, 2),), ((1, 2, 2),), ()), (3, 2, 1), (2, 2, 2))
    assert [item.rule for item in instance.check(beyond)] == ["one_configuration_per_job"]
    short = solution((((0, 1, 1),), ((1, 2, 2),), ()))
    assert [item.rule for item in instance.check(short)] == ["place_all_workers"]
    full = solution((((0, 1, 2),), ((0, 2, 2),), ()))
    assert [item.rule for item in instance.check(full)] == ["machine_capacity"]
    few = IntervalSolution(AllocationSolution((1, 1), (1, 1)), full.placement)
    assert [item.rule for item in instance.check(few)] == ["one_configuration_per_job"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"interval": 0.0}, r"interval must be a number > 0 and <= "),
        (
            {"cluster": machines(4.0, 3.0)},
            r"capacity of cpu must have the allocation's total of 8 core \(got 7\)",
        ),
        (
            {"allocation": jobs(max_ps=np.array([2, 1001, 2]))},
            r"max_ps\[1\] must be an integer from 1 to 1000 \(got 1001\)",
        ),
        ({"size": np.array([100.0, 0.0, 10.0])}, r"size\[1\]"),
        ({"charge": "none"}, r"charge must be one of tasks, hosts \(got 'none'\)"),
    ],
)
def test_refused(changes, message):
    with pytest.raises(InputError, match=message):
        interval(**changes)


def test_required_levels_are_refused():
    requirements = (Requirement(level="machine"),) * 3
    with pytest.raises(InputError, match="interval: requirements must not have a level"):
        interval(requirements=requirements)


def test_labels_bind_jobs_to_machines():
    cluster = Cluster.from_groups(
        [MachineGroup(1, capacities={"cpu": 4}, name=name, labels={"pool": name}) for name in "ab"]
    )
    bound = interval(cluster=cluster, requirements=(Requirement(labels={"pool": "b"}),) + (Requirement(),) * 2)
    found = gangopt.solve(bound)
    assert {machine for machine, _, _ in found.solution.placement.pieces[0]} <= {1}
    free = gangopt.solve(interval(cluster=cluster))
    assert found.proven
    assert found.objective >= free.objective


def test_a_list_of_machines_replaces_the_shared_capacities():
    instance = IntervalInstance.from_machines(
        jobs(),
        ("a",),
        np.array([[5.0]]),
        name="interval/other",
        size=np.full(3, 1.0),
        ps_bandwidth=np.full(3, 1.0),
        worker_bandwidth=np.full(3, 1.0),
    )
    assert instance.allocation.capacity.tolist() == [5.0]
    assert instance.allocation.name == "interval/other"
    with pytest.raises(InputError, match=r"capacity must have shape \(machines, 1\) \(got \(1, 2\)\)"):
        IntervalInstance.from_machines(jobs(), ("a",), np.array([[5.0, 1.0]]), name="x")
    with pytest.raises(InputError, match=r"capacity must have one row for each of the 2 machines \(got 1\)"):
        IntervalInstance.from_machines(jobs(), ("a", "b"), np.array([[5.0]]), name="x")
    with pytest.raises(InputError, match=r"machines\[1\]: duplicate label 'a' \(first at machines\[0\]\)"):
        IntervalInstance.from_machines(jobs(), ("a", "a"), np.array([[5.0], [5.0]]), name="x")
    with pytest.raises(InputError, match="resources: unknown resource 'cpu'; the cluster has gpu"):
        IntervalInstance.on_cluster(jobs(), Cluster.uniform(machines_per_rack=1, gpus_per_slot=1), None, name="x")


def test_some_of_the_jobs():
    some = interval().allocation_of([0, 2])
    assert some.jobs == ("async", "table")
    assert some.mode == ("async", "table")
    assert some.table.tolist() == [-1, 0]
    assert some.completion_time(1, 1, 2) == 15.0


def test_smallest_configurations_of_a_table_with_holes():
    least = smallest_configurations(jobs())
    assert (least.least_ps[2], least.least_workers[2]) == (1, 1)
    assert least.longest.tolist() == pytest.approx([60.0, 220.0, 30.0])


def test_equal_by_content():
    assert interval() == interval()
    assert interval() != dataclasses.replace(interval(), interval=500.0)
    assert not interval().capacity.flags.writeable
