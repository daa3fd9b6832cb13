"""The rules of `placement`: Optimus's spread, Theorem 1 in both readings, and the task-by-task baselines."""

from __future__ import annotations

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.formulations.placement.data import PlacementData, levels_of
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.solvers.placement.buckets import FreeServers
from gangopt.solvers.placement.heuristics import optimus, pack, random, spread, theorem1
from gangopt.solvers.placement.shares import even_shares


def make(slots, jobs, charge="tasks", **changes):
    """Return jobs (p, w) of unit tasks and unit transfers on servers of a number of tasks."""
    J = len(jobs)
    fields = {
        "name": "test",
        "resources": ("slots",),
        "units": ("task",),
        "machines": tuple(f"s{k}" for k in range(len(slots))),
        "capacity": np.array(slots, dtype=float)[:, None],
        "jobs": tuple(f"j{j}" for j in range(J)),
        "parameter_servers": np.array([p for p, _ in jobs]),
        "workers": np.array([w for _, w in jobs]),
        "ps_demand": np.ones((J, 1)),
        "worker_demand": np.ones((J, 1)),
        "size": np.array([float(p) for p, _ in jobs]),
        "ps_bandwidth": np.ones(J),
        "worker_bandwidth": np.ones(J),
        "charge": charge,
    }
    return PlacementInstance.from_machines(**{**fields, **changes})


def dividing_cases(count, seed):
    """Yield (p, w, tasks a server) for which p and w divide by the fewest servers that hold them."""
    rng = np.random.default_rng(seed)
    while count:
        room, servers = int(rng.integers(2, 9)), int(rng.integers(2, 5))
        ps, workers = servers * int(rng.integers(1, 4)), servers * int(rng.integers(1, 7))
        if -(-(ps + workers) // room) == servers:
            count -= 1
            yield ps, workers, room


def least_alone(instance):
    data = PlacementData.of(instance)
    return levels_of(data.jobs[0], data.classes)[0].time


def test_theorem_1_holds_when_hosts_are_charged():
    for ps, workers, room in dividing_cases(400, seed=1):
        rng = np.random.default_rng(ps + 100 * workers)
        bandwidths = {"ps_bandwidth": rng.uniform(0.5, 2, 1), "worker_bandwidth": rng.uniform(0.5, 2, 1)}
        instance = make([room] * (ps + workers), [(ps, workers)], "hosts", **bandwidths)
        solution = theorem1(instance)
        assert instance.check(solution) == []
        servers = -(-(ps + workers) // room)
        assert [piece[1:] for piece in solution.pieces[0]] == [(ps // servers, workers // servers)] * servers
        assert instance.evaluate(solution).objective == least_alone(instance)


def test_theorem_1_fails_when_tasks_are_charged():
    gaps = [
        instance.evaluate(theorem1(instance)).objective - least_alone(instance)
        for instance in (make([r] * (p + w), [(p, w)]) for p, w, r in dividing_cases(400, seed=2))
    ]
    assert min(gaps) == 0
    assert max(gaps) > 0


def test_no_smaller_case_than_the_named_one_breaks_theorem_1():
    smaller = [
        (ps, workers, room)
        for ps in range(1, 7)
        for workers in range(ps, 8)
        for room in range(2, 9)
        for servers in [-(-(ps + workers) // room)]
        if ps % servers == workers % servers == 0 and ps + workers <= 8
    ]
    wrong = []
    for ps, workers, room in smaller:
        instance = make([room] * 4, [(ps, workers)])
        solution = theorem1(instance)
        if not solution.paused and instance.evaluate(solution).objective > least_alone(instance):
            wrong.append((ps, workers, room))
    assert {case[:2] for case in wrong} == {(2, 6)}
    assert min(case[2] for case in wrong) == 6


def test_theorem1_places_one_job():
    with pytest.raises(InputError, match="theorem1 places one job, test has 2; use optimus"):
        theorem1(make([3], [(1, 1), (1, 1)]))


def test_theorem1_tries_every_pairing_and_says_why_it_pauses():
    # p 3, w 3 on two servers: extras together (2, 2) (1, 1) take 2 s, apart (2, 1) (1, 2) as well; only apart fits
    instance = make([3, 3], [(3, 3)])
    assert theorem1(instance).pieces == (((0, 2, 1), (1, 1, 2)),)
    assert theorem1(make([3, 2], [(3, 3)])).reasons == ("it needs 6 task of slots, but only 5 are free",)


def test_optimus_places_figure_10_at_the_optimum():
    instance = gangopt.load("placement/optimus-figure10")
    assert optimus(instance).pieces == (((0, 1, 2), (1, 1, 2)),)


def test_optimus_takes_small_jobs_first_and_sorts_servers_anew():
    # job 1 (2 tasks) goes to server 1, the emptiest; then server 0 is the emptiest and holds job 0
    assert optimus(make([3, 4], [(1, 2), (1, 1)])).pieces == (((0, 1, 2),), ((1, 1, 1),))
    # ties: the lowest server, the lowest job
    assert optimus(make([4, 4], [(1, 1), (1, 1)])).pieces == (((0, 1, 1),), ((1, 1, 1),))


def test_optimus_prefers_the_cheaper_pairing_that_fits():
    # p 1, w 3 on two servers of 3: extras together would be (1, 2) (0, 1), apart (1, 1) (0, 2)
    assert optimus(make([3, 3], [(1, 3)])).pieces == (((0, 1, 2), (1, 0, 1)),)


def test_optimus_passes_servers_over_on_which_one_kind_of_task_never_fits():
    instance = make(
        [1, 1],
        [(1, 1)],
        resources=("cpu", "gpu"),
        units=("core", "GPU"),
        capacity=np.array([[16.0, 0.0], [8.0, 2.0]]),
        ps_demand=np.array([[1.0, 0.0]]),
        worker_demand=np.array([[1.0, 1.0]]),
    )
    assert optimus(instance).pieces == (((1, 1, 1),),)


def test_optimus_pauses_with_the_reason():
    solution = optimus(make([2, 2], [(1, 1), (1, 2), (1, 4)]))
    assert solution.paused == (1, 2)
    assert solution.reasons[1] == "it needs 3 task of slots, but only 2 are free"


def resorted(instance):
    """Optimus's rule with all servers sorted anew for each job, as slow as it reads."""
    free = instance.capacity_millionths.copy()
    lead = instance.resources.index("cpu")
    order = [lead, *(r for r in range(len(instance.resources)) if r != lead)]
    ps, worker = instance.ps_millionths, instance.worker_millionths
    p, w = instance.parameter_servers, instance.workers
    pieces = [()] * len(instance.jobs)
    for j in np.argsort(p * ps[:, lead] + w * worker[:, lead], kind="stable").tolist():
        hosts = [
            k
            for k in sorted(range(len(free)), key=lambda k: (tuple(-free[k, order]), k))
            if (ps[j] <= free[k]).all() and (worker[j] <= free[k]).all()
        ]
        for count in range(1, min(len(hosts), int(p[j] + w[j])) + 1):
            fitting = []
            for shares in even_shares(int(p[j]), int(w[j]), count, every_pairing=False):
                flat = [(x, y) for servers, x, y in shares for _ in range(servers)]
                spots = [(k, x, y) for k, (x, y) in zip(hosts, flat, strict=False)]
                if all((x * ps[j] + y * worker[j] <= free[k]).all() for k, x, y in spots):
                    held = [()] * len(instance.jobs)
                    held[j] = tuple(spots)
                    reasons = tuple("" if item else "x" for item in held)
                    times = instance.transfer_times(PlacementSolution(tuple(held), reasons))
                    fitting.append((times[j], len(fitting), spots))
            if fitting:
                pieces[j] = tuple(sorted(min(fitting)[2]))
                for k, x, y in pieces[j]:
                    free[k] -= x * ps[j] + y * worker[j]
                break
    return tuple(pieces)


@pytest.mark.parametrize("seed", range(6))
def test_buckets_give_what_sorting_all_servers_gives(seed):
    instance = gangopt.load(f"placement/random?servers=20&jobs=15&load=0.95&seed={seed}")
    assert optimus(instance).pieces == resorted(instance)


def test_free_servers_keep_order_and_totals():
    servers = FreeServers(make([3, 5, 3], [(1, 1)]))
    assert [(free, list(ids)) for free, ids in servers.runs()] == [((5 * 10**6,), [1]), ((3 * 10**6,), [0, 2])]
    servers.take(1, (5 * 10**6,), (2 * 10**6,))
    assert [(free, list(ids)) for free, ids in servers.runs()] == [((3 * 10**6,), [0, 1, 2])]
    assert servers.total == [9 * 10**6]


@pytest.mark.parametrize(("ps", "workers", "k"), [(2, 6, 2), (3, 5, 4), (1, 4, 3), (5, 7, 3), (1, 1, 4), (7, 2, 5)])
def test_even_shares_are_even_and_whole(ps, workers, k):
    every = list(even_shares(ps, workers, k, every_pairing=True))
    some = list(even_shares(ps, workers, k, every_pairing=False))
    assert some[0] == every[0]
    assert some[-1] == every[-1]
    for shares in every:
        assert sum(n * x for n, x, _ in shares) == ps
        assert sum(n * y for n, _, y in shares) == workers
        assert {x for n, x, _ in shares} <= {ps // k, -(-ps // k)}
        assert {y for n, _, y in shares} <= {workers // k, -(-workers // k)}


def test_spread_takes_the_least_loaded_server_task_by_task():
    # loads are shares: after one task, servers of 4 and 2 are loaded 1/4 and 0
    assert spread(make([4, 2], [(1, 3)])).pieces == (((0, 1, 2), (1, 0, 1)),)


def test_pack_fills_servers_in_use_first():
    assert pack(make([4, 5], [(1, 1), (1, 2)])).pieces == (((1, 1, 1),), ((1, 1, 2),))


def test_pack_opens_an_empty_server_only_when_needed():
    assert pack(make([2, 2], [(1, 1), (1, 1)])).pieces == (((0, 1, 1),), ((1, 1, 1),))


@pytest.mark.parametrize("rule", [spread, pack, random, optimus])
def test_a_job_that_does_not_fit_leaves_nothing_behind(rule):
    solution = rule(make([2, 2], [(2, 3), (2, 2)]))
    assert solution.paused == (0,)
    assert solution.reasons[0].startswith(("it needs 5 task of slots", "enough is free"))


def test_random_follows_its_seed():
    instance = gangopt.load("placement/random")
    assert random(instance, seed=1) == random(instance, seed=1)
    assert random(instance, seed=1) != random(instance, seed=2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tasks", ["small", "paper"])
def test_every_rule_passes_the_judge(tasks, seed):
    instance = gangopt.load(f"placement/random?servers=9&jobs=8&load=1.0&tasks={tasks}&bandwidth=mixed&seed={seed}")
    for rule in (optimus, spread, pack, random):
        assert instance.check(rule(instance)) == []
