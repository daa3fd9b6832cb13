"""Allocation instances: every defect has its message, and the judge agrees with the equations."""

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.allocation import instance as module
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution, equal_job_classes
from gangopt.instances.allocation.text import describe

HOLE = float("nan")


def data(**changed):
    """Return the fields of an instance of three jobs: async, sync and a table with a hole."""
    fields = {
        "name": "three",
        "resources": ("cpu", "gpu"),
        "units": ("core", "GPU"),
        "capacity": [20.0, 4.0],
        "jobs": ("a", "b", "c"),
        "steps": [10.0, 20.0, 30.0],
        "mode": ("async", "sync", "table"),
        "theta": [[1.0, 2.0, 0.5, 0.25, 0.0], [1.0, 2.0, 3.0, 0.5, 0.25], [0.0] * 5],
        "batch": [0.0, 40.0, 0.0],
        "tables": ([[1.0, HOLE, 3.0], [1.5, 2.0, 2.5]],),
        "table_labels": ("measured",),
        "table": [-1, -1, 0],
        "worker_demand": [[1.0, 1.0]] * 3,
        "ps_demand": [[2.0, 0.0]] * 3,
        "max_workers": [4, 8, 3],
        "max_ps": [2, 12, 2],
    }
    return fields | changed


def test_times_are_steps_over_speed():
    instance = AllocationInstance(**data())
    assert instance.completion_time(0, 2, 4) == pytest.approx(10 * 7.5 / 4)
    assert instance.completion_time(1, 12, 8) == pytest.approx(20 * 16)
    assert instance.completion_time(2, 1, 3) == 10
    assert instance.completion_time(2, 1, 2) == np.inf
    assert instance.completion_time(0, 3, 1) == np.inf
    assert instance.completion_time(0, 1, 0) == np.inf


def test_grids_hold_the_same_times():
    instance = AllocationInstance(**data())
    seen = []
    for grid in instance.time_grids():
        for i, j in enumerate(grid.jobs.tolist()):
            seen.append(j)
            for (p, w), value in np.ndenumerate(grid.seconds[i]):
                assert value == instance.completion_time(j, p + 1, w + 1)
            assert grid.seconds[i].shape == (instance.max_ps[j], instance.max_workers[j])
    assert sorted(seen) == [0, 1, 2]
    only = instance.time_grids(np.array([2, 0]))
    assert sorted(j for grid in only for j in grid.jobs.tolist()) == [0, 2]


def test_judge_accepts_and_scores():
    instance = AllocationInstance(**data())
    solution = AllocationSolution(workers=(2, 1, 1), parameter_servers=(1, 2, 1))
    assert instance.check(solution) == []
    times = [instance.completion_time(j, p, w) for j, (p, w) in enumerate([(1, 2), (2, 1), (1, 1)])]
    score = instance.evaluate(solution)
    assert score.objective == pytest.approx(sum(times))
    assert score.metrics["sum_completion_time"] == score.objective
    assert score.metrics["mean_completion_time"] == pytest.approx(sum(times) / 3)
    assert score.metrics["max_completion_time"] == max(times)
    assert score.metrics["tasks"] == 8
    assert score.metrics["utilisation_cpu"] == pytest.approx(12 / 20)
    assert score.metrics["utilisation_gpu"] == score.metrics["dominant_share"] == 1.0


@pytest.mark.parametrize(
    ("workers", "servers", "text"),
    [
        ((3, 1, 1), (1, 1, 1), "resource_capacity at resource gpu: 5 GPU, allowed 4 GPU"),
        ((1, 1, 2), (1, 1, 1), "one_configuration_per_job at job 2 (c): p=1, w=2 is not an allowed configuration"),
        ((1, 0, 1), (1, 1, 1), "one_configuration_per_job at job 1 (b): p=1, w=0"),
        ((1, 1), (1, 1, 1), "one_configuration_per_job at all jobs: 2 jobs, allowed 3 jobs"),
    ],
)
def test_judge_names_the_broken_rule(workers, servers, text):
    violations = AllocationInstance(**data()).check(AllocationSolution(workers, servers))
    assert any(text in str(violation) for violation in violations)


def test_judge_allows_for_rounding_only():
    fields = data(capacity=[0.3, 4.0], worker_demand=[[0.0, 1.0]] * 3, ps_demand=[[0.1, 0.0]] * 3)
    solution = AllocationSolution((1, 1, 1), (1, 1, 1))
    assert AllocationInstance(**fields).check(solution) == []
    assert AllocationInstance(**fields | {"capacity": [0.3 * (1 - 1e-9), 4.0]}).check(solution)


def test_single_free_parameter_server_is_no_task():
    fields = data(ps_demand=[[0.0, 0.0]] * 3, max_ps=[1, 12, 1])
    score = AllocationInstance(**fields).evaluate(AllocationSolution((1, 1, 1), (1, 1, 1)))
    assert score.metrics["tasks"] == 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"resources": ()}, r"resources must name at least one resource \(got none\)"),
        ({"resources": ("cpu", "cpu")}, r"resources\[1\]: duplicate label 'cpu' \(first at resources\[0\]\)"),
        ({"resources": ("cpu", "g p u")}, r"resources\[1\] must consist of letters, digits and _ \. / - \(got 'g p"),
        ({"units": ("core",)}, r"units must have one unit for each of the 2 resources \(got 1\)"),
        ({"capacity": [20.0, 0.0]}, r"capacity\[1\] of gpu must be > 0 \(got 0\)"),
        ({"capacity": [20.0, 5e-324]}, r"capacity\[1\] must be 0 or at least 1e-15 \(got 5e-324\)"),
        ({"ps_demand": [[0.0, 1e-16]] * 3}, r"ps_demand\[0, 1\] must be 0 or at least 1e-15 \(got 1e-16\)"),
        ({"worker_demand": [[0.0, 0.0], [1e-300, 0], [0, 0]]}, r"worker_demand\[1, 0\] must be 0 or at least 1e-15"),
        ({"capacity": [20.0, HOLE]}, r"capacity\[1\] must be a number from 0 to 1e15 \(got nan\)"),
        ({"capacity": [np.inf, 4.0]}, r"capacity\[0\] must be a number from 0 to 1e15 \(got inf\)"),
        ({"capacity": [2e15, 4.0]}, r"capacity\[0\] must be a number from 0 to 1e15 \(got 2000000000000000\.0\)"),
        ({"capacity": [20.0]}, r"capacity must have shape \(2,\) \(got \(1,\)\)"),
        ({"capacity": ["many", 4.0]}, r"capacity must hold numbers \(got \['many', 4\.0\]\)"),
        ({"jobs": ()}, "jobs must not be empty"),
        ({"jobs": ("a", "b", "a")}, r"jobs\[2\]: duplicate label 'a' \(first at jobs\[0\]\)"),
        ({"jobs": ("a", "b", "")}, r"jobs\[2\] must be text of 1 to 200 characters \(got ''\)"),
        ({"steps": [10.0, -1.0, 30.0]}, r"steps\[1\] must be a number from 0 to 1e15 \(got -1\.0\)"),
        ({"mode": ("async", "both", "table")}, r"mode\[1\] must be one of async, sync, table \(got 'both'\)"),
        ({"mode": ("async", "sync")}, r"mode must have one mode for each of the 3 jobs \(got 2\)"),
        (
            {"theta": [[0.0] * 5, [1.0] * 5, [0.0] * 5]},
            r"theta\[0\] must have a coefficient other than 0, or the speed would be infinite",
        ),
        ({"theta": [[1.0] * 5, [1.0] * 5, [0.0] * 5]}, r"theta\[0\] must be 0 after the 4 coefficients of mode async"),
        ({"theta": [[1.0, -2.0, 0, 0, 0], [1.0] * 5, [0.0] * 5]}, r"theta\[0, 1\] must be a number from 0 to 1e15"),
        ({"batch": [0.0, 0.0, 0.0]}, r"batch\[1\] must be > 0 for mode sync \(got 0\)"),
        ({"batch": [8.0, 40.0, 0.0]}, r"batch\[0\] must be 0 for mode async \(got 8\)"),
        ({"table": [-1, -1, -1]}, r"table\[2\] must be the index of a table for mode table \(got -1\)"),
        ({"table": [-1, -1, 1]}, r"table\[2\] must be an integer from -1 to 0 \(got 1\)"),
        ({"table_labels": ()}, r"table_labels must name each of the 1 tables \(got 0\)"),
        ({"tables": ([[1.0, 0.0, 3.0]],), "max_ps": [2, 12, 1]}, r"tables\[0\]\[0, 1\] must be a number from 1e-15"),
        ({"tables": ([[HOLE, HOLE, HOLE]],)}, r"tables\[0\] must hold at least one speed \(got only unknown entries\)"),
        ({"tables": ([[1.0], [1.0, 2.0]],)}, r"tables\[0\] must be rows of numbers of equal length \(got"),
        ({"tables": ([1.0, 2.0],)}, r"tables\[0\] must have a row per number of parameter servers and a column per"),
        (
            {"max_workers": [4, 8, 4]},
            r"max_workers\[2\] and max_ps\[2\] must be at most 3 and 2, the size of the job's table \(got 4",
        ),
        ({"max_workers": [4, 8, 2.5]}, r"max_workers must hold integers \(got float64\)"),
        ({"max_ps": [0, 1, 1]}, r"max_ps\[0\] must be an integer from 1 to 40,000,000 \(got 0\)"),
        (
            {"tables": ([[HOLE, 1.0, 1.0]],), "max_ps": [2, 12, 1], "max_workers": [4, 8, 1]},
            r"table\[2\] has no speed for at most 1 parameter servers and 1 workers",
        ),
        (
            {"max_workers": [10**6, 8, 3], "max_ps": [10**6, 12, 2]},
            r"max_workers and max_ps must allow at most 40,000,000 configurations \(got 1,000,000,000,102\)",
        ),
        ({"progress": [0.0, 1.5, 0.0]}, r"progress\[1\] must be a number from 0 to 1 \(got 1\.5\)"),
        ({"job_sources": ("one",)}, r"job_sources must have one text for each of the 3 jobs \(got 1\)"),
        ({"worker_demand": [[1.0, -1.0]] * 3}, r"worker_demand\[0, 1\] must be a number from 0 to 1e15 \(got -1\.0\)"),
    ],
)
def test_every_defect_has_its_message(changed, message):
    with pytest.raises(InputError, match=message) as caught:
        AllocationInstance(**data(**changed))
    assert "\n" not in str(caught.value)


def test_arrays_are_copied_and_read_only():
    steps = np.array([10.0, 20.0, 30.0])
    instance = AllocationInstance(**data(steps=steps))
    steps[0] = 99
    assert instance.steps[0] == 10
    with pytest.raises(ValueError, match="read-only"):
        instance.steps[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        instance.tables[0][0, 0] = 1


def test_equal_jobs_are_one_class():
    fields = data(
        mode=("async", "async", "async"),
        theta=[[1.0, 2.0, 0.5, 0.25, 0.0]] * 3,
        batch=[0.0] * 3,
        table=[-1] * 3,
        steps=[10.0, 20.0, 10.0],
        max_workers=[4] * 3,
        max_ps=[2] * 3,
        progress=[0.0, 0.5, 1.0],
    )
    assert equal_job_classes(AllocationInstance(**fields)) == [[0, 2], [1]]
    assert equal_job_classes(AllocationInstance(**fields | {"max_ps": [2, 2, 1]})) == [[0], [1], [2]]


def test_description_names_resources_and_jobs():
    text = describe(AllocationInstance(**data()))
    assert "3 jobs (1 async, 1 sync, 1 table), 3 different" in text
    assert "table measured" in text
    assert "batch 40" in text
    many = module.AllocationInstance(
        **data(
            jobs=tuple(f"job-{'x' * 30}-{i}" for i in range(30)),
            steps=[1.0] * 30,
            mode=("async",) * 30,
            theta=[[1.0, 0, 0, 0, 0]] * 30,
            batch=[0.0] * 30,
            table=[-1] * 30,
            worker_demand=[[1.0, 1.0]] * 30,
            ps_demand=[[2.0, 0.0]] * 30,
            max_workers=[4] * 30,
            max_ps=[2] * 30,
        )
    )
    assert "... and 10 more" in describe(many)


def test_completion_times_of_all_jobs_are_those_of_each():
    instance = AllocationInstance(**data())
    generator = np.random.default_rng(0)
    J = len(instance.jobs)
    for _ in range(50):
        ps, workers = generator.integers(0, 15, (2, J))
        each = [
            instance.completion_time(j, p, w)
            for j, (p, w) in enumerate(zip(ps.tolist(), workers.tolist(), strict=True))
        ]
        assert instance.completion_times(ps, workers).tolist() == each
