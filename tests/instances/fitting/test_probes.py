"""The choice of the next pairs to measure."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.fitting.probes import admissible_pairs, next_probes
from gangopt.instances.fitting.speed import fit_speed
from gangopt.instances.fitting.speed_samples import SpeedSamples
from gangopt.instances.fitting.speed_terms import terms

THETA = {"async": (2.83, 3.92, 0.01, 0.11), "sync": (1.02, 2.78, 4.92, 0.01, 0.02)}
BATCH = {"async": None, "sync": 40.0}


def test_780_pairs_are_admissible_in_40_containers():
    pairs = admissible_pairs(40)
    assert len(pairs) == 780
    assert pairs[:4].tolist() == [[1, 1], [1, 2], [2, 1], [1, 3]]
    assert len(admissible_pairs(40, max_ps=3, max_workers=5)) == 15
    assert admissible_pairs(2).tolist() == [[1, 1]]


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_each_probe_increases_the_determinant_most(mode):
    measured = [(1, 1), (1, 8), (4, 2), (8, 8), (2, 20), (20, 3)]
    pairs = admissible_pairs(40)
    rows = terms(mode, BATCH[mode], *pairs.T)
    rows = rows / (rows @ np.array(THETA[mode]))[:, None]
    rows = rows / np.linalg.norm(rows, axis=0)
    known = [pairs.tolist().index(list(pair)) for pair in measured]
    for chosen in next_probes(mode, measured, 4, batch=BATCH[mode], theta=THETA[mode]):
        gains = [
            -np.inf if i in known else np.linalg.slogdet(rows[[*known, i]].T @ rows[[*known, i]])[1]
            for i in range(len(pairs))
        ]
        at = pairs.tolist().index(list(chosen))
        assert gains[at] == pytest.approx(max(gains), abs=1e-6)
        known.append(at)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_as_many_first_probes_as_coefficients_determine_them(mode):
    pairs = next_probes(mode, [], len(THETA[mode]), batch=BATCH[mode])
    seconds = terms(mode, BATCH[mode], *np.array(pairs).T) @ np.array(THETA[mode])
    fit = fit_speed(SpeedSamples(*np.array(pairs).T, 1 / seconds), mode, BATCH[mode])
    assert fit.theta == pytest.approx(THETA[mode], rel=1e-6)


@given(st.sets(st.tuples(st.integers(1, 7), st.integers(1, 7)), max_size=12), st.integers(0, 40))
@settings(max_examples=30)
def test_probes_are_new_admissible_and_the_same_every_time(measured, count):
    measured = sorted(measured)
    probes = next_probes("async", measured, count, max_tasks=8, max_ps=5)
    open_pairs = {tuple(pair) for pair in admissible_pairs(8, 5).tolist()} - set(measured)
    assert len(probes) == len(set(probes)) == min(count, len(open_pairs))
    assert set(probes) <= open_pairs
    assert probes == next_probes("async", measured[::-1], count, max_tasks=8, max_ps=5)


def test_equally_good_pairs_go_by_fewest_tasks_then_fewest_servers(monkeypatch):
    equal = "gangopt.instances.fitting.probes.terms"
    monkeypatch.setattr(equal, lambda mode, batch, p, w: np.ones((len(p), 4)))
    assert next_probes("async", [(1, 2)], 4, max_tasks=9) == ((1, 1), (2, 1), (1, 3), (2, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": -1}, r"count must be an integer from 0 to 1000 probes \(got -1\)"),
        ({"count": 1001}, r"count must be an integer from 0 to 1000 probes \(got 1001\)"),
        ({"max_tasks": 1}, r"max_tasks must be an integer from 2 to 2,000,000 \(got 1\)"),
        ({"max_tasks": 100_000}, "max_tasks: 99,999 x 99,999 pairs exceed the limit of 2,000,000"),
        ({"max_ps": 0}, r"max_ps must be an integer >= 1 \(got 0\)"),
        ({"max_workers": -3}, r"max_workers must be an integer >= 1 \(got -3\)"),
        ({"theta": (1.0,)}, r"theta must have 4 coefficients in mode async \(got 1\)"),
        ({"batch": 3.0}, r"batch must be None in mode async, whose speed does not depend on it \(got 3\)"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        next_probes("async", [], **{"count": 1, **options})
