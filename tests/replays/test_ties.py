"""Order and ranks of numbers of which close ones are equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.replays.ties import RESOLUTION, ascending, merged, ranks, resolution_of

# integers with noise below the resolution
NOISY = st.lists(st.tuples(st.integers(0, 5), st.floats(-1e-9, 1e-9)), max_size=12)


@given(NOISY)
def test_noise_does_not_decide(pairs):
    whole = [number for number, _ in pairs]
    values = np.array([number + noise for number, noise in pairs], dtype=np.float64)
    assert ascending(values, 1e-6).tolist() == sorted(range(len(whole)), key=whole.__getitem__)
    assert ranks(values, 1e-6).tolist() == [sorted(set(whole)).index(number) for number in whole]
    least = {
        number: min(value for value, other in zip(values, whole, strict=True) if other == number) for number in whole
    }
    assert merged(values, 1e-6).tolist() == [least[number] for number in whole]


def test_a_share_makes_large_numbers_equal():
    values = np.array([1e9 + 0.5, 1e9, 1.0, 0.5])
    assert ascending(values, 1e-6, 1e-9).tolist() == [3, 2, 0, 1]
    assert ranks(values, 1e-6, 1e-9).tolist() == [2, 2, 1, 0]
    assert ranks(values, 1e-6).tolist() == [3, 2, 1, 0]


def test_the_resolution_grows_with_the_length_of_the_replay_alone():
    ones = np.ones(2, dtype=np.int64)
    assert resolution_of(np.empty(0), ones[:0], np.empty(0), 4) == RESOLUTION
    assert resolution_of(np.array([0.0, 6e7]), ones, np.array([5.0, 5.0]), 4) == RESOLUTION
    assert resolution_of(np.array([0.0, 1e12]), ones, np.array([5.0, 5.0]), 4) == pytest.approx(1e12 / 2**46)
