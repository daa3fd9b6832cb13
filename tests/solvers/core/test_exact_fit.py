"""The search for exact fits: against brute force, on perfect packings, and within its budget."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.formulations.placement.data import PlacementData
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.solvers.core.exact_fit import exact_fit
from gangopt.solvers.placement.fit import fit_pieces, fit_whole_jobs

amounts = st.tuples(st.integers(0, 9), st.integers(0, 5))


def within(items, bins, chosen):
    loads = np.zeros((len(bins), len(bins[0])), dtype=int)
    np.add.at(loads, list(chosen), np.array(items).reshape(len(items), -1))
    return bool((loads <= np.array(bins)).all())


def parts(rng, whole, number):
    cuts = sorted(rng.sample(range(1, whole), number - 1))
    return [b - a for a, b in itertools.pairwise([0, *cuts, whole])]


@settings(max_examples=200)
@given(st.lists(amounts, min_size=1, max_size=6), st.lists(amounts, min_size=1, max_size=3))
def test_the_search_is_brute_force(items, bins):
    found = exact_fit(items, bins)
    assert found.decided
    exists = any(within(items, bins, chosen) for chosen in itertools.product(range(len(bins)), repeat=len(items)))
    assert (found.bins is not None) is exists
    assert found.bins is None or within(items, bins, found.bins)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 4))
def test_full_bins_of_different_sizes_are_brute_force(seed, bins, most):
    rng = random.Random(seed)
    sizes = [rng.randint(10, 30) for _ in range(bins)]
    items = [(part,) for size in sizes for part in parts(rng, size, rng.randint(1, most))]
    capacities = [(size,) for size in sizes]
    found = exact_fit(items, capacities)
    assert found.decided
    assert within(items, capacities, found.bins)
    # one unit moved from one item to another: full bins may exist or not
    items[0], items[-1] = (items[0][0] + 1,), (max(0, items[-1][0] - 1),)
    found = exact_fit(items, capacities)
    if len(items) <= 6:
        exists = any(within(items, capacities, c) for c in itertools.product(range(bins), repeat=len(items)))
        assert (found.bins is not None) is (exists and sum(map(sum, items)) <= sum(sizes))


@pytest.mark.parametrize(
    ("bins", "number", "size"), [(20, 3, 10_000), (10, 5, 10_000), (40, 4, 1_000), (100, 5, 1_000)]
)
def test_bins_that_are_full_to_the_brim_are_found(bins, number, size):
    rng = random.Random(bins)
    items = [(part,) for _ in range(bins) for part in parts(rng, size, number)]
    rng.shuffle(items)
    found = exact_fit(items, [(size,)] * bins)
    assert found.bins is not None
    assert within(items, [(size,)] * bins, found.bins)


def test_without_looks_nothing_is_claimed():
    found = exact_fit([(3,), (3,), (2,), (2,), (2,)], [(6,), (6,)], looks=2)
    assert (found.bins, found.decided) == (None, False)


def test_more_than_all_bins_hold_is_refused_without_a_search():
    assert exact_fit([(3,), (2,)], [(4,)], looks=0).decided


def test_no_items_need_no_bin():
    assert exact_fit([], [(4,)]).bins == []


def triplets(servers, seed):
    """Return jobs of one worker each of which three fill a server to the last thousandth, and no other number does."""
    rng = random.Random(seed)
    needs = []
    for _ in range(servers):
        first, second = rng.randint(380, 490), rng.randint(251, 300)
        needs += [first, second, 1000 - first - second]
    rng.shuffle(needs)
    J = len(needs)
    return PlacementInstance.from_machines(
        name=f"triplets{servers}",
        resources=("gpu",),
        units=("GPU",),
        machines=tuple(f"n{k}" for k in range(servers)),
        capacity=np.full((servers, 1), 1000.0),
        jobs=tuple(f"j{j}" for j in range(J)),
        parameter_servers=np.ones(J, dtype=int),
        workers=np.ones(J, dtype=int),
        ps_demand=np.zeros((J, 1)),
        worker_demand=np.array(needs, dtype=float)[:, None],
        size=np.ones(J),
        ps_bandwidth=np.full(J, 1000.0),
        worker_bandwidth=np.full(J, 1000.0),
    )


@pytest.mark.parametrize("seed", range(4))
def test_triplets_that_fill_every_server_are_all_placed_and_proven(seed):
    result = gangopt.solve(triplets(15, seed))
    assert (result.termination, result.objective, result.bound) == ("optimal", 0.0, 0.0)
    assert result.metrics["jobs_placed"] == 45


def test_jobs_and_pieces_are_placed_within_the_servers():
    instance = triplets(6, 1)
    data = PlacementData.of(instance)
    whole = fit_whole_jobs(data)
    assert all(len(pieces) == 1 for pieces in whole.values())
    packed = fit_pieces(data, {j: [(0, 1, 0), (0, 0, 1)] for j in range(18)})
    assert set(packed) == set(range(18))
    load = np.zeros(6)
    for j, pieces in packed.items():
        assert sum(x for _, x, _ in pieces) == sum(y for _, _, y in pieces) == 1
        for k, _, workers in pieces:
            load[k] += workers * instance.worker_demand[j, 0]
    assert (load <= 1000).all()


def test_pieces_that_do_not_fit_are_not_packed():
    instance = triplets(2, 0)
    doubled = {j: [(0, 1, 1)] * 2 for j in range(6)}
    assert fit_pieces(PlacementData.of(instance), doubled) is None
