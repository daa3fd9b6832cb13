"""Placements bound to the tree: brute force, all formulations, the exact method and the rules agree."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Objective, minimize, value

import gangopt
from gangopt.formulations.placement import levels, pieces, tasks
from gangopt.formulations.tree import couple, fill_topology
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution
from gangopt.solvers.highs import solve_model
from gangopt.topology import Cluster, MachineGroup, Requirement, State, assign

REQUIREMENTS = (
    Requirement(),
    Requirement(gpu_types=("A",)),
    Requirement(labels={"pool": "x"}),
    Requirement(level="rack"),
    Requirement(level="machine"),
    Requirement(gpu_types=("B",), level="rack"),
)


def cluster() -> Cluster:
    """Return three machines in two unequal racks, of two GPU types and two pools."""
    return Cluster.from_groups(
        [
            MachineGroup(1, 2, gpu_type="A", labels={"pool": "x"}, name="a"),
            MachineGroup(1, 3, gpu_type="B", labels={"pool": "x"}, name="b"),
            MachineGroup(1, 2, gpu_type="B", name="c"),
        ],
        machines_per_rack=[2, 1],
    )


@st.composite
def instances(draw):
    tree = cluster()
    state = State(tree)
    for gpu in draw(st.sets(st.integers(0, 6), max_size=2)):
        state.allocate("held", [gpu])
    if draw(st.booleans()):
        state.close(draw(st.integers(0, 2)))
    jobs = draw(st.integers(1, 2))
    return PlacementInstance(
        name="placement/tree",
        cluster=tree,
        state=state,
        jobs=tuple(f"j{j}" for j in range(jobs)),
        parameter_servers=np.array([draw(st.integers(1, 2)) for _ in range(jobs)]),
        workers=np.array([draw(st.integers(1, 2)) for _ in range(jobs)]),
        ps_demand=np.array([[draw(st.integers(0, 1))] for _ in range(jobs)], dtype=float),
        worker_demand=np.ones((jobs, 1)),
        size=np.full(jobs, 6.0),
        ps_bandwidth=np.array([draw(st.sampled_from([1.0, 2.0])) for _ in range(jobs)]),
        worker_bandwidth=np.full(jobs, 1.5),
        requirements=tuple(draw(st.sampled_from(REQUIREMENTS)) for _ in range(jobs)),
        charge=draw(st.sampled_from(["tasks", "hosts"])),
    )


def every_placement(instance):
    """Yield every feasible placement, by enumeration of tasks over machines."""
    options = []
    for j in range(len(instance.jobs)):
        mine = [()]
        p, w = int(instance.parameter_servers[j]), int(instance.workers[j])
        for ps in itertools.product(range(p + 1), repeat=3):
            for workers in itertools.product(range(w + 1), repeat=3):
                if sum(ps) == p and sum(workers) == w:
                    mine.append(tuple((k, ps[k], workers[k]) for k in range(3) if ps[k] + workers[k]))
        options.append(mine)
    for chosen in itertools.product(*options):
        solution = PlacementSolution(chosen, tuple("" if item else "paused" for item in chosen))
        if not instance.check(solution):
            yield solution


@settings(max_examples=60, deadline=None)
@given(instances())
def test_all_agree_with_brute_force(instance):
    best = min(instance.evaluate(solution).objective for solution in every_placement(instance))
    for form in (tasks, pieces):
        model = form.model(instance)
        outcome = solve_model(model)
        assert form.report(instance, outcome.objective) == pytest.approx(best, abs=1e-6)
        solution = form.read(model, instance)
        assert instance.check(solution) == []
        # what a block says it uses is what the placement uses
        used = dict.fromkeys(instance.machines, 0.0)
        for use in instance.uses(solution):
            used[use.node] += use.gpus
        assert {m: value(model.use[m, "gpu"]) for m in instance.machines} == pytest.approx(used)
    assert solve_model(levels.model(instance)).objective <= best + 1e-6
    found = gangopt.solve(instance)
    assert found.proven
    assert found.objective == pytest.approx(best)
    assert instance.check(levels.read(_solved(levels, instance), instance)) == []
    assert assign(instance.cluster, instance.state, instance.uses(found.solution)).gpus is not None


def _solved(form, instance):
    model = form.model(instance)
    solve_model(model)
    return model


@settings(max_examples=40, deadline=None)
@given(instances())
def test_rules_keep_requirements(instance):
    for method in ("optimus", "pack", "spread", "random"):
        found = gangopt.solve(instance, method)
        assert instance.check(found.solution) == []


def test_a_pause_names_what_binds():
    def reason(requirement, workers):
        instance = PlacementInstance(
            name="placement/bound",
            cluster=cluster(),
            jobs=("j",),
            parameter_servers=[1],
            workers=[workers],
            ps_demand=[[0.0]],
            worker_demand=[[1.0]],
            size=[1.0],
            ps_bandwidth=[1.0],
            worker_bandwidth=[1.0],
            requirements=(requirement,),
        )
        return gangopt.solve(instance).solution.reasons[0]

    assert reason(Requirement(), 8) == "it needs 8 GPU of gpu, but only 7 are free"
    on_a = "the free amounts suffice in total, but not on machines that have GPU type A"
    assert reason(Requirement(gpu_types=("A",)), 3) == on_a
    assert reason(Requirement(level="rack"), 6).endswith("not on machines that lie in one rack")


def test_two_teams_on_one_cluster():
    """Two placements coupled by the topology's rows, against all pairs of placements."""
    tree = cluster()

    def team(name, workers):
        return PlacementInstance(
            name=f"placement/{name}",
            cluster=tree,
            jobs=(name,),
            parameter_servers=[1],
            workers=[workers],
            ps_demand=[[1.0]],
            worker_demand=[[1.0]],
            size=[6.0],
            ps_bandwidth=[2.0],
            worker_bandwidth=[1.5],
        )

    east, west = team("east", 2), team("west", 2)
    model = ConcreteModel()
    model.tree, model.east, model.west = Block(), Block(), Block()
    fill_topology(model.tree, tree)
    for block, instance in ((model.east, east), (model.west, west)):
        tasks.fill(block, instance)
    couple(model.tree, [model.east, model.west])
    model.cost = Objective(expr=model.east.objective_value + model.west.objective_value, sense=minimize)
    outcome = solve_model(model)
    best = math.inf
    for one, other in itertools.product(every_placement(east), every_placement(west)):
        try:
            assign(tree, assign(tree, None, east.uses(one)).state, west.uses(other))
        except gangopt.InputError:
            continue
        best = min(best, east.evaluate(one).objective + west.evaluate(other).objective)
    assert outcome.termination == "optimal"
    assert outcome.objective == pytest.approx(best)
    assert best > 2 * gangopt.solve(east).objective
    after = assign(tree, None, east.uses(tasks.read(model.east, east))).state
    assert assign(tree, after, west.uses(tasks.read(model.west, west))).state.owners == ("east", "west")
