import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.network_placement.generate import map_tensors
from gangopt.instances.networks.models import tensor_model


def test_round_robin_and_greedy_mappings():
    sizes = (5.0, 4.0, 3.0, 2.0, 1.0)
    assert map_tensors(sizes, 2).tolist() == [9.0, 6.0]
    assert map_tensors(sizes, 2, "greedy").tolist() == [8.0, 7.0]
    assert map_tensors(sizes, 7).tolist() == [5.0, 4.0, 3.0, 2.0, 1.0, 0.0, 0.0]


def test_named_instance_has_the_models_size_and_the_clusters_machines():
    instance = gangopt.load("network_placement/vgg16-w32-philly-2017")
    assert instance.name == "network_placement/vgg16-w32-philly-2017"
    assert len(instance.machines) == 350
    assert len(instance.ps_sizes) == instance.workers == 32
    assert instance.model_size == pytest.approx(tensor_model("vgg16").size)
    assert instance.skew == tensor_model("vgg16").skew
    assert (instance.traffic <= 2 * instance.model_size).all()
    assert len(np.unique(instance.traffic)) > 300
    assert (instance.free_gpus[:100] <= 4).all()
    assert instance.free_gpus[100:].max() > 4


def test_named_instance_is_the_family_with_its_defaults():
    named = gangopt.load("network_placement/resnet50-w8-tiresias-testbed")
    family = gangopt.load("network_placement/model?model=resnet50")
    for field in ("free_gpus", "traffic", "ps_sizes"):
        assert np.array_equal(getattr(named, field), getattr(family, field))


def test_family_arguments_change_what_they_say():
    other = gangopt.load(
        "network_placement/model?model=vgg11&workers=4&servers=6&mapping=greedy&busy=0&traffic=3&seed=2"
    )
    assert other.workers == 4
    assert len(other.ps_sizes) == 6
    assert other.free_gpus.tolist() == [4] * 15
    assert other.traffic.max() == 0
    seeds = [gangopt.load(f"network_placement/random?seed={seed}") for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1]
    assert seeds[0] != seeds[2]
    assert set(gangopt.load("network_placement/random?spread=0&workers=4").ps_sizes.tolist()) == {128.0}


def test_figure3_instance_is_eight_empty_machines():
    instance = gangopt.load("network_placement/figure3-alexnet")
    assert instance.free_gpus.tolist() == [4] * 8
    assert instance.traffic.tolist() == [0.0] * 8
    assert instance.workers == len(instance.ps_sizes) == 8


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vgg17-w8-philly-2017", "unknown model 'vgg17'"),
        ("vgg16-w8-philly", "unknown cluster 'philly'"),
        ("vgg16-w0-philly-2017", r"network_placement/model: workers must be an integer from 1 to 100,000 \(got 0\)"),
        ("figure3-vgg", "unknown model 'vgg'"),
        ("random?machines=0", r"network_placement/random: machines must be an integer from 1 to 1,000,000 \(got 0\)"),
        (
            "random?machines=100000000000",
            r"network_placement/random: machines must be an integer from 1 to 1,000,000 \(got 100000000000\)",
        ),
        (
            "random?workers=1000000000",
            r"network_placement/random: workers must be an integer from 1 to 100,000 \(got 1000000000\)",
        ),
        (
            "random?servers=1000000000",
            r"network_placement/random: servers must be an integer from 1 to 100,000 \(got 1000000000\)",
        ),
        ("random?gpus=-1", r"network_placement/random: gpus must be an integer from 0 to 1,000,000 \(got -1\)"),
        ("random?spread=-1", r"network_placement/random: spread must be a number from 0 to 10 \(got -1\.0\)"),
        ("random?spread=11", r"network_placement/random: spread must be a number from 0 to 10 \(got 11\.0\)"),
        ("random?traffic=-1", r"network_placement/random: traffic must be a number from 0 to 1,000,000 \(got -1\.0\)"),
        ("random?seed=-1", r"network_placement/random: seed must be an integer >= 0 \(got -1\)"),
        ("model?model=vgg16&busy=2", r"network_placement/model: busy must be a number from 0 to 1 \(got 2\.0\)"),
        (
            "model?model=vgg16&traffic=-1",
            r"network_placement/model: traffic must be a number from 0 to 1,000,000 \(got -1\.0\)",
        ),
        (
            "model?model=vgg16&servers=0",
            r"network_placement/model: servers must be an integer from 1 to 100,000 \(got 0\)",
        ),
        ("model?model=vgg16&seed=-1", r"network_placement/model: seed must be an integer >= 0 \(got -1\)"),
        ("model?model=vgg16&mapping=best", r"network_placement/model\?model=vgg16&mapping=best: mapping must be"),
        ("model?workers=2", r"network_placement/model\?workers=2: missing argument model=<str>"),
    ],
)
def test_bad_arguments_are_named(name, message):
    with pytest.raises(InputError, match=message):
        gangopt.load(f"network_placement/{name}")
