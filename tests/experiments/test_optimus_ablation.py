"""The ablation of Optimus: every figure recomputed from single solves."""

import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.experiments.optimus_ablation import SWAPPED, optimus_ablation, picture

NAMES = ("interval/testbed?seed=0", "interval/testbed?jobs=5&seed=1")


@pytest.fixture(scope="module")
def table():
    return optimus_ablation(NAMES, time_limit=20.0)


def test_rows_are_the_pairs(table):
    assert [(row["swapped"], row["method"]) for row in table.rows] == [
        (half, method) for half, methods in SWAPPED.items() for method in methods
    ]
    assert [row["to Optimus"] for row in table.rows if row["method"] == "optimus"] == [1.0, 1.0]
    for row in table.rows:
        pair = f"{row['method']}+optimus" if row["swapped"] == "allocation" else f"optimus+{row['method']}"
        if "exact" in pair:
            continue
        results = [gangopt.solve(gangopt.load(name), pair) for name in NAMES]
        assert row["completion time"] == pytest.approx(sum(r.metrics["sum_completion_time"] for r in results) / 14)
        assert row["jobs placed"] == pytest.approx(100 * sum(r.metrics["jobs_placed"] for r in results) / 14)


def test_jobs_that_all_methods_place(table):
    base = [gangopt.solve(gangopt.load(name), "optimus+optimus") for name in NAMES]
    others = {
        method: [gangopt.solve(gangopt.load(name), f"{method}+optimus") for name in NAMES]
        for method in SWAPPED["allocation"]
    }
    sums = {"optimus": 0.0, "drf": 0.0}
    for number, name in enumerate(NAMES):
        instance = gangopt.load(name)
        for j in range(len(instance.allocation.jobs)):
            if all(results[number].solution.placement.pieces[j] for results in others.values()):
                for method in sums:
                    sums[method] += instance.completion_times(others[method][number].solution)[j]
    assert base[0].solution == others["optimus"][0].solution
    row = next(row for row in table.rows if row["method"] == "drf")
    assert row["same jobs, to Optimus"] == pytest.approx(sums["drf"] / sums["optimus"])


def test_exact_placement_is_no_slower_on_the_same_jobs(table):
    rows = {row["method"]: row for row in table.rows if row["swapped"] == "placement"}
    assert rows["exact"]["jobs placed"] >= rows["optimus"]["jobs placed"]


def test_the_joint_optimum_on_request():
    table = optimus_ablation(["interval/fragments", "interval/one-server"], optimum=True)
    joint = table.rows[-1]
    assert (joint["swapped"], joint["method"], joint["jobs placed"]) == ("both", "joint", 100.0)
    assert joint["to Optimus"] < 1


def test_picture(table):
    panels = picture(table).axes
    assert [axes.get_title().partition(" ")[0] for axes in panels] == ["allocation", "placement"]
    assert [label.get_text() for label in panels[1].get_xticklabels()] == list(SWAPPED["placement"])
    assert panels[0].patches[0].get_height() == 1.0


@pytest.mark.parametrize(
    ("names", "message"),
    [((), "no instances given"), (("allocation/optimus-testbed",), r"must be an interval instance \(got allocation\)")],
)
def test_refused(names, message):
    with pytest.raises(InputError, match=message):
        optimus_ablation(names)
