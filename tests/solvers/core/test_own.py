"""Heuristics of the user beside the registered methods."""

import functools
from concurrent.futures import ThreadPoolExecutor

import pytest

import gangopt
from gangopt.base.errors import InfeasibleError, InputError, NoSolutionError, SolverError
from gangopt.solvers.core.own import check_sendable
from gangopt.solvers.parameters.heuristics import lpt, mxnet

NAMES = ["parameters/random?blocks=6&servers=2&seed=1", "parameters/random?blocks=7&servers=3&seed=2"]


def largest_first(instance):
    return lpt(instance)


def seeded(instance, *, seed):
    return mxnet(instance, seed=seed)


class Rule:
    def __call__(self, instance):
        return lpt(instance)


def test_a_function_is_scored_like_any_method():
    rows = gangopt.compare(NAMES, ["exact", largest_first, "lpt"]).rows
    assert [row.method for row in rows] == ["exact", "largest_first", "lpt"] * 2
    for own, rule in zip(rows[1::3], rows[2::3], strict=True):
        assert (own.objective, own.best_bound, own.rel_gap, own.status, own.best) == (
            rule.objective,
            rule.best_bound,
            rule.rel_gap,
            rule.status,
            rule.best,
        )


def test_one_function_alone_is_accepted_and_solve_takes_it_too():
    (row,) = gangopt.compare(NAMES[0], largest_first).rows
    result = gangopt.solve(gangopt.load(NAMES[0]), largest_first)
    assert (result.method, result.objective, result.termination) == ("largest_first", row.objective, "completed")
    assert result.solver == "gangopt"


def test_a_parameter_seed_receives_the_seed():
    instance = gangopt.load(NAMES[1])
    assert gangopt.solve(instance, seeded, seed=5).solution == mxnet(instance, seed=5)
    assert gangopt.solve(instance, seeded, seed=5).options == {"seed": 5}
    assert gangopt.solve(instance, functools.partial(seeded, seed=1), seed=5).solution == mxnet(instance, seed=1)
    assert gangopt.solve(instance, largest_first, seed=5).options == {}


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (functools.partial(seeded, seed=1), "seeded"),
        (Rule(), "Rule"),
        (lambda instance: lpt(instance=instance), "<lambda>"),
    ],
)
def test_other_callables_have_names(function, name):
    assert gangopt.compare(NAMES[0], [function]).rows[0].method == name


def test_threads_and_processes_run_functions():
    with ThreadPoolExecutor(2) as pool:
        rows = gangopt.compare(NAMES, [largest_first], executor=pool).rows
    assert [row.status for row in rows] == ["feasible"] * 2
    check_sendable(lpt)
    with pytest.raises(InputError, match=r"function <lambda>: cannot be sent to another process"):
        gangopt.compare(NAMES, [lambda instance: lpt(instance=instance)], executor="processes")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ([largest_first, largest_first], "duplicate method largest_first"),
        ([lpt], "function lpt: parameters has a method of this name"),
        ([3], r"method must be a name or a function .* \(got 3\)"),
    ],
)
def test_wrong_methods_are_refused_before_anything_runs(methods, message):
    with pytest.raises(InputError, match=message):
        gangopt.compare(NAMES, methods)


def test_a_journal_is_refused():
    with pytest.raises(InputError, match="function largest_first: a journal cannot detect changes to it"):
        gangopt.compare(NAMES, [largest_first], journal="rows")


def raising(error):
    def rule(instance):
        raise error

    return rule


@pytest.mark.parametrize(
    ("function", "status", "reason"),
    [
        (lambda instance: None, "failed", "the heuristic returned None instead of a solution"),
        (lambda instance: 3, "failed", "<lambda> must return a ParametersSolution (got int)"),
        (
            lambda instance: lpt(gangopt.load("parameters/random?blocks=5&servers=2")),
            "failed",
            "the checker rejects the solution of <lambda>",
        ),
        (raising(KeyError("x")), "failed", "KeyError: 'x'"),
        (raising(InfeasibleError("too few GPUs")), "infeasible", "too few GPUs"),
        (raising(NoSolutionError("found nothing")), "none", "found nothing"),
    ],
)
def test_what_a_function_does_wrong_is_a_row(function, status, reason):
    own, rule = gangopt.compare(NAMES[0], [function, "paa"]).rows
    assert own.status == status
    assert reason in own.reason
    assert rule.objective is not None


def test_a_wrong_type_is_a_fault_in_solve():
    with pytest.raises(SolverError, match="must return a ParametersSolution"):
        gangopt.solve(gangopt.load(NAMES[0]), lambda instance: 3)


def test_forms_are_for_exact_methods():
    with pytest.raises(InputError, match="form applies to exact methods, not to largest_first"):
        gangopt.solve(gangopt.load(NAMES[0]), largest_first, form="assign")
