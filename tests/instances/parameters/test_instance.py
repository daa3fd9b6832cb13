"""The judge of `parameters`, and the blocks of real networks."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.networks import NETWORKS
from gangopt.instances.networks.inception import googlenet
from gangopt.instances.parameters.generate import network, random
from gangopt.instances.parameters.grouping import Assignment, cut, grouped, spread
from gangopt.instances.parameters.instance import MAX_SERVERS, ParametersInstance, ParametersSolution
from gangopt.instances.parameters.text import describe


def make(*sizes, servers=2, **changes):
    return ParametersInstance(name="test", shapes=tuple((size,) for size in sizes), servers=servers, **changes)


@pytest.mark.parametrize(
    ("name", "blocks", "total", "large"),
    [
        ("resnet50", 157, 25_549_486, 10),
        ("resnet101", 310, 44_541_614, 10),
        ("resnet152", 463, 60_185_262, 10),
        ("vgg11", 22, 132_863_336, 7),
        ("vgg16", 32, 138_357_544, 9),
        ("vgg19", 38, 143_667_240, 11),
        ("alexnet", 16, 50_844_008, 4),
        ("inception-bn", 278, 11_295_240, 1),
        ("googlenet", 116, 10_070_552, 1),
    ],
)
def test_networks_have_the_published_blocks_and_totals(name, blocks, total, large):
    listed = NETWORKS[name]()
    sizes = [math.prod(shape) for _, shape in listed]
    assert (len(listed), sum(sizes), sum(size >= 10**6 for size in sizes)) == (blocks, total, large)
    assert len({label for label, _ in listed}) == blocks


def test_resnet50_has_the_published_sizes():
    sizes = Counter(network("resnet50", 10).sizes.tolist())
    large = {2359296: 3, 2097152: 1, 2048000: 1, 1048576: 5, 589824: 6, 524288: 2, 262144: 11, 147456: 4, 131072: 2}
    middle = {65536: 7, 36864: 3, 32768: 1, 16384: 6, 9408: 1, 4096: 1, 2048: 6, 1024: 12, 1000: 1, 512: 20, 256: 30}
    published = large | middle | {128: 16, 64: 16, 3: 2}
    assert sizes == published


@pytest.mark.parametrize(("side", "inputs"), [(256, 1024), (300, 4096)])
def test_the_classifier_of_googlenet_grows_with_the_picture(side, inputs):
    assert dict(googlenet(side=side))["fc1_weight"] == (1000, inputs)


def test_labels_and_shapes_are_kept():
    instance = network("resnet50", 4)
    at = instance.labels.index("stage4_unit1_conv2_weight")
    assert instance.shapes[at] == (512, 512, 3, 3)
    assert instance.sizes[at] == 512 * 512 * 9
    assert make(5, 6).labels == ("block0", "block1")


def test_equal_sized_blocks_are_distinct():
    instance = make(5, 5)
    apart = ParametersSolution((((0, 5),), ((1, 5),)))
    together = ParametersSolution((((0, 5),), ((0, 5),)))
    assert instance.evaluate(apart).objective == 0
    assert instance.evaluate(together).objective == 10


def test_the_judge_scores_all_three_objectives():
    instance = make(5, 4, 3, servers=3)
    solution = ParametersSolution((((0, 3), (1, 2)), ((1, 4),), ((1, 3),)))
    assert instance.check(solution) == []
    score = instance.evaluate(solution)
    assert score.objective == 9
    assert dict(score.metrics) == {"size_difference": 9, "requests": 4, "request_difference": 3}


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ((((0, 4),), ((0, 4),)), "whole_block"),
        ((((0, 5),),), "whole_block"),
        ((((0, 5),), ()), "whole_block"),
        ((((0, 5),), ((2, 4),)), "known_server"),
        ((((0, 5),), ((-1, 4),)), "known_server"),
        ((((0, 5), (1, 0)), ((0, 4),)), "positive_part"),
        ((((0, 3), (0, 2)), ((0, 4),)), "one_part_per_server"),
    ],
)
def test_the_judge_names_the_broken_rule(parts, rule):
    violations = make(5, 4).check(ParametersSolution(parts))
    assert [item.rule for item in violations] == [rule]


@pytest.mark.parametrize("part", [(0, 1.0), (True, 1), (0,), (0, 1, 2)])
def test_solutions_hold_whole_numbers(part):
    with pytest.raises(InputError, match=r"parts\[0\] must be integers \(server, parameters\) \(got "):
        ParametersSolution(((part,),))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"servers": 0}, rf"servers must be an integer from 1 to {MAX_SERVERS:,} \(got 0\)"),
        ({"servers": MAX_SERVERS + 1}, r"servers must be an integer from 1 to 10,000 \(got 10001\)"),
        ({"servers": True}, r"servers must be an integer from 1 to 10,000 \(got True\)"),
        ({"shapes": ()}, r"number of blocks must be an integer from 1 to 100,000 \(got 0\)"),
        ({"shapes": ((),)}, r"shapes\[0\] \(block0\) must have 1 to 32 dimensions \(got 0\)"),
        ({"shapes": ((3, 0),)}, r"shapes\[0\] \(block0\): a dimension must be an integer from 1 to 1e15 \(got 0\)"),
        ({"shapes": ((3, -1),)}, r"shapes\[0\] \(block0\): a dimension must be an integer from 1 to 1e15 \(got -1\)"),
        ({"shapes": ((2.0,),)}, r"shapes\[0\] \(block0\): a dimension must be an integer from 1 to 1e15 \(got 2\.0\)"),
        (
            {"shapes": ((10**15,), (1,))},
            r"number of parameters must be an integer from 1 to 1e15 \(got 1000000000000001\)",
        ),
        ({"labels": ("a",)}, r"labels must name each of the 2 blocks \(got 1 labels\)"),
        ({"labels": ("a", "a")}, r"labels\[1\]: duplicate label 'a' \(first at labels\[0\]\)"),
        ({"labels": ("a", "")}, r"labels\[1\] must be text of 1 to 200 characters \(got ''\)"),
    ],
)
def test_bad_instances_name_field_value_and_limit(changes, message):
    with pytest.raises(InputError, match=message):
        ParametersInstance(**{"name": "test", "shapes": ((5,), (4,)), "servers": 2, **changes})


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        make(1, 2).sizes[0] = 3


def test_cutting_a_group_takes_one_cut_less_than_servers():
    instance = make(5, 5, 1, servers=4)
    solution = cut(instance, Assignment((3, 1), (0, 0, 1), 3))
    assert instance.check(solution) == []
    assert dict(instance.evaluate(solution).metrics) == {"size_difference": 3, "requests": 5, "request_difference": 1}


def test_grouping_is_the_way_back_from_a_cut():
    instance = make(5, 5, 1, servers=4)
    solution = cut(instance, Assignment((3, 1), (0, 0, 1), 3))
    assert grouped(instance, solution, 2) == Assignment((3, 1), (0, 0, 1), 3)
    assert grouped(instance, solution, 1) == Assignment((4,), (0, 0, 0), 1)
    with pytest.raises(InputError, match=r"solution must leave at least 3 separate groups \(got 2\)"):
        grouped(instance, solution, 3)


def test_spread_counts_a_further_server_for_the_maximum_only():
    assert spread([7, 3], [2, 1]) == 1
    assert spread([7, 3], [2, 1], least_high=9) == 6


def test_random_sizes_are_in_range_and_reproducible():
    instance = random(blocks=200, servers=3, largest=1000, seed=5)
    assert instance == random(blocks=200, servers=3, largest=1000, seed=5)
    assert instance != random(blocks=200, servers=3, largest=1000, seed=6)
    assert instance.sizes.min() >= 1
    assert instance.sizes.max() <= 1000
    assert np.median(instance.sizes) < instance.sizes.mean()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"blocks": 0}, r"parameters/random: blocks must be an integer from 1 to 100,000 \(got 0\)"),
        ({"blocks": 10**9}, r"parameters/random: blocks must be an integer from 1 to 100,000 \(got 1000000000\)"),
        ({"largest": 0}, r"parameters/random: largest must be an integer from 1 to "),
    ],
)
def test_absurd_random_instances_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        random(**arguments)


def test_negative_seeds_are_refused():
    with pytest.raises(InputError, match=r"parameters/random: seed must be an integer >= 0 \(got -1\)"):
        random(seed=-1)


def test_an_unknown_network_gives_near_matches():
    with pytest.raises(InputError, match="unknown network 'resnet51'; did you mean 'resnet50'"):
        network("resnet51", 4)


def test_the_description_has_totals_and_sizes():
    text = describe(network("resnet50", 10))
    assert "157 blocks of 23 sizes, 25,549,486 parameters (102.2 MB in float32)" in text
    assert "10 servers, 2,554,948.6 parameters each on average" in text
    assert "stage4_unit1_conv2_weight 512x512x3x3" in text
    assert "smaller" in describe(random(blocks=100))
