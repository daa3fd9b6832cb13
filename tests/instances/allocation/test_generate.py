"""Random allocations: the arguments mean what they say, and the same name gives the same instance."""

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.allocation.generate import NODE, random


def test_same_arguments_same_instance():
    assert random(jobs=20, seed=3) == random(jobs=20, seed=3)
    assert random(jobs=20, seed=3) != random(jobs=20, seed=4)
    named = gangopt.load("allocation/random?jobs=20&seed=3")
    assert named.name == "allocation/random?jobs=20&seed=3"
    assert np.array_equal(named.steps, random(jobs=20, seed=3).steps)


def test_nodes_and_load_set_the_capacity():
    assert random(jobs=10, nodes=7).capacity.tolist() == [7 * amount for amount in NODE]
    assert random(jobs=10).capacity.tolist() == [20 * amount for amount in NODE]
    assert random(jobs=10, nodes=10, load=0.25).capacity.tolist() == [120.0, 360.0, 15.0]
    assert random(jobs=10, nodes=10, load=0.9).capacity.tolist() == [16.0, 48.0, 2.0]


def test_modes():
    assert set(random(jobs=40, mode="async").mode) == {"async"}
    assert set(random(jobs=40, mode="sync").mode) == {"sync"}
    assert set(random(jobs=40, mode="mixed").mode) == {"async", "sync"}
    assert random(jobs=3, max_tasks=5).max_workers.tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, r"allocation/random: jobs must be an integer from 1 to 1,000,000 \(got 0\)"),
        ({"jobs": 10**9}, r"allocation/random: jobs must be an integer from 1 to 1,000,000 \(got 1000000000\)"),
        ({"nodes": 0}, r"allocation/random: nodes must be an integer from 1 to 10,000,000 \(got 0\)"),
        ({"max_tasks": 0}, r"allocation/random: max_tasks must be an integer from 1 to 1000 \(got 0\)"),
        ({"max_tasks": 1001}, r"allocation/random: max_tasks must be an integer from 1 to 1000 \(got 1001\)"),
        ({"load": 1.0}, r"allocation/random: load must be >= 0 and < 1 \(got 1\)"),
        ({"load": -0.1}, r"allocation/random: load must be >= 0 and < 1 \(got -0\.1\)"),
        ({"load": 0.9, "nodes": 1}, r"allocation/random: nodes=1 at load=0\.9 leave less than one unit of a resource"),
        ({"seed": -1}, r"allocation/random: seed must be an integer >= 0 \(got -1\)"),
        (
            {"jobs": 1_000_000, "max_tasks": 20},
            r"allocation/random: jobs x max_tasks\^2 must be an integer from 1 to 40,000,000 \(got 400000000\)",
        ),
    ],
)
def test_arguments_out_of_range(arguments, message):
    with pytest.raises(InputError, match=message):
        random(**arguments)
