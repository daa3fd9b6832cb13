import numpy as np
import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.catalogue import entries, load
from gangopt.instances.network_placement.document import NetworkPlacementSolutionDocument
from gangopt.instances.network_placement.instance import (
    NetworkPlacementInstance,
    NetworkPlacementSolution,
    machine_loads,
)


def make(**changes):
    fields = {
        "name": "t",
        "machines": ("a", "b", "c"),
        "free_gpus": np.array([2, 1, 0]),
        "traffic": np.array([1.0, 2.0, 30.0]),
        "workers": 3,
        "ps_sizes": np.array([6.0, 4.0]),
        "resources": ("cpu",),
        "free_capacity": np.array([[4.0], [2.0], [1.0]]),
        "worker_demand": np.array([1.0]),
        "ps_demand": np.array([1.0]),
    }
    return NetworkPlacementInstance(**(fields | changes))


def test_loads_by_hand():
    instance = make()
    solution = NetworkPlacementSolution((2, 1, 0), (0, 1))
    # a: 1 + 2 (10 - 6) + 6 (3 - 2) = 15; b: 2 + 1 (10 - 4) + 4 (3 - 1) = 16; c hosts nothing
    assert machine_loads(instance, solution).tolist() == [15.0, 16.0, 30.0]
    score = instance.evaluate(solution)
    assert score.objective == 30.0
    assert dict(score.metrics) == {"largest_load": 30.0, "cross_machine_traffic": 14.0, "machines_used": 2}


def test_everything_on_one_machine_sends_nothing():
    instance = make(free_gpus=np.array([3, 0, 0]), free_capacity=np.array([[9.0], [0.0], [0.0]]))
    score = instance.evaluate(NetworkPlacementSolution((3, 0, 0), (0, 0)))
    assert score.metrics["cross_machine_traffic"] == 0
    assert machine_loads(instance, NetworkPlacementSolution((3, 0, 0), (0, 0)))[0] == 1.0


@pytest.mark.parametrize(
    ("workers", "hosts", "rules"),
    [
        ((2, 1, 0), (0, 1), []),
        ((2, 1), (0, 1), ["known_machine"]),
        ((2, 1, 0), (0,), ["one_host_per_parameter_server"]),
        ((2, 1, 0), (0, 3), ["known_machine"]),
        ((3, 0, 0), (0, 1), ["free_gpus"]),
        ((2, 2, -1), (0, 1), ["free_gpus", "free_gpus"]),
        ((2, 0, 0), (0, 1), ["all_workers_placed"]),
        ((2, 1, 0), (1, 1), ["resource_capacity"]),
    ],
)
def test_judge_names_every_broken_rule(workers, hosts, rules):
    assert [item.rule for item in make().check(NetworkPlacementSolution(workers, hosts))] == rules


def test_violation_says_where_and_how_much():
    found = make().check(NetworkPlacementSolution((2, 1, 0), (1, 1)))
    assert str(found[0]) == "resource_capacity at machine b, resource cpu: 3, allowed 2"


def test_capacity_of_decimal_fractions_is_not_overrun_by_rounding():
    instance = make(free_capacity=np.array([[0.3], [9.0], [9.0]]), worker_demand=np.array([0.1]))
    assert instance.check(NetworkPlacementSolution((2, 1, 0), (1, 1))) == []
    tight = make(
        free_gpus=np.array([3, 0, 0]), free_capacity=np.array([[0.3], [9.0], [9.0]]), worker_demand=np.array([0.1])
    )
    assert tight.check(NetworkPlacementSolution((3, 0, 0), (1, 1))) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"machines": ()}, r"number of machines must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"machines": ("a", "b", "a")}, r"machines\[2\]: duplicate label 'a' \(first at machines\[0\]\)"),
        ({"machines": ("a", "", "c")}, r"machines\[1\] must be text of 1 to 200 characters \(got ''\)"),
        ({"workers": 0}, r"workers must be an integer from 1 to 100,000 \(got 0\)"),
        ({"workers": True}, r"workers must be an integer from 1 to 100,000 \(got True\)"),
        ({"workers": 2.0}, r"workers must be an integer from 1 to 100,000 \(got 2\.0\)"),
        ({"free_gpus": np.array([1, 2])}, r"free_gpus must have shape \(3,\) \(got \(2,\)\)"),
        ({"free_gpus": np.array([1.0, 2.0, 0.0])}, r"free_gpus must hold integers \(got float64\)"),
        ({"free_gpus": np.array([1, -2, 0])}, r"free_gpus\[1\] must be an integer from 0 to 1e9 \(got -2\)"),
        ({"traffic": np.array([0.0, np.nan, 1.0])}, r"traffic\[1\] must be a number from 0 to 1e15 \(got nan\)"),
        ({"traffic": np.array([0.0, -1.0, 1.0])}, r"traffic\[1\] must be a number from 0 to 1e15 \(got -1\.0\)"),
        ({"traffic": np.array([0.0, np.inf, 1.0])}, r"traffic\[1\] must be a number from 0 to 1e15 \(got inf\)"),
        ({"traffic": "many"}, r"traffic must hold numbers \(got 'many'\)"),
        ({"ps_sizes": np.array([])}, r"ps_sizes must be a list of 1 to 100,000 sizes \(got shape \(0,\)\)"),
        ({"ps_sizes": np.array([[1.0]])}, r"ps_sizes must be a list of 1 to 100,000 sizes \(got shape \(1, 1\)\)"),
        ({"ps_sizes": np.array([0.0, 0.0])}, r"sum of ps_sizes must be a number from 1e-15 to 1e15 MiB \(got 0\.0\)"),
        ({"ps_sizes": np.array([1.0, -1.0])}, r"ps_sizes\[1\] must be a number from 0 to 1e15 \(got -1\.0\)"),
        (
            {"ps_sizes": np.array([1e-320, 0.0])},
            r"sum of ps_sizes must be a number from 1e-15 to 1e15 MiB \(got 1e-320\)",
        ),
        ({"worker_demand": np.array([1e-16])}, r"worker_demand\[0\] must be 0 or at least 1e-15 \(got 1e-16\)"),
        ({"skew": 1.5}, r"skew must be a number from 0 to 1 \(got 1\.5\)"),
        ({"skew": float("nan")}, r"skew must be a number from 0 to 1 \(got nan\)"),
        ({"worker_demand": None}, "worker_demand must be given for the resources cpu"),
        ({"free_capacity": np.zeros((3, 2))}, r"free_capacity must have shape \(3, 1\) \(got \(3, 2\)\)"),
        ({"ps_demand": np.array([-1.0])}, r"ps_demand\[0\] must be a number from 0 to 1e15 \(got -1\.0\)"),
    ],
)
def test_bad_data_is_refused_with_field_and_value(changes, message):
    with pytest.raises(InputError, match=message):
        make(**changes)


def test_solution_holds_whole_numbers_only():
    with pytest.raises(InputError, match=r"ps_hosts\[1\] must be an integer \(got 1\.0\)"):
        NetworkPlacementSolution((1,), (0, 1.0))
    with pytest.raises(InputError, match=r"workers\[0\] must be an integer \(got True\)"):
        NetworkPlacementSolution((True,), (0,))


def test_arrays_are_read_only_and_skew_has_a_default():
    instance = make()
    with pytest.raises(ValueError, match="read-only"):
        instance.traffic[0] = 5
    assert instance.skew == 0.6
    assert make(skew=0.1).skew == 0.1
    assert instance == make()
    assert instance != make(skew=0.1)


def test_index_is_complete_and_proven_by_the_judge():
    listed = entries("network_placement")
    assert len(listed) >= 40
    for item in listed:
        assert item.status == "optimal", item.name
        assert item.bound <= item.best <= item.bound * (1 + 1e-9), item.name
    stored = [item for item in listed if item.solution is not None]
    assert stored
    from importlib import resources

    from gangopt.base.jsonfile import parse_json

    for item in stored:
        text = (resources.files("gangopt.instances") / "library/network_placement" / item.solution).read_text("utf-8")
        document = validate(NetworkPlacementSolutionDocument, parse_json(text, item.solution), item.solution)
        instance, solution = load(item.name), document.to_solution()
        assert instance.check(solution) == []
        assert instance.evaluate(solution).objective == item.best


SECONDS_EACH = ("w128", "-w16-", "figure3-resnet101", "figure3-inception3", "figure3-resnet50")
QUICK = [item.name for item in entries("network_placement") if not any(part in item.name for part in SECONDS_EACH)]


@pytest.mark.parametrize("name", QUICK)
def test_listed_optima_are_found_again(name):
    item = next(item for item in entries("network_placement") if item.name == name)
    result = gangopt.solve(load(name))
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(item.best, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", [item.name for item in entries("network_placement")])
def test_every_listed_optimum_is_found_again(name):
    item = next(item for item in entries("network_placement") if item.name == name)
    result = gangopt.solve(load(name))
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(item.best, rel=1e-9)
