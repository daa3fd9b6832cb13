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
        ("vgg16-w0-philly-2017", "workers=0, 1 to 100000 is needed"),
        ("figure3-vgg", "unknown model 'vgg'"),
        ("random?machines=0", "machines=0, 1 to 1000000 is needed"),
        ("random?machines=100000000000", "machines=100000000000"),
        ("random?workers=1000000000", "workers=1000000000"),
        ("random?servers=1000000000", "servers=1000000000"),
        ("random?gpus=-1", "gpus=-1"),
        ("random?spread=-1", "spread=-1"),
        ("random?spread=11", "spread=11.0, 0 to 10 is needed"),
        ("random?traffic=-1", "traffic=-1"),
        ("random?seed=-1", "seed=-1, at least 0 is needed"),
        ("model?model=vgg16&busy=2", "busy=2.0, 0 to 1 is needed"),
        ("model?model=vgg16&traffic=-1", "traffic=-1.0"),
        ("model?model=vgg16&servers=0", "servers=0"),
        ("model?model=vgg16&seed=-1", "seed=-1"),
        ("model?model=vgg16&mapping=best", r"mapping=best: mapping must be round_robin or greedy \(got best\)"),
        ("model?workers=2", "missing argument model=<str>"),
    ],
)
def test_bad_arguments_are_named(name, message):
    with pytest.raises(InputError, match=message):
        gangopt.load(f"network_placement/{name}")
