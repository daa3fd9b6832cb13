"""The rules that assign parameter blocks: the published figures, hand-worked ties, and the judge's approval."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.instances.parameters.generate import network
from gangopt.instances.parameters.instance import ParametersInstance
from gangopt.solvers.parameters.heuristics import karmarkar_karp, lpt, mxnet, paa, round_robin

RULES = {
    "paa": paa,
    "mxnet": mxnet,
    "mxnet distinct": lambda instance: mxnet(instance, keys="distinct"),
    "mxnet script": lambda instance: mxnet(instance, keys="script"),
    "round_robin": round_robin,
    "lpt": lpt,
    "karmarkar_karp": karmarkar_karp,
}


def make(sizes, servers):
    return ParametersInstance(name="test", shapes=tuple((size,) for size in sizes), servers=servers)


def metrics(instance, rule):
    solution = RULES[rule](instance)
    assert instance.check(solution) == []
    return tuple(instance.evaluate(solution).metrics.values())


@pytest.mark.parametrize(
    ("rule", "figures"),
    [
        ("paa", (104_576, 157, 1)),
        ("mxnet script", (3_591_679, 247, 43)),
        ("mxnet distinct", (1_141_245, 247, 2)),
        ("round_robin", (4_136_576, 157, 1)),
        ("lpt", (1_920, 157, 26)),
        ("karmarkar_karp", (1_920, 157, 23)),
    ],
)
def test_resnet50_on_ten_servers(rule, figures):
    assert metrics(network("resnet50", 10), rule) == figures


@pytest.mark.parametrize(
    ("servers", "size_difference", "requests"),
    [(4, 349_672, 157), (8, 59_907, 157), (12, 69_347, 160), (16, 24_599, 162), (20, 117_120, 162)],
)
def test_paa_cuts_only_blocks_above_the_mean(servers, size_difference, requests):
    assert metrics(network("resnet50", servers), "paa")[:2] == (size_difference, requests)


def test_paa_by_hand():
    # mean 50: 60 is cut into 50 and 10 for the two empty servers, 39 fits best beside the 10, one is below 1 % of 50
    solution = paa(make([60, 39, 1], 2))
    assert solution.parts == (((0, 50), (1, 10)), ((1, 39),), ((1, 1),))
    small = paa(make([500, 499, 1], 2))
    assert small.parts == (((0, 500),), ((1, 499),), ((0, 1),))


def test_paa_merges_parts_of_a_block_on_one_server():
    assert paa(make([7], 1)).parts == (((0, 7),),)
    assert paa(make([3], 5)).parts == (((0, 1), (1, 1), (2, 1)),)


def test_mxnet_cuts_evenly_with_rounded_ends():
    solution = mxnet(make([1_000_003, 999_999], 3), keys="distinct")
    assert solution.parts[0] == ((0, 333_334), (1, 333_335), (2, 333_334))
    assert solution.parts[1] == ((9973 % 3, 999_999),)


def test_mxnet_draws_servers_by_seed_and_position():
    instance = network("resnet50", 10)
    assert mxnet(instance, seed=1) == mxnet(instance, seed=1)
    assert mxnet(instance, seed=1) != mxnet(instance, seed=2)
    assert instance.evaluate(mxnet(instance, seed=1)).metrics["requests"] == 247
    equal = mxnet(make([5] * 40, 4), seed=0)
    assert len({parts[0][0] for parts in equal.parts}) == 4
    assert len({parts[0][0] for parts in mxnet(make([5] * 40, 4), keys="script").parts}) == 1


def test_lpt_and_differencing_by_hand():
    # 8 7 6 5 4 on two servers: largest first ends at 17 and 13, differencing at 16 and 14
    assert metrics(make([8, 7, 6, 5, 4], 2), "lpt")[0] == 4
    assert metrics(make([8, 7, 6, 5, 4], 2), "karmarkar_karp")[0] == 2
    assert lpt(make([5, 5, 5], 2)).parts == (((0, 5),), ((1, 5),), ((0, 5),))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(1, 3_000_000), min_size=1, max_size=12), st.integers(1, 6))
@pytest.mark.parametrize("rule", RULES)
def test_the_judge_accepts_every_rule(rule, sizes, servers):
    size_difference, requests, request_difference = metrics(make(sizes, servers), rule)
    assert 0 <= size_difference <= sum(sizes)
    assert requests >= len(sizes)
    assert request_difference <= requests
    if rule in ("round_robin", "lpt", "karmarkar_karp"):
        assert requests == len(sizes)
        assert size_difference <= max(sizes) or rule == "round_robin"
