"""Bounds, proofs and marks of the rows on one instance, and what the summary and the text make of them."""

import math

import pytest

import gangopt
from gangopt.instances.parameters.instance import ParametersInstance
from gangopt.reporting.comparison import MOST_REMARKS, comparison_text
from gangopt.solvers.compare.comparison import Comparison
from gangopt.solvers.compare.rows import scored_rows
from gangopt.solvers.core.contract import Controls, Outcome
from gangopt.solvers.core.row import Row
from gangopt.solvers.parameters.heuristics import lpt

LARGE = ParametersInstance(
    name="large",
    description="one large block beside small ones",
    source="made up",
    servers=3,
    labels=tuple("abcdef"),
    shapes=((3_000_000_000,), (3,), (3,), (2,), (2,), (2,)),
)


def make_row(instance="a", method="m", objective=1.0, bound=1.0, gap=0.0, **values):
    defaults = {"proven": gap == 0, "seconds": 1.0, "status": "feasible", "unit": "parameters"}
    return Row(instance, "parameters", method, objective, bound, gap, **{**defaults, **values})


def test_whole_objectives_are_proven_and_best_only_if_equal():
    """2,999,999,995 against 2,999,999,994 is a relative difference of 3e-10, below any rounding tolerance."""
    exact, rule = gangopt.compare(LARGE, ["exact", "lpt"]).rows
    assert (exact.objective, rule.objective) == (2_999_999_994, 2_999_999_995)
    assert (exact.proven, exact.best) == (True, True)
    assert (rule.proven, rule.best) == (False, False)
    text = comparison_text(Comparison((exact, rule)))
    line = next(line.split() for line in text.splitlines() if "2,999,999,995" in line)
    assert line[:9] == ["lpt", "2,999,999,995", "2,999,999,994", "requests", "<=", "6", "3.3e-08", "no", "6"]
    assert not gangopt.solve(LARGE, "lpt").proven


def test_a_form_on_large_whole_numbers_finds_the_same_optimum():
    result = gangopt.solve(LARGE, form="groups")
    assert (result.objective, result.bound, result.proven) == (2_999_999_994, 2_999_999_994, True)


def test_a_whole_bound_one_off_the_objective_is_not_a_proof(monkeypatch):
    def exact(instance, controls):
        return Outcome("optimal", lpt(instance), 2_999_999_994.0)

    monkeypatch.setattr("gangopt.solvers.parameters.exact.exact", exact)
    result = gangopt.solve(LARGE)
    assert (result.termination, result.solution_status, result.proven) == ("error", "feasible", False)


def test_the_bound_of_a_row_says_for_which_requests_it_holds():
    rows = gangopt.compare("parameters/resnet50-p10", ["exact", "paa", "mxnet"]).rows
    assert [row.bound_scope for row in rows] == ["requests <= 157", "requests <= 157", "requests <= 247"]
    text = comparison_text(Comparison(rows))
    assert "bound for" in text
    assert text.count("requests <= 157") == 2
    assert "(* best method of the instance with no more requests)" in text


def test_a_row_that_its_bound_proves_is_marked_best():
    """With more requests than the optimum, others attain less: that is no reason to deny it the mark."""
    instance = ParametersInstance(
        name="two",
        description="one block on two servers",
        source="made up",
        servers=2,
        labels=("a",),
        shapes=((2_000_000,),),
    )
    rows = {row.method: row for row in gangopt.compare(instance).rows}
    assert (rows["exact"].objective, rows["mxnet"].objective) == (2_000_000, 0)
    assert all(row.best for row in rows.values() if row.proven)
    assert rows["exact"].best
    assert rows["mxnet"].best


def test_decisions_without_a_bound_metric_have_one_bound_for_all():
    rows = gangopt.compare("allocation/optimus-figure4").rows
    assert {row.bound_scope for row in rows} == {""}
    assert len({row.best_bound for row in rows}) == 1
    assert "bound for" not in comparison_text(Comparison(rows))


def test_an_objective_better_than_a_claimed_bound_is_a_failure_not_a_proof():
    instance = gangopt.load("allocation/optimus-figure4")
    problem = gangopt.problems["allocation"]
    exact = gangopt.solve(instance)
    false_bound = gangopt.Result(
        **{
            **{name: getattr(exact, name) for name in exact.__dataclass_fields__},
            "method": "false",
            "objective": None,
            "bound": exact.objective * 1.01,
            "rel_gap": None,
            "abs_gap": None,
            "termination": "time_limit",
            "solution_status": "none",
        }
    )
    row, _ = scored_rows(problem, instance, [exact, false_bound], Controls())
    assert (row.status, row.proven) == ("failed", False)
    assert row.reason == f"objective better than the proven bound {exact.objective * 1.01:.15g}: one of them is wrong"


def test_infinite_gaps_are_counted_and_spoil_neither_mean_nor_median():
    gaps = [0.0, 0.1, 0.3, math.inf]
    rows = tuple(make_row(instance=str(index), gap=gap) for index, gap in enumerate(gaps))
    (item,) = Comparison(rows).summary()
    assert item.mean_gap == pytest.approx(0.4 / 3)
    assert item.median_gap == pytest.approx(0.2)
    assert (item.worst_gap, item.infinite_gaps) == (math.inf, 1)
    last = comparison_text(Comparison(rows)).splitlines()[-1].split()
    assert last == ["m", "4", "4", "1", "0", "13.333", "20.000", "inf", "1", "4.000"]
    (item,) = Comparison(rows[-1:]).summary()
    assert (item.mean_gap, item.median_gap, item.worst_gap, item.infinite_gaps) == (None, math.inf, math.inf, 1)
    (item,) = Comparison((make_row(objective=None, bound=None, gap=None),)).summary()
    assert (item.mean_gap, item.median_gap, item.worst_gap, item.infinite_gaps) == (None, None, None, 0)


def test_the_gap_of_a_proven_row_is_zero_in_the_summary():
    (item,) = Comparison((make_row(gap=1e-12, proven=True),)).summary()
    assert item.mean_gap == 0


def test_the_text_says_why_a_row_stopped_early():
    rows = (
        make_row(method="exact", gap=0.5, termination="time_limit", reason="2 of 3 points are not proven"),
        make_row(method="lpt", gap=0.5, termination="completed"),
        make_row(
            method="b", objective=None, bound=None, gap=None, status="infeasible", termination="infeasible", reason="no"
        ),
    )
    text = comparison_text(Comparison(rows))
    assert "feasible (time_limit)" in text
    assert "(completed)" not in text
    assert text.endswith("a exact feasible (time_limit): 2 of 3 points are not proven\na b infeasible: no")


def test_the_text_shows_a_bounded_number_of_remarks():
    rows = [make_row(instance=str(index), reason=f"reason {index}") for index in range(MOST_REMARKS + 3)]
    lines = comparison_text(Comparison(tuple(rows))).splitlines()
    assert lines[-1] == "and 3 more remarks; a saved comparison has them as `reason`"
    assert lines[-2] == f"{MOST_REMARKS - 1} m feasible: reason {MOST_REMARKS - 1}"


def test_an_infinite_objective_is_never_marked_best():
    (row,) = gangopt.compare("fair_share/two-resources", ["random"]).rows
    assert (row.objective, row.best) == (math.inf, False)
