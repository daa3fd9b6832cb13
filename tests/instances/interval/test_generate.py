"""Generated intervals."""

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.instances.interval.generate import MODELS, SIZE, optimus_testbed, random


def test_random_has_the_jobs_of_the_allocation_on_equal_servers():
    instance = load("interval/random?jobs=6&servers=5&max_tasks=3&seed=2")
    shared = load("allocation/random?jobs=6&nodes=5&max_tasks=3&seed=2")
    assert instance.name == "interval/random?jobs=6&servers=5&max_tasks=3&seed=2"
    assert np.array_equal(instance.allocation.theta, shared.theta)
    assert np.array_equal(instance.allocation.capacity, shared.capacity)
    assert instance.capacity.tolist() == [[16.0, 48.0, 2.0]] * 5
    # demands tell the type: 3 cores and 9 GB for a parameter server of ResNet-50
    for j, need in enumerate(instance.allocation.ps_demand.tolist()):
        assert instance.size[j] == SIZE[[[3.0, 9.0, 0.0], [4.0, 10.0, 0.0], [3.0, 10.0, 0.0]].index(need)]
    assert instance == load("interval/random?jobs=6&servers=5&max_tasks=3&seed=2")
    assert instance != load("interval/random?jobs=6&servers=5&max_tasks=3&seed=3")


def test_workers_on_cores():
    instance = random(jobs=3, tasks="cpu")
    assert instance.allocation.resources == ("cpu", "memory")
    assert instance.capacity.tolist() == [[16.0, 80.0]] * 6


def test_testbed_draws_models_and_progress():
    instance = optimus_testbed(jobs=12, seed=1)
    labels = instance.allocation.jobs
    assert len(set(labels)) == 12
    assert set(labels[:9]) == set(MODELS)
    assert labels[9] == f"{labels[0]}-2"
    assert instance.size.tolist() == [MODELS[label.removesuffix("-2")] for label in labels]
    base = load("allocation/optimus-testbed")
    at = [base.jobs.index(label.removesuffix("-2")) for label in labels]
    left = instance.allocation.steps / base.steps[at]
    assert ((left > 0.05) & (left <= 1)).all()
    assert np.allclose(instance.allocation.progress, 1 - left, atol=1e-3)
    assert len(instance.machines) == 13


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("interval/random?servers=0", r"interval/random: servers must be an integer from 1 to 100,000 \(got 0\)"),
        ("interval/random?max_tasks=101", r"interval/random: max_tasks must be an integer from 1 to 100 \(got 101\)"),
        ("interval/random?tasks=tpu", r"interval/random\?tasks=tpu: tasks must be gpu or cpu \(got tpu\)"),
        ("interval/testbed?jobs=0", r"interval/testbed: jobs must be an integer from 1 to 200 \(got 0\)"),
        (
            "interval/testbed?cpu_servers=0",
            r"interval/testbed: cpu_servers must be an integer from 1 to 100,000 \(got 0\)",
        ),
        (
            "interval/testbed?gpu_servers=200000",
            r"interval/testbed: gpu_servers must be an integer from 1 to 100,000 \(got 200000\)",
        ),
    ],
)
def test_refused(name, message):
    with pytest.raises(InputError, match=message):
        load(name)
