import pytest

import gangopt
from gangopt.base.errors import InputError, ModelTooLargeError
from gangopt.instances.schedule.instance import ScheduleInstance
from gangopt.solvers.bounds import jct_bound
from gangopt.solvers.core.contract import Controls
from gangopt.solvers.schedule import exact as schedule
from gangopt.solvers.solve import solve


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", ["random?jobs=5", "random?jobs=4&machines=2&gpus=6", "random?jobs=4&weights=3"])
def test_both_searches_prove_the_same_optimum(family, seed):
    instance = gangopt.load(f"schedule/{family}&seed={seed}")
    event = solve(instance, "exact?search=event")
    slotted = solve(instance, "exact?search=slotted")
    assert event.termination == slotted.termination == "optimal"
    assert event.objective == pytest.approx(slotted.objective, abs=1e-9)


def test_any_time_is_never_worse_than_slots():
    at_any_time = solve("schedule/random?jobs=5&seed=1&slot=0")
    assert at_any_time.termination == "optimal"
    assert at_any_time.form == "event"
    assert at_any_time.objective <= solve("schedule/random?jobs=5&seed=1").objective + 1e-9


def test_optimum_by_policies_and_bounds_alone_needs_no_form():
    result = solve("schedule/full-gangs")
    assert (result.termination, result.form) == ("optimal", "bounds")
    assert result.metrics["price_bound"] == "squashed_area"
    assert result.bound == pytest.approx(result.metrics["bound_squashed_area"], rel=1e-12)


def test_too_many_jobs_end_with_a_proven_gap():
    result = solve("schedule/random?jobs=40&slot=0&seed=1", time_limit=20)
    assert (result.termination, result.solution_status) == ("completed", "feasible")
    assert result.reason == "40 jobs are too many for either formulation: the gap stays open"
    assert 0 < result.rel_gap < 1


def test_bounds_alone():
    result = solve("schedule/tiresias-figure7", "exact?search=none")
    assert result.termination == "completed"
    assert result.objective == pytest.approx(26 / 3)
    assert result.bound < 26 / 3


def test_gap_asked_for_ends_the_search():
    result = solve("schedule/tiresias-figure7", rel_gap=0.05)
    assert (result.termination, result.form) == ("optimal", "bounds")


def test_start_and_progress_are_used():
    best = solve("schedule/halves").solution
    seen = []
    result = solve("schedule/halves", "exact?search=none", start=best, on_progress=seen.append)
    assert result.objective == pytest.approx(2.6)
    assert seen[-1].bound == result.bound


def test_time_limit_leaves_a_schedule():
    result = solve("schedule/random?jobs=12&slot=0&seed=2", time_limit=0.2)
    assert result.solution_status == "feasible"
    assert result.seconds.total < 3


def test_a_limit_that_is_not_reached_changes_no_bound(monkeypatch):
    # nearly all of the time is gone when the bounds begin, as on a busy machine
    name, method = "schedule/random?jobs=4&seed=2", "exact?search=none"
    plainly = solve(name, method)
    elapsed = Controls.elapsed
    monkeypatch.setattr(Controls, "elapsed", lambda self: elapsed(self) + 940.0)
    asked = []
    monkeypatch.setattr(schedule, "jct_bound", lambda *a, **k: asked.append(k["time_limit"]) or jct_bound(*a, **k))
    limited = solve(name, method, time_limit=1000)
    assert limited.bound == plainly.bound
    assert plainly.bound == pytest.approx(3.74987, abs=1e-4)
    # all that is left, not a share of it
    assert 50 < asked[0] <= 60


def test_search_that_does_not_apply_is_refused():
    with pytest.raises(InputError, match="formulation slotted requires a slot"):
        solve("schedule/halves", "exact?search=slotted")
    n = 30
    many = ScheduleInstance(
        name="t",
        jobs=tuple(f"j{j}" for j in range(n)),
        arrival=[0.0] * n,
        gpus=[1] * n,
        duration=range(1, n + 1),
        n_gpus=15,
        weight=range(1, n + 1),
    )
    with pytest.raises(ModelTooLargeError, match="more than 20,000 sets"):
        solve(many, "exact?search=event", time_limit=60)
