"""The allocation heuristics against rules worked by hand."""

import dataclasses

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InfeasibleError, InputError, NoSolutionError
from gangopt.instances.allocation.generate import random
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.solvers.allocation.heuristics import drf, equal, optimus, tetris
from gangopt.solvers.allocation.moves import next_allowed, seed_configurations

HOLE = float("nan")
EVERY = (optimus, drf, tetris, equal)


def tables(*speeds, capacity, worker=(1.0,), server=(0.0,), steps=None, progress=None, resources=("gpu",)):
    """Return jobs with one measured table each, (parameter servers, workers), on the given capacity."""
    arrays = [np.array(item, dtype=float) for item in speeds]
    J = len(arrays)
    return AllocationInstance(
        name="tables",
        resources=resources,
        units=("unit",) * len(resources),
        capacity=capacity,
        jobs=tuple(f"j{j}" for j in range(J)),
        steps=[120.0] * J if steps is None else steps,
        mode=("table",) * J,
        theta=np.zeros((J, 5)),
        batch=np.zeros(J),
        tables=tuple(arrays),
        table_labels=tuple(f"t{j}" for j in range(J)),
        table=np.arange(J),
        worker_demand=np.broadcast_to(worker, (J, len(resources))),
        ps_demand=np.broadcast_to(server, (J, len(resources))),
        max_workers=[item.shape[1] for item in arrays],
        max_ps=[item.shape[0] for item in arrays],
        progress=progress,
    )


def test_optimus_gives_the_task_with_the_largest_gain():
    # gains of a second worker: 120 - 60 = 60 for j0, 120 - 120/1.5 = 40 for j1; of a third: 60 - 40 = 20, 80 - 60 = 20
    instance = tables([[1, 2, 3]], [[1, 1.5, 2]], capacity=[3.0])
    assert optimus(instance).workers == (2, 1)
    instance = tables([[1, 2, 3]], [[1, 1.5, 2]], capacity=[5.0])
    assert optimus(instance).workers == (3, 2)


def test_optimus_divides_by_the_dominant_resource():
    # one more parameter server saves 60 s for 4 cores, one more worker 40 s for 1 core: the worker goes first
    instance = tables([[1, 1.5], [2, 3]], capacity=[7.0], worker=(1.0,), server=(4.0,), resources=("cpu",))
    assert optimus(instance) == AllocationSolution((2,), (1,))


def test_optimus_by_amount_follows_the_paper_and_by_share_ignores_units():
    # a server saves 60 s for 10 of 20 cores, a worker 40 s for 1 of 2 GPUs; with two servers a worker saves nothing
    instance = tables(
        [[1.0, 1.5], [2.0, 2.0]],
        capacity=[20.0, 2.0],
        worker=(0.0, 1.0),
        server=(10.0, 0.0),
        resources=("cpu", "gpu"),
    )
    assert optimus(instance, per="amount") == AllocationSolution((2,), (2,))
    assert optimus(instance, per="share") == AllocationSolution((1,), (2,))


def test_optimus_stops_at_the_first_task_that_does_not_fit_and_skip_goes_on():
    # j1 gains most, by a worker of 5 cores, of which 6 or only 4 are left; j0 would gain by a parameter server of 1
    fields = {"worker": (5.0,), "server": (1.0,), "resources": ("cpu",), "steps": [1.0, 900.0]}
    roomy = tables([[1, 1.2], [2, 2.4]], [[1, 1.5]], capacity=[18.0], **fields)
    assert optimus(roomy) == optimus(roomy, skip=True) == AllocationSolution((1, 2), (2, 1))
    tight = tables([[1, 1.2], [2, 2.4]], [[1, 1.5]], capacity=[16.0], **fields)
    assert optimus(tight) == AllocationSolution((1, 1), (1, 1))
    assert optimus(tight, skip=True) == AllocationSolution((1, 1), (2, 1))


def test_skip_turns_to_the_other_kind_of_task_of_the_same_job():
    # a parameter server of 6 cores gains more for each core than a worker of 1, but only 2 cores are left
    instance = tables([[1, 1.05], [20, 21]], capacity=[9.0], worker=(1.0,), server=(6.0,), resources=("cpu",))
    assert optimus(instance) == AllocationSolution((1,), (1,))
    assert optimus(instance, skip=True) == AllocationSolution((2,), (1,))


def test_optimus_takes_no_task_that_does_not_help():
    instance = tables([[1.0, 0.9, 5.0]], [[1.0, 1.0]], capacity=[100.0])
    assert optimus(instance).workers == (1, 1)


def test_optimus_ties_go_to_the_parameter_server_and_the_lowest_index():
    same = [[1, 2], [2, 2]]
    instance = tables(same, same, capacity=[5.0], server=(1.0,))
    assert optimus(instance) == AllocationSolution((1, 1), (2, 1))


def test_optimus_discounts_young_jobs():
    instance = tables([[1, 2]], [[1, 1.99]], capacity=[3.0], progress=[0.05, 0.5])
    assert optimus(instance).workers == (2, 1)
    assert optimus(instance, priority=0.95).workers == (1, 2)
    assert optimus(instance, priority=0.95, young=0.01).workers == (2, 1)


def test_optimus_takes_free_tasks_that_help_whatever_else_is_full():
    instance = tables([[1.0, 1.1], [2.0, 2.2]], capacity=[1.0], server=(0.0,))
    assert optimus(instance) == AllocationSolution((1,), (2,))


def test_optimus_steps_over_holes_and_counts_the_tasks():
    # j0: two workers more save 80 s, 40 each; j1: one more saves 50 s
    instance = tables([[1, HOLE, 3]], [[1, 120 / 70]], capacity=[4.0])
    assert optimus(instance).workers == (1, 2)
    assert optimus(tables([[1, HOLE, 3]], [[1, 120 / 70]], capacity=[5.0])).workers == (3, 2)
    down = tables([[1.0], [HOLE], [3.0]], capacity=[9.0], server=(1.0,))
    assert optimus(down) == AllocationSolution((1,), (3,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"priority": 0.0}, r"optimus: priority must be > 0 and <= 1e6 \(got 0\)"),
        ({"priority": float("nan")}, r"optimus: priority must be .* \(got nan\)"),
        ({"young": 1.5}, r"optimus: young must be from 0 to 1 \(got 1.5\)"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        optimus(tables([[1, 2]], capacity=[3.0]), **options)


def test_next_allowed():
    seconds = np.array([[[1.0, np.inf, 2.0], [np.inf, np.inf, np.inf]]])
    assert next_allowed(seconds, 2).tolist() == [[[2, 2, 3], [3, 3, 3]]]
    assert next_allowed(seconds, 1).tolist() == [[[2, 2, 2], [2, 2, 2]]]


def test_drf_feeds_the_smallest_dominant_share():
    # the bundles of j1 are twice as large: j0 gets two for each of them
    instance = tables([[1, 2, 3, 4]], [[1, 2, 3, 4]], capacity=[9.0])
    instance = dataclasses.replace(instance, worker_demand=[[1.0], [2.0]])
    assert drf(instance).workers == (4, 2)
    assert instance.evaluate(drf(instance)).metrics["utilisation_gpu"] == pytest.approx(8 / 9)


def test_drf_keeps_one_parameter_server_for_each_worker_however_slow():
    speeds = np.ones((4, 4)) - 0.1 * np.arange(4)
    instance = tables(speeds, capacity=[6.0], server=(1.0,))
    assert drf(instance) == AllocationSolution((3,), (3,))


def test_ladder_stays_at_the_smaller_limit():
    instance = tables(np.ones((2, 5)), capacity=[100.0], server=(1.0,))
    assert drf(instance) == AllocationSolution((5,), (2,))


def test_tetris_prefers_little_time_left():
    instance = tables([[1, 2, 3]], [[1, 2, 3]], capacity=[4.0], steps=[900.0, 10.0])
    assert tetris(instance).workers == (1, 3)


def test_tetris_prefers_what_fits_the_free_resources():
    instance = tables([[1, 2]], [[1, 2]], capacity=[10.0, 10.0], worker=(1.0, 1.0), resources=("cpu", "gpu"))
    instance = dataclasses.replace(instance, worker_demand=[[1.0, 1.0], [4.0, 4.0]])
    assert tetris(instance).workers == (2, 2)
    assert tetris(dataclasses.replace(instance, capacity=[9.0, 9.0])).workers == (1, 2)


def test_equal_gives_all_jobs_the_same_until_one_does_not_fit():
    instance = tables([[1, 2, 3]], [[1, 2, 3]], [[1, 2]], capacity=[7.0])
    assert equal(instance).workers == (2, 2, 2)
    assert equal(tables([[1, 2, 3]], [[1, 2, 3]], [[1, 2]], capacity=[8.0])).workers == (3, 3, 2)
    assert equal(tables([[1, 2, 3]], capacity=[1.0])).workers == (1,)


def test_holes_start_at_the_smallest_configuration():
    instance = tables([[HOLE, 2, 3], [1, HOLE, HOLE]], [[HOLE, HOLE, 1]], capacity=[9.0], server=(1.0,))
    seed = seed_configurations(instance)
    # of (1, 2) and (2, 1), both three tasks, the faster
    assert list(zip(seed.ps.tolist(), seed.workers.tolist(), strict=True)) == [(1, 2), (1, 3)]
    for method in EVERY:
        assert instance.check(method(instance)) == []


@pytest.mark.parametrize("method", EVERY)
def test_infeasible_says_which_resource_and_by_how_much(method):
    with pytest.raises(InfeasibleError, match=r"take at least 2 unit of gpu together, 0.5 more than the capacity 1.5"):
        method(tables([[1, 2]], [[1, 2]], capacity=[1.5]))
    with pytest.raises(InfeasibleError, match=r"job 0 \(j0\) alone takes at least 3 unit of gpu, 1 more than"):
        method(tables([[HOLE, HOLE, 2]], [[1, 2]], capacity=[2.0]))


@pytest.mark.parametrize("method", EVERY)
def test_not_found_is_not_infeasible(method):
    # (1, 3) and (3, 1) only: every job takes the first, but one each of both would fit
    speeds = [[HOLE, HOLE, 2], [HOLE, HOLE, HOLE], [1, HOLE, HOLE]]
    fields = {"worker": (2.0, 0.0), "server": (0.0, 2.0), "resources": ("cpu", "gpu")}
    instance = tables(speeds, speeds, capacity=[8.0, 8.0], **fields)
    with pytest.raises(NoSolutionError, match="12 unit of cpu, 4 more than there is; others may fit"):
        method(instance)
    result = gangopt.solve(instance)
    assert result.termination == "optimal"
    assert sorted(result.solution.workers) == [1, 3]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("load", [0.0, 0.5])
def test_never_better_than_the_optimum(seed, load):
    instance = random(jobs=12, load=load, max_tasks=6, seed=seed)
    best = gangopt.solve(instance)
    for name in ("optimus", "optimus?skip=true", "optimus?per=share&skip=true", "drf", "tetris", "equal"):
        result = gangopt.solve(instance, name)
        assert result.objective >= best.bound * (1 - 1e-12)
        assert gangopt.solve(instance, name).solution == result.solution


def test_optimus_finds_the_split_of_figure_4():
    instance = gangopt.load("allocation/optimus-figure4")
    assert optimus(instance) == AllocationSolution((8,), (12,))
    assert drf(instance) == AllocationSolution((10,), (10,))


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize(("capacity", "demand"), [(1e-15, 0.0), (1e-14, 1e-15), (1e15, 1e-15), (1e15, 1e14)])
@pytest.mark.parametrize("steps", [5e-324, 1e15])
def test_numbers_at_the_ends_of_their_ranges_overflow_nothing(method, capacity, demand, steps):
    instance = dataclasses.replace(
        tables([[1e-15, 1e15], [1.0, 1e15]], capacity=[capacity], worker=(demand,), steps=[steps]),
        tables=(np.array([[1e-15, 1e15], [1.0, 1e15]]),),
    )
    assert instance.check(method(instance)) == []
