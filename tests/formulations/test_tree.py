"""The topology on a Block, and the rows that couple decisions on it."""

import pytest
from pyomo.environ import Block, ConcreteModel, Var, value

from gangopt import load
from gangopt.base.errors import InputError
from gangopt.formulations.placement import levels, tasks
from gangopt.formulations.tree import couple, fill_topology
from gangopt.topology import Cluster, State, named_cluster

LAB = Cluster.uniform(racks=2, machines_per_rack=1, slots_per_machine=2, gpus_per_slot=1, capacities={"cpu": 8})


def test_sets_and_parameters_have_the_labels_of_the_tree():
    state = State(LAB)
    state.allocate("x", ["m0.g0"], {"m1": {"cpu": 3}})
    model = ConcreteModel()
    fill_topology(model, LAB, state)
    assert list(model.racks) == ["r0", "r1"]
    assert list(model.machines) == ["m0", "m1"]
    assert list(model.slots) == ["m0.s0", "m0.s1", "m1.s0", "m1.s1"]
    assert (model.rack_of["m1"], model.machine_of["m1.s0"]) == ("r1", "m1")
    assert model.capacity["m0", "gpu"] == 2
    assert {key: value(model.free[key]) for key in model.free} == {
        ("m0", "cpu"): 8,
        ("m0", "gpu"): 1,
        ("m1", "cpu"): 5,
        ("m1", "gpu"): 2,
    }


def test_a_state_of_another_cluster_is_refused():
    with pytest.raises(InputError, match="state must be a State of the same cluster"):
        fill_topology(ConcreteModel(), LAB, State(named_cluster("themis-testbed")))


def placed(form, cluster):
    instance = load("placement/random?jobs=2", cluster=cluster)
    model = ConcreteModel()
    model.tree, model.jobs = Block(), Block()
    fill_topology(model.tree, LAB)
    form.fill(model.jobs, instance)
    return model


def test_only_pairs_that_a_decision_uses_have_a_row():
    model = placed(tasks, LAB)
    couple(model.tree, [model.jobs])
    rows = model.tree.machine_capacity
    assert {resource for _, resource in rows} <= {"cpu", "gpu"}
    assert ("m0", "cpu") in rows


def test_fixed_variables_count():
    model = placed(tasks, LAB)
    for variable in model.jobs.component_data_objects(Var):
        variable.fix(0)
    couple(model.tree, [model.jobs])
    assert ("m0", "cpu") in model.tree.machine_capacity


@pytest.mark.parametrize(
    ("form", "cluster", "message"),
    [
        (levels, LAB, r"jobs has no use\[machine, resource\]; fill it with a formulation over machines"),
        (tasks, "optimus-testbed", r"jobs: use\[cpu0, cpu\] is not of the cluster of tree"),
    ],
)
def test_what_cannot_be_coupled(form, cluster, message):
    model = placed(form, cluster if isinstance(cluster, Cluster) else named_cluster(cluster))
    with pytest.raises(InputError, match=message):
        couple(model.tree, [model.jobs])
