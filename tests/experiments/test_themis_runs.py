"""The sensitivity of THEMIS's rounds to f and the lease, and to wrong estimates."""

from itertools import pairwise

import pytest

from gangopt.base.errors import InputError
from gangopt.experiments import themis_estimation_error, themis_sensitivity
from gangopt.experiments.themis_runs import Workload, measures, run
from gangopt.solvers.themis.rounds import RoundSettings

SMALL = Workload(cluster="themis-testbed", apps=4, hours=4.0)


def test_a_workload_is_drawn_by_its_seed():
    first, again, other = (SMALL.draw(seed) for seed in (1, 1, 2))
    assert first == again != other
    assert first[0].arrival == 0.0
    assert all(a.arrival <= b.arrival for a, b in pairwise(first))


def test_errors_change_what_agents_say_and_nothing_else():
    true, wrong = SMALL.draw(3), SMALL.draw(3, 0.2)
    assert [app.work for app in true] == [app.work for app in wrong]
    assert [app.slowdown for app in true] == [app.slowdown for app in wrong]
    assert all(0.8 <= app.work_error <= 1.2 and app.work_error != 1.0 for app in wrong)
    assert all(app.told_slowdown.is_monotone for app in wrong)
    assert {app.work_error for app in true} == {1.0}
    assert all(app.told_slowdown == app.slowdown for app in true)


def test_a_run_ends_with_the_work_of_all_apps_done():
    done = run(SMALL, RoundSettings(), 1)
    found = measures([done], SMALL, [1])
    assert found["GPU time"] >= sum(app.work for app in SMALL.draw(1)) / 3600.0
    assert found["max rho"] >= found["mean rho"] > 0
    assert 0 < found["jain"] <= 1
    assert found["rounds"] == len(done.rounds)


def test_table_and_picture_of_the_sensitivity():
    table = themis_sensitivity.themis_sensitivity((0.5, 1.0), (10.0, 20.0), SMALL)
    assert [(row["f"], row["lease"]) for row in table.rows] == [(0.5, 10.0), (1.0, 10.0), (0.5, 20.0), (1.0, 20.0)]
    assert set(table.rows[0]) == set(themis_sensitivity.COLUMNS)
    assert [(row["paper max rho"], row["paper GPU time"]) for row in table.rows] == [
        (4.7, 2105),
        (4.0, 2570),
        (5.4, 2118),
        (4.8, 2578),
    ]
    assert any("demands of 32, 64, 128 or 256 GPUs" in note for note in table.notes)
    figure = themis_sensitivity.picture(table)
    assert [line.get_label() for line in figure.axes[0].lines] == ["10 min", "20 min"]


def test_the_paper_has_no_figures_between_its_points():
    (row,) = themis_sensitivity.themis_sensitivity((0.85,), (10.0,), SMALL).rows
    assert row["paper max rho"] is row["paper GPU time"] is None
    (row,) = themis_sensitivity.themis_sensitivity((0.3,), (15.0,), SMALL).rows
    assert row["paper max rho"] is row["paper GPU time"] is None


def test_table_and_picture_of_the_estimation_error():
    table = themis_estimation_error.themis_estimation_error([20.0], SMALL, seeds=2)
    assert [row["X"] for row in table.rows] == [0.0, 20.0]
    assert table.rows[0]["to X = 0"] == 0.0
    assert set(table.rows[0]) >= set(themis_estimation_error.COLUMNS)
    assert len(themis_estimation_error.picture(table).axes[0].lines) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"apps": 0}, "apps must be an integer from 1 to 200"),
        ({"gap": -1.0}, "gap must be a number from"),
        ({"hours": 0.0}, "hours must be a number from"),
        ({"spread": 9.0}, "spread must be a number from"),
        ({"intensive": 2.0}, "intensive must be a number from"),
        ({"restart": -1.0}, "restart must be a number from"),
        ({"cluster": "nowhere"}, "unknown cluster"),
    ],
)
def test_a_defective_workload_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        Workload(**change)


def test_arguments_out_of_range_are_refused():
    with pytest.raises(InputError, match=r"X must be a number from 0 to 90 % \(got 95"):
        themis_estimation_error.themis_estimation_error([95.0], SMALL)
    for experiment in (themis_estimation_error.themis_estimation_error, themis_sensitivity.themis_sensitivity):
        with pytest.raises(InputError, match="seeds must be an integer from 1 to 1000"):
            experiment(workload=SMALL, seeds=0)
    with pytest.raises(InputError, match=r"fairness must be from 0 to 1 \(got 1\.5\)"):
        themis_sensitivity.themis_sensitivity((1.5,), (10.0,), SMALL)
    with pytest.raises(InputError, match=r"lease must be > 0 seconds \(got 0\.0\)"):
        themis_sensitivity.themis_sensitivity((0.5,), (0.0,), SMALL)
