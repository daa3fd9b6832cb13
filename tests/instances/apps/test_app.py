import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.apps.app import (
    CurveTuner,
    HalvingTuner,
    JobInfo,
    average_apps,
    budget_of,
    median_job,
    remaining_phases,
    rho_of_jobs,
    rho_of_single_job,
)
from gangopt.instances.finish_time import ideal_seconds
from gangopt.topology import PRIORS, Slowdown


def job(seconds=100.0, iterations=10.0, gpus=8, label="a"):
    return JobInfo(label, iterations, seconds, gpus)


def test_equation_1():
    """10 of 20 iterations of 100 s are left; 8 GPUs in the cluster, 4 of them used at most, two apps."""
    common = {"elapsed": 300.0, "iterations": 20, "cluster_gpus": 8, "average_apps": 2.0}
    one = job(gpus=4)
    ideal = 20 * 100 / 4 * 2
    assert rho_of_single_job(one, gpus=2, level="machine", **common) == (300 + 1000 / 2) / ideal
    assert rho_of_single_job(one, gpus=4, level="rack", **common) == pytest.approx((300 + 1000 * 1.1 / 4) / ideal)
    # more than its most adds nothing, one GPU is never spread, none is never
    assert rho_of_single_job(one, gpus=8, level="rack", **common) == rho_of_single_job(
        one, gpus=4, level="rack", **common
    )
    assert rho_of_single_job(one, gpus=1, level="cluster", **common) == (300 + 1000) / ideal
    assert rho_of_single_job(one, gpus=0, level="machine", **common) == math.inf


def test_a_small_cluster_bounds_the_ideal():
    assert ideal_seconds(1000.0, 4, 8, 2.0) == 1000 / 4 * 2
    assert ideal_seconds(1000.0, 16, 8, 2.0) == 1000 / 8 * 2


def test_equation_2():
    assert rho_of_jobs([1600, 1600, 1800], 0.0, 2500) == 2
    assert rho_of_jobs([1920, 2160], 1600.0, 2500) == 5680 / 2500


def test_the_median_is_the_slower_of_two_in_the_middle():
    jobs = [job(seconds, label=f"{seconds}") for seconds in (120, 80, 100, 90)]
    assert median_job(jobs).seconds_per_iteration == 100
    assert median_job(jobs[:2]).seconds_per_iteration == 120
    assert median_job(jobs[:1]) == jobs[0]


class Halving:
    def num_phases(self):
        return 2

    def jobs_in_phase(self, phase, gpus):
        return [job(label=f"p{phase} on {gpus}")]


class Curves:
    def __init__(self, jobs):
        self.jobs = jobs

    def jobs_remaining(self, gpus):
        return self.jobs


def test_a_tuner_is_whatever_answers_the_questions_of_figure_7():
    assert isinstance(Halving(), HalvingTuner)
    assert not isinstance(Halving(), CurveTuner)
    assert isinstance(Curves([]), CurveTuner)
    assert [[item.label for item in jobs] for jobs in remaining_phases(Halving(), 3)] == [["p0 on 3"], ["p1 on 3"]]
    assert remaining_phases(Curves([job()]), 3) == [[job()]]
    assert remaining_phases(Curves([]), 3) == []


def test_the_budget_is_the_work_of_all_jobs_on_one_gpu_each():
    assert budget_of([[job(80, 8), job(120, 8)], [job(100, 36)]]) == 8 * 200 + 3600


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iterations": 0.0}, r"job a: iterations_remaining must be a number > 0 and <= 1e9 \(got 0\.0\)"),
        ({"seconds": -1.0}, r"job a: seconds_per_iteration must be a number > 0 and <= 1e9 \(got -1\.0\)"),
        ({"seconds": math.nan}, r"job a: seconds_per_iteration must be a number > 0 and <= 1e9 \(got nan\)"),
        ({"gpus": 0}, r"job a: max_gpus must be an integer from 1 to 100,000 \(got 0\)"),
    ],
)
def test_jobs_without_sense_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        job(**changes)


def test_a_job_is_placed_by_the_priors_unless_it_says_otherwise():
    assert job().locality_sensitivity == PRIORS
    assert JobInfo("a", 1, 1, 1, Slowdown(rack=2.0, cluster=2.0)).locality_sensitivity.rack == 2


def test_average_apps_weighs_by_time():
    stays = [(0, 60), (10, 40), (100, math.inf)]
    assert average_apps(stays, 0, 60) == 1.5
    assert average_apps(stays, 20, 30) == 2
    assert average_apps(stays, 0, 200) == pytest.approx((60 + 30 + 100) / 200)
    assert average_apps(stays, 10, 10) == 2
    assert average_apps(stays, 40, 40) == 1


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=6),
    st.integers(0, 50),
    st.integers(1, 50),
)
def test_average_apps_is_the_mean_over_seconds(pairs, start, length):
    stays = [(begin, begin + stay) for begin, stay in pairs]
    present = [sum(a <= t < b for a, b in stays) for t in range(start, start + length)]
    assert average_apps(stays, start, start + length) == pytest.approx(sum(present) / length)


def test_times_that_go_backwards_are_refused():
    with pytest.raises(InputError, match=r"end must be >= start=5 s \(got 4\)"):
        average_apps([(0, 1)], 5, 4)
    with pytest.raises(InputError, match=r"stays\[1\]: departure must be >= arrival 3 s"):
        average_apps([(0, 1), (3, 2)], 0, 4)
