"""The Gittins index of attained service, by hand and from its definition."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.workload.gittins import ServiceDistribution

SERVICES = st.lists(st.integers(1, 30), min_size=1, max_size=8)


def test_index_of_the_example_of_tiresias():
    index = ServiceDistribution([4, 8, 12]).best_index(np.arange(12))
    shown = [0.125, 0.143, 0.167, 0.333, 0.167, 0.2, 0.25, 0.5, 0.25, 0.333, 0.5, 1.0]
    assert index.round(3).tolist() == shown


def test_index_with_a_quantum():
    past = ServiceDistribution([8, 4, 12])
    # one of three ends within 4; each is served for 4
    assert past.index(0, 4) == pytest.approx((1 / 3) / 4)
    assert past.index(4, 4) == pytest.approx((1 / 2) / 4)
    assert past.index(0, math.inf) == pytest.approx(1 / 8)


def test_nothing_is_known_beyond_the_longest_past_job():
    past = ServiceDistribution([4, 8])
    assert past.index([8, 9], 5).tolist() == [0, 0]
    assert past.best_index([8, 9]).tolist() == [0, 0]


def test_a_quantum_in_which_no_past_job_ends_is_worth_nothing():
    assert ServiceDistribution([4, 8]).index(5, 2) == 0


@given(SERVICES, st.integers(0, 31), st.integers(1, 40))
def test_index_is_its_definition(services, attained, quantum):
    later = [service - attained for service in services if service > attained]
    taken = sum(Fraction(min(left, quantum)) for left in later)
    expected = Fraction(sum(left <= quantum for left in later)) / taken if later else Fraction(0)
    assert ServiceDistribution(services).index(attained, quantum) == pytest.approx(float(expected), rel=1e-12)


@given(SERVICES, st.integers(0, 31))
def test_best_index_is_the_greatest_over_all_quanta(services, attained):
    past = ServiceDistribution(services)
    every = past.index(attained, np.arange(1, 40))
    assert past.best_index(attained) == pytest.approx(every.max(), rel=1e-12)


@settings(max_examples=200)
@given(
    services=st.lists(st.fractions(Fraction(1, 2), 40, max_denominator=6), min_size=1, max_size=12),
    attained=st.fractions(0, 45, max_denominator=6),
    noise=st.sampled_from([0.0, 3e-15, -3e-15, 4e-7, -4e-7]),
)
def test_best_index_does_not_see_rounding(services, attained, noise):
    past = ServiceDistribution([float(service) for service in services])
    later = [service - attained for service in services if service > attained]
    best = max(
        (
            Fraction(sum(left <= quantum for left in later)) / sum(min(left, quantum) for left in later)
            for quantum in later
        ),
        default=Fraction(0),
    )
    # the distance to the next past service is at least 1/30
    assert past.best_index(float(attained) + noise) == pytest.approx(
        float(best), rel=1e-4 if abs(noise) > 1e-9 else 1e-9
    )


def test_the_index_does_not_jump_before_a_past_job_ends():
    past = ServiceDistribution([10, 30])
    assert past.best_index([10, 10 - 2e-15]) == pytest.approx([0.05, 0.05], rel=1e-12)
    assert past.index([10, 10 - 2e-15], 20) == pytest.approx([0.05, 0.05], rel=1e-12)
    assert past.index(10, 20 - 2e-15) == pytest.approx(0.05, rel=1e-12)
    # a coarser resolution, and a finer one
    assert past.best_index(9.9, resolution=0.2) == pytest.approx(1 / 20.1, rel=1e-12)
    assert past.best_index(9.9, resolution=0.0) == pytest.approx(1 / 0.2, rel=1e-12)


def test_best_index_of_a_long_history_is_the_greatest_over_its_services():
    services = np.random.default_rng(0).lognormal(8, 2, 400)
    past = ServiceDistribution(services)
    attained = np.sort(np.random.default_rng(1).lognormal(8, 2, 300))
    values = past.services
    every = [past.index(a, values[values > a + 1e-6] - a).max(initial=0.0) for a in attained.tolist()]
    assert past.best_index(attained) == pytest.approx(every, rel=1e-9)
    assert past.best_index(attained.reshape(30, 10)).shape == (30, 10)


def test_services_are_sorted_and_a_copy():
    past = ServiceDistribution([3, 1, 2])
    past.services[0] = 99
    assert past.services.tolist() == [1, 2, 3]


def test_read_from_a_file(tmp_path):
    path = tmp_path / "past.txt"
    path.write_text("4\n\n 8 \n12.5\n")
    assert ServiceDistribution.from_file(path).services.tolist() == [4, 8, 12.5]


@pytest.mark.parametrize(
    ("services", "message"),
    [
        ([], "services must not be empty"),
        ([1, 0], "services must be finite numbers > 0 GPU s (got 0)"),
        ([1, -2], "services must be finite numbers > 0 GPU s (got -2)"),
        ([1, math.nan], "services must be finite numbers > 0 GPU s (got nan)"),
        ([math.inf], "services must be finite numbers > 0 GPU s (got inf)"),
    ],
)
def test_wrong_services_are_refused(services, message):
    with pytest.raises(InputError) as caught:
        ServiceDistribution(services)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4\nfive\n", ": line 2 must be a number > 0 GPU s (got 'five')"),
        ("4\n\n0\n", ": line 3 must be a number > 0 GPU s (got '0')"),
        ("\n", ": empty file; expected a number of GPU s on each line"),
    ],
)
def test_wrong_files_are_refused(tmp_path, text, message):
    path = tmp_path / "past.txt"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        ServiceDistribution.from_file(path)
    assert str(caught.value) == f"{path}{message}"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere.txt: no such file"):
        ServiceDistribution.from_file(tmp_path / "nowhere.txt")


def test_the_header_of_the_published_samples_is_no_service(tmp_path):
    file = tmp_path / "yarn.csv"
    file.write_bytes(b"\xef\xbb\xbfduration\r\n121\r\n122\r\n122\r\n\r\n53294624\r\n")
    assert ServiceDistribution.from_file(file).services.tolist() == [121, 122, 122, 53294624]
    file.write_text("121\nduration\n122\n")
    with pytest.raises(InputError, match=r"yarn\.csv: line 2 must be a number > 0 GPU s \(got 'duration'\)"):
        ServiceDistribution.from_file(file)
    file.write_text("duration\nduration\n122\n")
    with pytest.raises(InputError, match=r"yarn\.csv: line 2 must be a number > 0 GPU s"):
        ServiceDistribution.from_file(file)
    file.write_text("duration\n")
    with pytest.raises(InputError, match=r"yarn\.csv: empty file"):
        ServiceDistribution.from_file(file)
