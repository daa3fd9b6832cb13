"""Fitted functions as jobs of an allocation, up to its optimum."""

import numpy as np
import pytest

import gangopt
from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.instances.allocation.document import AllocationDocument
from gangopt.instances.allocation.instance import AllocationInstance
from gangopt.instances.allocation.speed_functions import speed
from gangopt.instances.fitting.jobs import put_job, speed_fields, to_job, to_speed_arrays
from gangopt.instances.fitting.probes import next_probes
from gangopt.instances.fitting.speed import fit_speed
from gangopt.instances.fitting.speed_samples import SpeedSamples

TRUTH = {"async": (2.83, 3.92, 0.0, 0.11), "sync": (1.02, 2.78, 4.92, 0.0, 0.02)}
BATCH = {"async": None, "sync": 40.0}


def fitted(mode, noise=0.0):
    pairs = next_probes(mode, [], 12, batch=BATCH[mode])
    wobble = np.exp(noise * np.random.default_rng(1).standard_normal(12))
    exact = np.array([speed(mode, TRUTH[mode], p, w, BATCH[mode] or 1.0) for p, w in pairs])
    return fit_speed(SpeedSamples(*np.array(pairs).T, exact * wobble), mode, BATCH[mode])


def instance(mode, theta, batch):
    return AllocationInstance(
        name="two jobs",
        resources=("cpu",),
        units=("core",),
        capacity=[40.0],
        jobs=("a", "b"),
        steps=[1000.0, 400.0],
        mode=mode,
        theta=theta,
        batch=batch,
        worker_demand=[[2.0], [2.0]],
        ps_demand=[[3.0], [3.0]],
        max_workers=[10, 10],
        max_ps=[10, 10],
    )


TRUE_INSTANCE = instance(("async", "sync"), [[*TRUTH["async"], 0.0], list(TRUTH["sync"])], [0.0, BATCH["sync"]])


def test_arrays_keep_the_order_of_the_coefficients():
    fits = [fitted("sync"), fitted("async")]
    mode, theta, batch = to_speed_arrays(fits)
    assert mode == ("sync", "async")
    assert theta[0] == pytest.approx(TRUTH["sync"], abs=1e-9)
    assert theta[1] == pytest.approx([*TRUTH["async"], 0], abs=1e-9)
    assert batch.tolist() == [40, 0]


def test_an_allocation_of_fitted_functions_is_solved():
    fits = [fitted("async"), fitted("sync")]
    made = instance(*to_speed_arrays(fits))
    for j, fit in enumerate(fits):
        assert made.completion_time(j, 4, 6) == pytest.approx(made.steps[j] / fit.speed(4, 6))
    result, truth = gangopt.solve(made, "exact"), gangopt.solve(TRUE_INSTANCE, "exact")
    assert result.termination == "optimal"
    assert result.objective == pytest.approx(truth.objective, rel=1e-6)


def test_noisy_measurements_cost_little_of_the_true_optimum():
    made = instance(*to_speed_arrays([fitted("async", 0.05), fitted("sync", 0.05)]))
    decided = gangopt.solve(made, "exact").solution
    best = gangopt.solve(TRUE_INSTANCE, "exact").objective
    assert TRUE_INSTANCE.evaluate(decided).objective <= 1.05 * best


NEW = {"worker": {"cpu": 2.0}, "parameter_server": {"cpu": 3.0}, "max_workers": 10, "max_ps": 10}


def test_a_fitted_job_is_an_entry_of_an_allocation_file():
    fit = fitted("sync")
    job = to_job("mine", fit, steps=400, **NEW)
    document = AllocationDocument.from_instance(TRUE_INSTANCE)
    record = document.model_dump()
    record["jobs"] = [job]
    read = validate(AllocationDocument, record, "test").to_instance()
    assert read.theta[0] == pytest.approx(fit.theta)
    assert read.job_sources[0] == "speed fitted to 12 measurements of 12 pairs"
    assert read.completion_time(0, 2, 3) == pytest.approx(400 / fit.speed(2, 3))


def test_a_job_that_no_file_may_hold_is_refused():
    with pytest.raises(InputError, match="job: field steps: input should be greater than or equal to 0"):
        to_job("mine", fitted("sync"), steps=-1, **NEW)


def test_a_known_job_gets_the_fitted_speed_and_keeps_the_rest():
    document = AllocationDocument.from_instance(TRUE_INSTANCE)
    changed = put_job(document, "a", speed_fields(fitted("sync"))).to_instance()
    assert changed.mode == ("sync", "sync")
    assert changed.batch.tolist() == [40, 40]
    assert changed.steps.tolist() == [1000, 400]
    back = put_job(document, "b", speed_fields(fitted("async"))).to_instance()
    assert back.mode == ("async", "async")
    assert back.batch.tolist() == [0, 0]


def test_an_unknown_job_is_added_or_says_what_it_lacks():
    document = AllocationDocument.from_instance(TRUE_INSTANCE)
    with pytest.raises(InputError, match=r"job 'c' is not in the file \(a, b\); a new job also requires steps, worker"):
        put_job(document, "c", speed_fields(fitted("async")))
    job = to_job("c", fitted("async"), steps=7, **NEW)
    job.pop("label")
    assert put_job(document, "c", job).to_instance().jobs == ("a", "b", "c")


def test_a_change_that_makes_the_instance_defective_is_refused():
    document = AllocationDocument.from_instance(TRUE_INSTANCE)
    with pytest.raises(InputError, match=r"jobs\[0\]\.worker: unknown resource 'tpu'; known: cpu"):
        put_job(document, "a", {"worker": {"tpu": 1.0}})
