"""The named instances: stored solutions are checked and evaluated again, optima are proven again."""

import dataclasses
from fractions import Fraction

import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import parse_json
from gangopt.catalogue import _folder, entries, load
from gangopt.instances.threshold.generate import figure3
from gangopt.registry.problem import resolve
from gangopt.registry.records import problems

F = Fraction
ENTRIES = {entry.name: entry for noun in problems for entry in entries(noun)}
ROUNDED = {"allocation": 1e-12, "interval": 1e-12}
"""Relative tolerance of stored values, where they are sums of many quotients; all others are exact."""

TOLERANCE = {"bid": 1e-12, "schedule": 1e-12, "parameters": 0, "threshold": 0}
"""Relative tolerance of optima, where it is tighter than 1e-9."""

FORMS = {"fair_share": (None, "places", "patterns")}
SLOW = {"interval/optimus-testbed"}
PRODUCTS = {
    "auction/two-apps-two-racks": (F(25, 121), [F(13, 22)] * 2),
    "auction/three-apps-two-racks": (F(5, 176), [F(121, 400), F(11, 20), F(11, 20)]),
    "auction/one-large-machine": (F(10, 11) ** 7, [F(10, 11)] + [F(1)] * 7),
    "auction/tied": (F(45, 1664), [F(10, 13), F(10, 13), F(1)]),
    "auction/untruthful-floor": (F(40, 11), [F(10, 11), F(1)]),
    "auction/untruthful-floor-lie": (F(4), [F(1), F(1)]),
    "auction/untruthful-elapsed": (F(1, 5), [F(4, 5), F(1)]),
    "auction/more-apps-than-gpus": (F(1), [F(1)] * 3),
    "auction/themis-figure5a": (F(1), [F(1)] * 2),
    "auction/themis-figure5b": (F(1), [F(1)] * 2),
}
"""Exact product of the values, and the exact shares that apps keep."""

BY_HAND = {
    "schedule/tiresias-figure7": 26 / 3,
    "schedule/two-equal": 3,
    "schedule/interrupted": 3,
    "schedule/halves": 13 / 5,
    "schedule/halves-slotted": 14 / 5,
    "schedule/full-gangs": 6.2220279 / 2,
    "schedule/fragments": 4,
}


def cases():
    """Every name with every formulation that it is solved with; large networks are left to their solver's tests."""
    for name, entry in ENTRIES.items():
        noun = name.partition("/")[0]
        if noun != "network_placement" or entry.solution:
            marks = [pytest.mark.slow] if name in SLOW else []
            yield from (pytest.param(name, form, marks=marks) for form in FORMS.get(noun, (None,)))


def stored(entry):
    noun = entry.name.partition("/")[0]
    text = (_folder(noun) / entry.solution).read_text("utf-8")
    document = resolve(problems[noun].solution_document)
    return validate(document, parse_json(text, entry.solution), entry.solution).to_solution()


def product_of(instance, solution):
    result = F(1)
    for i, bundle in enumerate(solution.bundles):
        result *= instance.value(i, bundle) or 1
    return result


def test_every_decision_has_named_instances_and_a_stored_solution():
    assert {name.partition("/")[0] for name, entry in ENTRIES.items() if entry.solution} == set(problems)


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.solution])
def test_stored_solution_has_the_stated_value(name):
    entry, instance = ENTRIES[name], load(name)
    solution = stored(entry)
    assert instance.check(solution) == []
    score = instance.evaluate(solution)
    assert score.objective == pytest.approx(entry.best, rel=ROUNDED.get(instance.noun, 0), abs=0)
    if instance.noun == "auction":
        product, shares = PRODUCTS[name]
        assert product_of(instance, solution) == product
        assert sorted(low for low, _ in solution.payments) == sorted(shares)
    if instance.noun == "parameters":
        assert score.metrics["requests"] == len(instance.sizes)


@pytest.mark.parametrize(("name", "form"), list(cases()))
def test_optimum_is_proven_again(name, form):
    entry, instance = ENTRIES[name], load(name)
    result = gangopt.solve(instance, form=form, time_limit=60)
    assert result.termination == entry.status == "optimal"
    tolerance = TOLERANCE.get(instance.noun, 1e-9)
    assert result.objective == pytest.approx(entry.best, rel=tolerance, abs=0)
    assert entry.best == entry.bound
    assert result.bound == pytest.approx(entry.bound, rel=max(tolerance, 1e-9) if tolerance else 0, abs=0)
    if instance.noun == "auction":
        assert result.metrics["exact"] == 1.0
        assert product_of(instance, result.solution) == PRODUCTS[name][0]
        assert all(low == high for low, high in result.solution.payments)
    if instance.noun == "parameters":
        assert result.form == "levels"


def test_every_named_auction_has_an_oracle():
    assert {entry.name for entry in entries("auction")} == set(PRODUCTS)


def test_schedules_by_hand():
    assert {entry.name: entry.best for entry in entries("schedule")} == pytest.approx(BY_HAND)


def test_figure_4_splits_twenty_containers_eight_to_twelve():
    result = gangopt.solve(load("allocation/optimus-figure4"))
    assert (result.solution.workers, result.solution.parameter_servers) == ((8,), (12,))


def test_testbed_has_the_thirteen_servers_and_says_where_each_job_comes_from():
    instance = load("allocation/optimus-testbed")
    assert dict(zip(instance.resources, instance.capacity.tolist(), strict=True)) == {
        "cpu": 7 * 16 + 6 * 8,
        "memory": 7 * 80 + 6 * 48,
        "gpu": 12,
    }
    assert len(instance.jobs) == 9
    assert all("found" in text or "memory only" in text for text in instance.job_sources)
    unsure = [job for job, text in zip(instance.jobs, instance.job_sources, strict=True) if "memory only" in text]
    assert unsure == ["KAGGLE", "DeepSpeech2"]
    assert "memory only" in instance.source


def test_figure_5b_gives_the_sensitive_app_the_whole_machine():
    result = gangopt.solve("auction/themis-figure5b")
    assert result.solution.bundles == (((1, 2), (2, 2)), ((0, 4),))
    assert gangopt.solve("auction/themis-figure5b", "drf").objective < 1


def test_a_floor_can_be_gained_by_a_lie():
    truth = load("auction/untruthful-floor")
    told = gangopt.solve(truth, "themis").solution
    lied = gangopt.solve("auction/untruthful-floor-lie", "themis").solution
    assert truth.value(0, told.bundles[0]) == 1
    assert truth.value(0, lied.bundles[0]) == F(20, 13)


def test_figure_5_slowdown_is_that_of_table_1():
    spread = gangopt.solve("fair_share/themis-figure5a", "drf")
    assert spread.metrics["rho"] == pytest.approx([103.6 / 80.4] * 2, rel=1e-12)


@pytest.mark.slow
def test_the_testbed_in_turn_pauses_a_job():
    assert gangopt.solve("interval/optimus-testbed", "exact+exact").metrics["jobs_paused"] == 1


def test_small_intervals_show_what_deciding_in_turn_costs():
    # 9 of 10 cores in sum, but each server holds one task of 3: in turn, the job is paused
    fragments = load("interval/fragments")
    assert gangopt.solve(fragments, "exact+exact").metrics["jobs_placed"] == 0
    assert gangopt.solve(fragments, "exact").metrics["jobs_placed"] == 1
    # on one server the transfers vanish, which the fitted speeds do not show
    one = load("interval/one-server")
    best, in_turn = gangopt.solve(one, "exact"), gangopt.solve(one, "exact+exact")
    assert in_turn.metrics["fitted_completion_time"] < best.metrics["fitted_completion_time"]
    assert in_turn.objective > 1.2 * best.objective


def test_resnet50_is_stored_for_every_named_number_of_servers():
    names = [entry.name for entry in entries("parameters") if entry.solution]
    assert names == [f"parameters/resnet50-p{servers}" for servers in (4, 6, 8, 10, 12, 16, 20)]


def test_any_number_of_servers_is_an_instance():
    assert load("parameters/resnet50-p37").servers == 37
    with pytest.raises(InputError, match="servers must be an integer from 1"):
        load("parameters/resnet50-p0")


@pytest.mark.parametrize(
    ("case", "seconds"),
    [
        ("fewest-not-best-p2-w6", 3.0),
        ("fewest-not-best-p1-w4", 2.0),
        ("unequal-bandwidth-p2-w3", 2.0),
        ("unequal-bandwidth-p2-w4", 2.0),
    ],
)
def test_theorem_1_is_not_optimal_where_the_name_says_so(case, seconds):
    instance = load(f"placement/{case}")
    assert gangopt.solve(instance, "theorem1").objective == seconds
    assert gangopt.solve(instance).objective == seconds - 1


def test_more_servers_can_be_better():
    instance = load("placement/more-servers-better")
    two = gangopt.solve(instance, form="pieces").solution
    assert len(two.pieces[0]) == 3
    on_two = type(two)((((0, 0, 3), (1, 2, 0)),), ("",))
    assert instance.check(on_two) == []
    assert instance.evaluate(on_two).objective == 3.0
    assert gangopt.solve(instance).objective == 2.0


@pytest.mark.parametrize(
    ("case", "placed", "seconds", "optimum"),
    [
        ("competing-jobs-wrong-server", 2, 1.0, 0.0),
        ("competing-jobs-pauses-one-of-two", 1, 0.0, 2.0),
        ("competing-jobs-pauses-large", 1, 0.0, 0.0),
    ],
)
def test_smallest_job_first_is_not_optimal_for_competing_jobs(case, placed, seconds, optimum):
    instance = load(f"placement/{case}")
    rule = gangopt.solve(instance, "optimus")
    assert (rule.metrics["jobs_placed"], rule.metrics["transfer_time"]) == (placed, seconds)
    best = gangopt.solve(instance)
    assert (best.metrics["jobs_placed"], best.objective) == (2, optimum)


def test_the_testbed_has_the_tasks_that_its_allocation_rule_gives():
    allocation = gangopt.solve("allocation/optimus-testbed", "optimus").solution
    instance = load("placement/optimus-testbed")
    assert tuple(instance.workers.tolist()) == allocation.workers
    assert tuple(instance.parameter_servers.tolist()) == allocation.parameter_servers
    assert instance.fewest_paused == 1


def test_figure3_file_is_what_the_tensor_lists_give():
    assert load("threshold/tiresias-figure3") == dataclasses.replace(figure3(8), name="threshold/tiresias-figure3")
