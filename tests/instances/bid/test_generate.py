import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.bid.generate import random, table1


@pytest.mark.parametrize("tuner", ["halving", "curves", "single"])
@pytest.mark.parametrize("split", ["whole", "shared"])
def test_names_rebuild_equal_apps(tuner, split):
    name = f"bid/random?jobs=5&gpus=12&tuner={tuner}&split={split}&seed=4"
    instance = gangopt.load(name)
    assert instance.name == name
    assert instance == gangopt.load(name)
    assert instance != gangopt.load(name.replace("seed=4", "seed=5"))
    assert (instance.split, instance.cluster_gpus) == (split, 12)


def test_halving_keeps_half_of_the_jobs_with_twice_the_gpus_and_the_median_of_them():
    instance = random(jobs=9, seed=2)
    assert [len(runs) for runs in instance.phases] == [9, 4, 2, 1]
    assert instance.max_gpus[[0, 9, 13, 15]].tolist() == (instance.max_gpus[0] * np.array([1, 2, 4, 8])).tolist()
    median = sorted(instance.seconds[:9].tolist())[4]
    assert set(instance.seconds[9:].tolist()) == {median}
    assert len(set(instance.iterations.tolist())) == 1


def test_offers_double_up_to_the_place_that_holds_them():
    instance = random(gpus=64)
    by_level = {
        level: [g for g, own in zip(instance.offer_gpus.tolist(), instance.offer_levels, strict=True) if own == level]
        for level in ("machine", "rack", "cluster")
    }
    assert by_level == {"machine": [1, 2, 4, 8], "rack": [2, 4, 8, 16, 32], "cluster": [2, 4, 8, 16, 32, 64]}


def test_curves_are_checked_every_50_iterations():
    iterations = random(jobs=30, tuner="curves").iterations
    assert set((iterations % 50).tolist()) == {0.0}
    assert 50 <= iterations.min() <= iterations.max() <= 400
    assert len(random(jobs=30, tuner="single").jobs) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, r"bid/random: jobs must be an integer from 1 to 1000 \(got 0\)"),
        ({"jobs": 1001}, r"bid/random: jobs must be an integer from 1 to 1000 \(got 1001\)"),
        ({"gpus": 0}, r"bid/random: gpus must be an integer from 1 to 100,000 \(got 0\)"),
        ({"seed": -1}, r"bid/random: seed must be an integer >= 0 \(got -1\)"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        random(**arguments)


def test_only_measured_models_are_in_table_1():
    with pytest.raises(InputError, match="unknown model of THEMIS's table 1 'resnet50'; known: vgg16, inception3"):
        table1("resnet50")
