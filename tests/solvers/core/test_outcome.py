"""What every exact method says of its way: numbers of one type, and no form that was not built."""

import pytest

from gangopt.catalogue import load
from gangopt.registry.records import problems
from gangopt.solvers.core.contract import Controls

CASES = [
    ("allocation/optimus-figure4", Controls()),
    ("allocation/random?jobs=200&load=0.5", Controls()),
    ("allocation/random?jobs=20", Controls(time_limit=1e-9)),
    ("interval/one-server", Controls()),
    ("interval/random?jobs=20&max_tasks=3", Controls(time_limit=1e-9)),
    ("network_placement/vgg16-w8-tiresias-testbed", Controls()),
    ("network_placement/figure3-resnet50", Controls()),
    ("parameters/resnet50-p10", Controls()),
    ("placement/optimus-figure10", Controls()),
    ("placement/optimus-testbed", Controls()),
    ("placement/random?jobs=20&load=0.99&servers=20", Controls(time_limit=1e-9)),
    ("threshold/random?jobs=30&features=2", Controls()),
    ("threshold/tiresias-figure3", Controls()),
]


@pytest.mark.parametrize(("name", "controls"), CASES)
def test_numbers_are_floats_and_a_form_is_named_only_if_a_solver_saw_it(name, controls):
    problem = problems[load(name).noun]
    outcome = problem.methods["exact"].function()(load(name), controls)
    numbers = [number for event in outcome.trajectory for number in event]
    assert {type(number) for number in [*numbers, outcome.bound]} <= {float, type(None)}
    solved = bool(outcome.solver and outcome.version)
    named = {*(outcome.form or "").split(", ")} & {*problem.forms}
    # a method may have a name of its own that is also a form's: parameters calls its levels so
    assert bool(named) == solved, (outcome.form, outcome.solver)


def test_at_least_one_case_of_each_kind():
    outcomes = [
        problems[load(name).noun].methods["exact"].function()(load(name), controls) for name, controls in CASES[:2]
    ]
    assert [item.form for item in outcomes] == ["dual", "counts"]
