import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.apps.locality import TABLE1, LocalityProfile, measured_slowdown, monotone, table1_slowdowns
from gangopt.instances.networks.models import MODELS
from gangopt.topology import LOCALITIES, PRIORS, Slowdown


def test_table_1_replaces_priors_by_measurements():
    table = table1_slowdowns()
    assert set(TABLE1) <= set(MODELS)
    assert table.of("vgg16").rack == pytest.approx(1.289, abs=5e-4)
    assert table.of("inception3").rack == pytest.approx(0.996, abs=5e-4)
    assert table.of("vgg16").machine == 1
    assert table.of("vgg16").cluster == 1.3
    assert table.of("resnet50") == PRIORS


def test_a_slowdown_is_made_monotone_from_the_narrow_side():
    assert monotone(table1_slowdowns().of("inception3")) == Slowdown(1, 1, 1, 1.3)
    assert monotone(PRIORS) == PRIORS


@given(st.lists(st.floats(0.1, 5), min_size=4, max_size=4))
def test_monotone_slowdowns_never_fall_and_promise_nothing_more(values):
    given_ = Slowdown(*values)
    found = monotone(given_)
    assert found.is_monotone
    assert all(found.at(level) >= given_.at(level) for level in LOCALITIES)
    assert monotone(found) == found


def test_a_profile_takes_the_mean_of_what_it_saw():
    profile = LocalityProfile(8.0, max_gpus=4)
    assert profile.slowdown == PRIORS
    profile.observe("rack", 4, 2.5)
    profile.observe("rack", 4, 3.0)
    profile.observe("machine", 8, 2.0)
    assert profile.slowdown == Slowdown(1.0, 1.0, 1.375, 1.3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: measured_slowdown(0, 1), r"near must be a finite number > 0 \(got 0\)"),
        (lambda: measured_slowdown(1, math.inf), r"far must be a finite number > 0 \(got inf\)"),
        (lambda: LocalityProfile(0, 1), r"seconds_per_iteration must be a finite number > 0 s \(got 0\)"),
        (lambda: LocalityProfile(1, 0), r"max_gpus must be an integer >= 1 \(got 0\)"),
        (lambda: LocalityProfile(1, 1).observe("room", 1, 1), "unknown locality 'room'"),
        (lambda: LocalityProfile(1, 1).observe("rack", 0, 1), r"gpus must be an integer >= 1 \(got 0\)"),
        (
            lambda: LocalityProfile(1, 1).observe("rack", 1, math.nan),
            r"seconds must be a finite number > 0 s \(got nan\)",
        ),
    ],
)
def test_measurements_without_sense_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
