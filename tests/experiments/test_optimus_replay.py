"""Optimus, DRF and Tetris over arrival processes: shape, means over draws and invariants."""

import numpy as np
import pytest

from gangopt import Workload
from gangopt.base.errors import InputError
from gangopt.experiments.optimus_replay import optimus_replay, picture
from gangopt.replays.run import replay

POLICIES = ("optimus", "drf", "tetris")


def test_rows_of_the_three_processes():
    table = optimus_replay(jobs=6, draws=2, policies=POLICIES)
    assert [(row["workload"], row["policy"]) for row in table.rows] == [
        (f"optimus-{name}", policy) for name in ("uniform", "poisson", "bursts") for policy in POLICIES
    ]
    assert {row["draws"] for row in table.rows} == {2}
    assert [row["JCT to optimus"] for row in table.rows[::3]] == [1.0] * 3
    papers = {(row["workload"], row["policy"]): row["paper JCT"] for row in table.rows}
    assert papers["optimus-uniform", "drf"] == 2.39
    assert papers["optimus-uniform", "tetris"] is None
    assert papers["optimus-poisson", "drf"] is None
    assert len(picture(table).axes) == 6


def test_means_over_draws():
    rows = optimus_replay("workload/optimus-uniform", policies=("drf", "tetris"), draws=2, seed=4).rows
    runs = [
        [replay(f"workload/optimus-uniform?seed={seed}", "optimus-testbed", name).metrics for seed in (4, 5)]
        for name in ("drf", "tetris")
    ]
    assert rows[1]["mean JCT"] == pytest.approx(np.mean([item["avg_jct"] for item in runs[1]]))
    assert rows[1]["makespan to optimus"] == pytest.approx(
        sum(item["makespan"] for item in runs[1]) / sum(item["makespan"] for item in runs[0])
    )


def test_one_draw_where_the_seed_is_given_or_the_jobs_are():
    named = optimus_replay("workload/optimus-uniform?seed=4", policies=("drf",), draws=3)
    assert named.rows[0]["draws"] == 1
    given = optimus_replay(Workload.load("workload/optimus-uniform?seed=4"), policies=("drf",))
    assert given.rows[0]["mean JCT"] == named.rows[0]["mean JCT"]


def test_the_optimum_of_the_interval_is_no_worse_for_jobs_that_end_within_it():
    # two jobs, both there at the start: one decision, kept to the end
    workload = Workload.load("workload/optimus-uniform?seed=4&steps_share=0.0005")
    columns = {name: workload.frame[name].head(2) for name in workload.frame.columns}
    together = Workload.from_columns({**columns, "arrival": [0.0, 0.0]}, name="pair")
    rows = {row["policy"]: row for row in optimus_replay(together, policies=("optimus", "exact", "drf")).rows}
    assert max(row["makespan"] for row in rows.values()) <= 600
    assert rows["exact"]["mean JCT"] <= min(row["mean JCT"] for row in rows.values()) + 1e-6


def test_restarts_cost_time():
    free, dear = (
        optimus_replay("workload/optimus-uniform?seed=4", policies=("optimus",), restart=value) for value in (0.0, 60.0)
    )
    assert dear.rows[0]["mean JCT"] > free.rows[0]["mean JCT"]
    assert "every start of a job except its first costs 60 s" in dear.notes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": 0}, r"draws must be an integer from 1 to 1000 \(got 0\)"),
        ({"restart": -1.0}, r"overheads: restart must be a finite number >= 0 s \(got -1\.0\)"),
        ({"policies": ("optimum",)}, "unknown policy 'optimum'"),
        (
            {"workload": "workload/tiresias-testbed?seed=1", "cluster": 64},
            "no policy can be replayed; .* have no speed",
        ),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        optimus_replay(**arguments)
