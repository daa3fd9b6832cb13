"""Injected errors and the resulting losses relative to the true optimum."""

import numpy as np
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.catalogue import load
from gangopt.experiments.prediction_error import picture, prediction_error, with_error
from gangopt.instances.allocation.instance import AllocationInstance

NAME = "allocation/random?jobs=6&nodes=6&max_tasks=6&seed=1"


def tables():
    """Two jobs that share a measured table."""
    return AllocationInstance(
        name="allocation/made",
        resources=("gpu",),
        units=("GPU",),
        capacity=np.array([5.0]),
        jobs=("a", "b"),
        steps=np.array([100.0, 200.0]),
        mode=("table", "table"),
        theta=np.zeros((2, 5)),
        batch=np.zeros(2),
        tables=(np.array([[1.0, 1.5, 1.8, np.nan]]),),
        table_labels=("t",),
        table=np.array([0, 0]),
        worker_demand=np.ones((2, 1)),
        ps_demand=np.zeros((2, 1)),
        max_workers=np.array([4, 4]),
        max_ps=np.array([1, 1]),
        progress=np.array([0.0, 0.5]),
    )


def test_errors_decay_with_progress():
    true = load(NAME)
    wrong = with_error(true, "steps", 0.3, np.random.default_rng(0))
    factor = wrong.steps / true.steps
    assert np.abs(factor - 1) == pytest.approx(0.3 * (1 - true.progress))
    assert {-1.0, 1.0} == set(np.sign(factor - 1).tolist())
    assert np.array_equal(wrong.theta, true.theta)


def test_speeds_change_alike_for_every_configuration():
    true = load(NAME)
    wrong = with_error(true, "speed", 0.3, np.random.default_rng(0))
    for j in range(6):
        ratio = true.completion_time(j, 1, 1) / wrong.completion_time(j, 1, 1)
        assert abs(ratio - 1) == pytest.approx(0.3 * (1 - true.progress[j]))
        assert true.completion_time(j, 3, 4) / wrong.completion_time(j, 3, 4) == pytest.approx(ratio)


def test_both_are_the_errors_of_each():
    true = load(NAME)
    both, steps, speed = (with_error(true, kind, 0.3, np.random.default_rng(4)) for kind in ("both", "steps", "speed"))
    assert np.array_equal(both.steps, steps.steps)
    assert np.array_equal(both.theta, speed.theta)


def test_coefficients_change_apart():
    true = load(NAME)
    wrong = with_error(true, "coefficients", 0.3, np.random.default_rng(0))
    used = true.theta > 0
    size = np.abs(wrong.theta[used] / true.theta[used] - 1)
    assert size == pytest.approx(np.broadcast_to((0.3 * (1 - true.progress))[:, None], used.shape)[used])
    signs = np.sign(wrong.theta - true.theta)
    assert any(len(set(row[mask].tolist())) == 2 for row, mask in zip(signs, used, strict=True))
    assert np.array_equal(wrong.steps, true.steps)


@pytest.mark.parametrize("kind", ["speed", "both", "coefficients"])
def test_jobs_that_share_a_table_err_apart(kind):
    true = tables()
    wrong = with_error(true, kind, 0.2, np.random.default_rng(1))
    assert len(wrong.tables) == 2
    for j, e in enumerate((0.2, 0.1)):
        ratio = wrong.tables[wrong.table[j]] / true.tables[0]
        assert np.isnan(ratio[0, 3])
        assert np.abs(ratio[0, :3] - 1) == pytest.approx([e] * 3)
        assert kind == "coefficients" or len(set(ratio[0, :3].round(9))) == 1


def test_same_draws_for_every_size_of_error():
    true = load(NAME)
    small, large = (with_error(true, "steps", e, np.random.default_rng(2)) for e in (0.1, 0.4))
    assert np.array_equal(np.sign(small.steps - true.steps), np.sign(large.steps - true.steps))


@pytest.fixture(scope="module")
def table():
    return prediction_error([NAME], errors=(0.0, 0.45), kinds=("steps", "both"), seeds=3)


def test_losses(table):
    best = gangopt.solve(load(NAME), "exact").objective
    rows = {(row["error in"], row["error"], row["method"]): row for row in table.rows}
    assert len(rows) == 2 * 2 * 4
    assert rows["steps", 0.0, "exact"]["mean loss"] == 0.0
    greedy = gangopt.solve(load(NAME), "optimus").objective
    assert rows["steps", 0.0, "optimus"]["mean loss"] == pytest.approx(100 * (greedy / best - 1), abs=1e-6)
    true = load(NAME)
    losses = []
    for seed in range(3):
        wrong = with_error(true, "both", 0.45, np.random.default_rng(seed))
        losses.append(100 * (true.evaluate(gangopt.solve(wrong, "exact").solution).objective / best - 1))
    row = rows["both", 45.0, "exact"]
    assert row["mean loss"] == pytest.approx(np.mean(losses), abs=1e-6)
    assert row["largest loss"] == pytest.approx(max(losses), abs=1e-6)
    assert row["standard error"] == pytest.approx(np.std(losses, ddof=1) / np.sqrt(3), abs=1e-6)
    assert row["mean loss"] > 0


def test_picture(table):
    panels = picture(table).axes
    assert [axes.get_xlabel() for axes in panels] == ["error in steps (%)", "error in both (%)"]
    assert [line.get_xdata().tolist() for line in panels[0].get_lines()[:1]] == [[0.0, 45.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"instances": ["interval/fragments"]}, r"must be an allocation instance \(got interval\)"),
        ({"errors": [1.0]}, r"error must be >= 0 and < 1 \(got 1\)"),
        ({"kinds": ["loss"]}, "unknown kind of error 'loss'; known: steps, speed, both, coefficients"),
        ({"seeds": 0}, r"seeds must be an integer from 1 to 10,000 \(got 0\)"),
        ({"methods": ["greedy"]}, "unknown method of allocation 'greedy'"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        prediction_error(**{"instances": [NAME], "seeds": 2, **arguments})


def test_no_optimum_proven_in_time():
    with pytest.raises(InputError, match="optimum not proven within the time limit"):
        prediction_error(["allocation/random?jobs=400&nodes=200"], seeds=1, time_limit=1e-9)
