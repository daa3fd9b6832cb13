"""Every exact method ends at the look at the clock that finds the time over, and what it then says is true."""

import itertools

import pytest

from gangopt.catalogue import load
from gangopt.registry.records import problems
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.solve import solve

CASES = [
    "allocation/random?jobs=40&max_tasks=6&seed=2",
    "interval/random?jobs=3&servers=3&max_tasks=3&seed=1",
    "network_placement/random?machines=6&workers=6&servers=5&seed=3",
    "parameters/random?blocks=12&servers=4&seed=3",
    "placement/optimus-testbed",
    "threshold/random?jobs=30&features=2",
]


class Looks(Controls):
    """Controls whose time is over from a given look at it on."""

    def remaining(self):
        return 1e6 if next(self.left) else 0.0


def expiring(looks):
    controls = Looks(time_limit=1e6)
    object.__setattr__(controls, "left", itertools.chain([True] * looks, itertools.repeat(False)))
    return controls


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("looks", [0, 1, 2, 3, 5, 10, 40, 300])
def test_a_limit_at_any_moment_leaves_a_true_answer(name, looks):
    instance = load(name)
    best = solve(instance).objective
    outcome = problems[instance.noun].methods["exact"].function()(instance, expiring(looks))
    assert outcome.termination in {"time_limit", "optimal"}
    if outcome.termination == "optimal":
        assert instance.evaluate(outcome.solution).objective == pytest.approx(best, rel=1e-9, abs=1e-9)
    if outcome.solution is not None:
        assert instance.check(outcome.solution) == []
    if outcome.bound is not None:
        assert outcome.bound <= best * (1 + 1e-9) + 1e-9
