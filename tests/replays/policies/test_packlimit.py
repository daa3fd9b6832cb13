"""Tiresias's placement in a replay: what is packed, and what fills fragments."""

import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.profiling.skew import model_skew

CLUSTER = gangopt.Cluster.uniform(machines_per_rack=3, gpus_per_slot=4)


def places(model, policy="tiresias-l", **columns):
    """Return where a job of 4 GPUs goes beside jobs that leave 1, 2 and 4 GPUs of three machines free."""
    jobs = {"id": ["a", "b", "c"], "arrival": [0, 1, 2], "gpus": [3, 2, 4], "duration": [100, 100, 100]}
    models = {"model": ["unheard of", "unheard of", model]}
    workload = gangopt.Workload.from_columns({**jobs, **models, **columns})
    replay = gangopt.replay(workload, CLUSTER, policy, overheads=None)
    return replay.events().filter(event="start", id="c")["machines"].item()


def test_a_skewed_model_is_packed_and_another_fills_fragments():
    assert model_skew("vgg16", 4) > 0.378 > model_skew("resnet50", 4)
    assert places("vgg16") == "2:4"
    assert places("resnet50") == "0:1 1:2 2:1"


def test_a_model_that_nobody_knows_is_packed():
    assert places("unheard of") == places(None) == "2:4"


def test_the_limit_is_an_argument_of_both_policies():
    for policy in ("tiresias-l", "tiresias-g"):
        assert places("vgg16", f"{policy}?packlimit=0.99") == places("resnet50", policy)
        assert places("resnet50", f"{policy}?packlimit=0") == places("vgg16", policy)


def test_the_parameter_servers_of_the_log_count():
    one_server = places("resnet50", ps=[1, 1, 1])
    assert model_skew("resnet50", 1) < 0.378
    assert one_server == places("resnet50")


def test_a_limit_out_of_range_is_refused():
    with pytest.raises(InputError, match=r"packlimit must be a number from 0 to 1 \(got 2"):
        places("vgg16", "tiresias-l?packlimit=2")
