"""Intervals bound to the tree: brute force by the printed formulas, both formulations, and all methods agree."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyomo.environ import value

import gangopt
from gangopt.formulations.interval import classes, joint
from gangopt.instances.allocation.instance import AllocationInstance
from gangopt.instances.interval.instance import IntervalInstance
from gangopt.solvers.highs import solve_model
from gangopt.topology import Cluster, MachineGroup, Requirement, State, assign

REQUIREMENTS = {
    "anywhere": Requirement(),
    "type A": Requirement(gpu_types=("A",)),
    "pool x": Requirement(labels={"pool": "x"}),
    "type A in pool x": Requirement(gpu_types=("A",), labels={"pool": "x"}),
    "type B": Requirement(gpu_types=("B",)),
}
TYPES, POOLS = "ABB", "xxy"
GPUS = (2, 3, 3)
STEPS, SIZE, PS_BANDWIDTH, WORKER_BANDWIDTH = 1000.0, 100.0, 50.0, 100.0


def cluster() -> Cluster:
    """Return three machines in two unequal racks, of two GPU types and two pools."""
    groups = [
        MachineGroup(1, gpus, gpu_type=kind, labels={"pool": pool}, name=name)
        for gpus, kind, pool, name in zip(GPUS, TYPES, POOLS, "abc", strict=True)
    ]
    return Cluster.from_groups(groups, machines_per_rack=[2, 1])


def interval(bound, thetas, held=(), charge="tasks"):
    """Return jobs of up to two tasks of each kind, one GPU a task; `bound` has a key of REQUIREMENTS for each."""
    tree, J = cluster(), len(bound)
    state = State(tree)
    for gpu in held:
        state.allocate("held", [gpu])
    allocation = AllocationInstance(
        name="x",
        resources=("gpu",),
        units=("GPU",),
        capacity=np.array([1.0]),
        jobs=tuple(f"j{j}" for j in range(J)),
        steps=np.full(J, STEPS),
        mode=("async",) * J,
        theta=np.array([[*theta, 0.0] for theta in thetas]),
        batch=np.zeros(J),
        tables=(),
        table_labels=(),
        table=np.full(J, -1),
        worker_demand=np.ones((J, 1)),
        ps_demand=np.ones((J, 1)),
        max_workers=np.full(J, 2),
        max_ps=np.full(J, 2),
    )
    return IntervalInstance.on_cluster(
        allocation,
        tree,
        state,
        name="interval/tree",
        size=np.full(J, SIZE),
        ps_bandwidth=np.full(J, PS_BANDWIDTH),
        worker_bandwidth=np.full(J, WORKER_BANDWIDTH),
        requirements=tuple(REQUIREMENTS[key] for key in bound),
        charge=charge,
    )


@st.composite
def intervals(draw):
    J = draw(st.integers(1, 2))
    part = st.sampled_from([0.5, 1.0, 3.0])
    return {
        "bound": draw(st.lists(st.sampled_from(list(REQUIREMENTS)), min_size=J, max_size=J)),
        "thetas": draw(st.lists(st.tuples(part, part, part, part), min_size=J, max_size=J)),
        "held": tuple(sorted(draw(st.sets(st.integers(0, 7), max_size=4)))),
        "charge": draw(st.sampled_from(["tasks", "hosts"])),
    }


def may_lie(key, machines):
    return {
        "anywhere": True,
        "type A": all(TYPES[k] == "A" for k in machines),
        "pool x": all(POOLS[k] == "x" for k in machines),
        "type A in pool x": all(TYPES[k] == "A" and POOLS[k] == "x" for k in machines),
        "type B": all(TYPES[k] == "B" for k in machines),
    }[key]


def seconds(theta, charge, ps, workers):
    """Return T_j of the docs page for tasks by machine."""
    p, w = sum(ps), sum(workers)
    t0, t1, t2, t3 = theta
    fitted = STEPS * (t0 + t1 * w / p + t2 * w + t3 * p) / w
    slowest = 0.0
    for x, y in zip(ps, workers, strict=True):
        if x or (y and charge == "hosts"):
            slowest = max(slowest, SIZE * (w - y) / (p * PS_BANDWIDTH))
        if y or (x and charge == "hosts"):
            slowest = max(slowest, SIZE * (p - x) / (p * WORKER_BANDWIDTH))
    apart = SIZE / p * max(w / PS_BANDWIDTH, p / WORKER_BANDWIDTH)
    return fitted - STEPS * t1 / p * (1 - slowest / apart)


def least_objective(instance, drawn):
    """Enumerate the tasks of each job by machine."""
    free = list(GPUS)
    for gpu in drawn["held"]:
        free[(0, 0, 1, 1, 1, 2, 2, 2)[gpu]] -= 1
    options = []
    for j, (key, theta) in enumerate(zip(drawn["bound"], drawn["thetas"], strict=True)):
        mine = {(0, 0, 0): instance.pause_charge[j] + instance.pause_cost}
        for counts in itertools.product(range(3), repeat=6):
            ps, workers = counts[:3], counts[3:]
            used = tuple(map(sum, zip(ps, workers, strict=True)))
            if 1 <= sum(ps) <= 2 and 1 <= sum(workers) <= 2 and may_lie(key, [k for k in range(3) if used[k]]):
                time = seconds(theta, drawn["charge"], ps, workers)
                mine[used] = min(mine.get(used, np.inf), time)
        options.append(mine)
    return (
        min(
            sum(mine[used] for mine, used in zip(options, chosen, strict=True))
            for chosen in itertools.product(*options)
            if all(sum(column) <= room for column, room in zip(zip(*chosen, strict=True), free, strict=True))
        )
        - instance.pause_cost * instance.fewest_paused
    )


THETA = (0.5, 1.0, 0.5, 0.5)


@settings(max_examples=30, deadline=None)
@given(intervals())
@example({"bound": ["pool x"], "thetas": [(3.0, 0.5, 0.5, 0.5)], "held": (), "charge": "tasks"})
@example({"bound": ["type B", "type A"], "thetas": [THETA, THETA], "held": (2, 5), "charge": "hosts"})
@example({"bound": ["pool x", "type B"], "thetas": [THETA, THETA], "held": (0, 5), "charge": "tasks"})
def test_all_agree_with_brute_force(drawn):
    instance = interval(**drawn)
    best = least_objective(instance, drawn)
    model = joint.model(instance)
    outcome = solve_model(model)
    assert outcome.objective == pytest.approx(best, rel=1e-7)
    solution = joint.read(model, instance)
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == pytest.approx(best, rel=1e-9)
    used = dict.fromkeys(instance.machines, 0.0)
    for use in instance.uses(solution):
        used[use.node] += use.gpus
    assert {m: value(model.use[m, "gpu"]) for m in instance.machines} == pytest.approx(used)
    assert assign(instance.cluster, instance.state, instance.uses(solution)).gpus is not None
    model = classes.model(instance)
    assert solve_model(model).objective <= best * (1 + 1e-9)
    packed = classes.read(model, instance)
    assert instance.check(packed) == []
    found = gangopt.solve(instance)
    assert found.proven
    assert found.objective == pytest.approx(best, rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(intervals())
def test_methods_in_turn_keep_requirements(drawn):
    instance = interval(**drawn)
    best = least_objective(instance, drawn)
    for method in ("optimus+optimus", "drf+spread", "tetris+pack", "retry", "exact+exact"):
        found = gangopt.solve(instance, method)
        assert instance.check(found.solution) == []
        assert found.objective >= best * (1 - 1e-9)


def test_a_requirement_that_leaves_out_a_useless_machine_costs_nothing():
    # larger configurations than the smallest must have room on the allowed machines, too
    cluster = Cluster.from_groups(
        [
            MachineGroup(3, 4, capacities={"cpu": 16, "memory": 64}, labels={"pool": "x"}),
            MachineGroup(1, capacities={"cpu": 1, "memory": 1}, name="useless"),
        ]
    )
    free = gangopt.load("interval/random?jobs=2&max_tasks=4&seed=1", cluster=cluster)
    bound = dataclasses.replace(free, requirements=(Requirement(labels={"pool": "x"}),) * 2)
    best = gangopt.solve(free)
    assert best.proven
    for form in (None, "joint"):
        found = gangopt.solve(bound, form=form)
        assert found.proven
        assert found.objective == pytest.approx(best.objective)
