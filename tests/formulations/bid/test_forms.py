import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.environ import Block, ConcreteModel, Constraint, Objective, value

import gangopt
from gangopt.base.errors import ModelTooLargeError
from gangopt.formulations.bid import classes, jobs
from gangopt.instances.bid.generate import random
from gangopt.instances.bid.instance import BidInstance
from gangopt.solvers.bid.heuristics import even, lpt
from gangopt.solvers.highs import solve_model

FORMS = {
    "jobs": (jobs.fill, jobs.model, jobs.read, jobs.hint),
    "classes": (classes.fill, classes.model, classes.read, classes.hint),
}


def brute_force(instance):
    """Return the least mean rho by trying every split of every phase of every offer."""
    assert instance.split == "whole"
    total = 0.0
    for offer, gpus in enumerate(instance.offer_gpus.tolist()):
        seconds = []
        for runs in instance.phases:
            work, caps = instance.work[list(runs)], instance.max_gpus[list(runs)]
            one = instance.factor(offer, 1)[list(runs)]
            several = instance.factor(offer, gpus)[list(runs)]
            best = math.inf
            if len(runs) > gpus:
                for queues in itertools.product(range(gpus), repeat=len(runs)):
                    loads = [
                        sum(w * s for w, s, q in zip(work, one, queues, strict=True) if q == k) for k in range(gpus)
                    ]
                    best = min(best, *loads) if gpus == 1 else min(best, max(loads))
            else:
                for held in itertools.product(*(range(1, min(int(cap), gpus) + 1) for cap in caps)):
                    if sum(held) <= gpus:
                        slow = [s if k == 1 else t for k, s, t in zip(held, one, several, strict=True)]
                        best = min(best, max(w * s / k for w, s, k in zip(work, slow, held, strict=True)))
            seconds.append(best)
        total += instance.rho(tuple(seconds))
    return total / len(instance.offer_levels)


@st.composite
def apps(draw, split="whole"):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))
    phase = [i for i, size in enumerate(sizes) for _ in range(size)]
    n, m = len(phase), draw(st.integers(1, 2))
    # two kinds of job: equal ones are common
    slowdown = st.sampled_from([[1, 1, 1.1, 1.3], [1, 1, 1, 1], [1, 1, 2.5, 3], [1.5, 1, 1, 1]])
    kind = st.tuples(st.sampled_from([1.0, 2.0, 7.0]), st.sampled_from([10.0, 13.0, 29.0]), st.integers(1, 4), slowdown)
    kinds = draw(st.lists(kind, min_size=2, max_size=2))
    runs = [kinds[k] for k in draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))]
    return BidInstance(
        name="t",
        jobs=tuple(f"job{j}" for j in range(n)),
        phase=np.array(phase),
        iterations=np.array([run[0] for run in runs]),
        seconds=np.array([run[1] for run in runs]),
        max_gpus=np.array([run[2] for run in runs]),
        slowdown=np.array([run[3] for run in runs]),
        offer_gpus=np.array(draw(st.lists(st.integers(1, 8), min_size=m, max_size=m))),
        offer_levels=tuple(draw(st.lists(st.sampled_from(["machine", "cluster"]), min_size=m, max_size=m))),
        split=split,
        elapsed=draw(st.sampled_from([0.0, 55.5])),
        cluster_gpus=8,
        contention=1.5,
    )


@settings(max_examples=60)
@given(apps())
def test_forms_and_exact_method_are_brute_force(instance):
    best = brute_force(instance)
    exact = gangopt.solve(instance)
    assert exact.termination == "optimal"
    assert exact.objective == pytest.approx(best, rel=1e-9)
    for form in FORMS:
        result = gangopt.solve(instance, form=form)
        assert result.termination == "optimal"
        assert result.objective == pytest.approx(best, rel=1e-9)


@settings(max_examples=30)
@given(apps(split="shared"))
def test_forms_of_shared_gpus_are_the_formula(instance):
    """The formula is what a wrap-around schedule attains and what GPU time and the demand of a job force."""
    exact = gangopt.solve(instance)
    for form in FORMS:
        result = gangopt.solve(instance, form=form)
        assert result.termination == "optimal"
        assert result.objective == pytest.approx(exact.objective, rel=1e-9)


@settings(max_examples=40)
@given(apps())
def test_hints_are_feasible_and_worth_what_the_table_is_worth(instance):
    for heuristic in (even, lpt):
        table = heuristic(instance)
        for fill, _, read, hint in FORMS.values():
            model = ConcreteModel()
            fill(model, instance)
            hint(model, instance, table)
            assert value(model.objective_value) == pytest.approx(instance.evaluate(table).objective, rel=1e-9)
            for rows in model.component_objects(Constraint):
                for row in rows.values():
                    body = value(row.body)
                    assert row.lower is None or body >= value(row.lower) - 1e-6
                    assert row.upper is None or body <= value(row.upper) + 1e-6
            assert instance.evaluate(read(model, instance)).objective <= instance.evaluate(table).objective + 1e-9


@settings(max_examples=20)
@given(apps(split="shared"))
def test_hints_of_shared_gpus_are_feasible(instance):
    for fill, _, read, hint in FORMS.values():
        model = ConcreteModel()
        fill(model, instance)
        hint(model, instance, even(instance))
        assert read(model, instance) == even(instance)
        for rows in model.component_objects(Constraint):
            for row in rows.values():
                assert row.upper is None or value(row.body) <= value(row.upper) + 1e-6
                assert row.lower is None or value(row.body) >= value(row.lower) - 1e-6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("split", ["whole", "shared"])
def test_two_apps_share_a_parent_model(form, split):
    """Two apps in one model whose last phase must end at the same time."""
    fill, _, read, _ = FORMS[form]
    instances = [random(jobs=3, gpus=2, split=split, seed=seed) for seed in (1, 2)]
    parent = ConcreteModel()
    parent.app = Block([0, 1], rule=lambda block, k: fill(block, instances[k]))
    last = [len(item.phases) - 1 for item in instances]
    parent.together = Constraint(expr=parent.app[0].length[0, last[0]] == parent.app[1].length[0, last[1]])
    parent.goal = Objective(expr=parent.app[0].objective_value + parent.app[1].objective_value)
    assert solve_model(parent).termination == "optimal"
    lengths = [value(parent.app[k].length[0, last[k]]) for k in (0, 1)]
    assert lengths[0] == pytest.approx(lengths[1])
    apart = [gangopt.solve(item).objective for item in instances]
    assert value(parent.goal) > sum(apart) + 1e-6
    for k, item in enumerate(instances):
        assert item.check(read(parent.app[k], item)) == []


def test_blocks_have_no_objective_of_their_own():
    for fill, model, _, _ in FORMS.values():
        block = ConcreteModel()
        fill(block, random(jobs=2, gpus=2))
        assert not list(block.component_objects(Objective))
        assert len(list(model(random(jobs=2, gpus=2)).component_objects(Objective))) == 1


def test_equal_jobs_are_merged():
    instance = random(jobs=16, gpus=4, seed=3)
    columns = {form: sum(len(v) for v in (m.count, m.queue)) for form, m in ((f, FORMS[f][1](instance)) for f in FORMS)}
    assert columns["classes"] < columns["jobs"]


def test_a_model_too_large_is_refused_before_it_is_built():
    instance = random(jobs=1000, gpus=8192, seed=0)
    with pytest.raises(ModelTooLargeError, match=re.escape("formulation bid jobs would have")):
        jobs.model(instance)
