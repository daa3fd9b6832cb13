"""Random placements: deterministic, within their load, refused where they make no sense."""

from __future__ import annotations

import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.placement.generate import random


def test_name_rebuilds_the_instance():
    name = "placement/random?servers=5&jobs=4&load=0.8&tasks=small&bandwidth=mixed&charge=hosts&seed=7"
    instance = gangopt.load(name)
    assert instance.name == name
    assert instance == gangopt.load(name)
    assert instance != gangopt.load(name.replace("seed=7", "seed=8"))
    assert instance.charge == "hosts"
    assert set(instance.worker_bandwidth.tolist()) <= {62.5, 125.0, 250.0}


@pytest.mark.parametrize("tasks", ["small", "paper"])
@pytest.mark.parametrize("load", [0.75, 0.9, 1.0])
def test_no_task_can_be_added_within_the_load(tasks, load):
    instance = random(servers=26, jobs=15, load=load, tasks=tasks, seed=2)
    room = (
        load * instance.capacity.sum(axis=0)
        + 1e-9
        - (
            instance.parameter_servers[:, None] * instance.ps_demand
            + instance.workers[:, None] * instance.worker_demand
        ).sum(axis=0)
    )
    assert (room >= 0).all()
    assert not (instance.ps_demand <= room).all(axis=1).any()
    assert not (instance.worker_demand <= room).all(axis=1).any()


def test_servers_are_seven_to_six_and_a_quarter_of_the_jobs_has_gpus():
    instance = random(servers=26, jobs=8, seed=1)
    assert (instance.capacity[:, 2] == 0).sum() == 14
    assert (instance.worker_demand[:, 2] > 0).sum() == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"servers": 0}, r"servers must be an integer from 1 to 100,000 \(got 0\)"),
        ({"jobs": 10**9}, r"jobs must be an integer from 1 to 50,000 \(got 1000000000\)"),
        ({"load": 0.0}, r"load must be a number > 0 and <= 1 \(got 0\.0\)"),
        ({"load": 1.1}, r"load must be a number > 0 and <= 1 \(got 1\.1\)"),
        ({"seed": -1}, r"seed must be an integer >= 0 \(got -1\)"),
        ({"servers": 2, "jobs": 20}, "one task of each kind for 20 jobs takes"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=f"placement/random: {message}"):
        random(**arguments)
