"""Event loop: valid and invalid plans, phases, wake times and invariants."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError, SolverError
from gangopt.replays.costs import Overheads
from gangopt.replays.engine import Engine
from gangopt.replays.records import Plan, Policy


def workload(arrival, gpus, duration, **columns):
    ids = [f"j{number}" for number in range(len(arrival))]
    return gangopt.Workload.from_columns({"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration, **columns})


class Scripted:
    """Policy whose plans are returned by a function of the state; it records the times of its decisions."""

    name = "scripted"

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def decide(self, state):
        self.asked.append((state.now, state.arrived.tolist(), state.ended.tolist()))
        return self.answer(state)

    def __deepcopy__(self, memo):
        return self


TWO = workload([0, 3], [1, 2], [10, 4])


def test_a_policy_is_any_object_with_a_name_and_decide():
    policy = Scripted(lambda state: Plan(state.active[::-1]))
    assert isinstance(policy, Policy)
    played = gangopt.replay(TWO, 2, policy)
    assert played.policy == "scripted"
    # the last arrival runs first: j0 runs 0-3 and 7-14
    assert played.end.tolist() == [14, 7]
    assert played.starts.tolist() == [2, 1]


def test_a_policy_decides_once_per_event():
    policy = Scripted(lambda state: Plan(state.active))
    gangopt.replay(workload([0, 0, 4], [1, 1, 1], [4, 9, 1]), 3, policy)
    assert policy.asked == [(0, [0, 1], []), (4, [2], [0]), (5, [], [2]), (9, [], [1])]


def test_a_policy_is_copied_so_that_a_replay_can_be_repeated():
    policy = gangopt.policies["time-sharing"].make(quantum=2)
    first, second = (gangopt.replay(workload([0, 0], [1, 1], [5, 5]), 1, policy) for _ in range(2))
    assert first.end.tolist() == second.end.tolist() == [9, 10]


def test_wake_times_are_kept_and_end_with_the_jobs():
    policy = Scripted(lambda state: Plan(state.active, wake=state.now + 3 if len(state.active) else math.inf))
    gangopt.replay(workload([0], [1], [7]), 1, policy)
    assert [now for now, *_ in policy.asked] == [0, 3, 6, 7]


def test_a_wake_time_may_depend_on_the_running_jobs():
    seen = []

    def wish(state):
        seen.append(state.running.tolist())
        return math.inf

    gangopt.replay(workload([0, 0], [1, 2], [7, 1]), 2, Scripted(lambda state: Plan(state.active, wake=wish)))
    assert seen == [[0], [1], []]


def test_without_preemption_running_jobs_stay_whatever_the_order():
    policy = Scripted(lambda state: Plan(state.active[::-1], preempt=False))
    assert gangopt.replay(TWO, 2, policy).end.tolist() == [10, 14]


def test_a_running_job_that_the_plan_leaves_out_is_stopped_under_preemption_alone():
    rest = Scripted(lambda state: Plan(state.active[:0] if state.now == 3 else state.active, wake=state.now + 1))
    assert gangopt.replay(workload([0, 3], [1, 1], [10, 1]), 2, rest).end.tolist() == [11, 5]


def test_other_numbers_of_gpus_and_rates():
    twice = Scripted(
        lambda state: Plan(state.active, gpus=state.gpus[state.active] * 2, rates=np.full(len(state.active), 1.6))
    )
    played = gangopt.replay(workload([0], [1], [8]), 2, twice)
    assert played.end.tolist() == [5]
    assert played.service.tolist() == [10]
    assert not played.fixed_gangs
    assert played.starts.tolist() == [1]


def test_random_numbers_follow_the_seed():
    chance = Scripted(lambda state: Plan(state.rng.permutation(state.active)))
    jobs = workload([0] * 8, [1] * 8, list(range(1, 9)))
    runs = [gangopt.replay(jobs, 1, chance, seed=seed).end.tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda state: Plan([0]), "must return an order that is an array of integers"),
        (lambda state: Plan(np.array([0.0])), "must return an order that is an array of integers"),
        (lambda state: Plan(np.array([])), "must return an order that is an array of integers"),
        (lambda state: Plan(np.array([[0]])), "must return an order that is an array of integers"),
        (lambda state: Plan(np.array([7])), "must return jobs from 0 to 1 (got 7 to 7)"),
        (lambda state: Plan(np.array([-1])), "must return jobs from 0 to 1 (got -1 to -1)"),
        (lambda state: Plan(np.array([0, 0])), "returns duplicate job j0"),
        (lambda state: Plan(np.array([1])), "returns job j1, which is neither waiting nor running"),
        (lambda state: Plan(np.array([0]), gpus=np.array([0])), "must return gpus that are one integer > 0 per"),
        (lambda state: Plan(np.array([0]), gpus=np.array([1.5])), "must return gpus that are one integer > 0 per"),
        (lambda state: Plan(np.array([0]), gpus=np.array([1, 1])), "must return gpus that are one integer > 0 per"),
        (lambda state: Plan(np.array([0]), rates=np.array([0.0])), "must return rates that are one finite number > 0"),
        (lambda state: Plan(np.array([0]), rates=np.array([])), "must return rates that are one finite number > 0"),
        (lambda state: Plan(np.array([0]), rates=np.array([np.nan])), "must return rates that are one finite number"),
        (lambda state: Plan(np.array([0]), rates=np.array([np.inf])), "must return rates that are one finite number"),
        (lambda state: Plan(np.array([0]), wake=0.0), "must return a wake time after now (got 0.0 s)"),
        (lambda state: Plan(np.array([0]), wake=math.nan), "must return a wake time after now (got nan s)"),
        (lambda state: None, "must return a Plan (got NoneType)"),
    ],
)
def test_wrong_plans_are_refused(answer, message):
    with pytest.raises(InputError) as caught:
        gangopt.replay(TWO, 2, Scripted(answer))
    assert str(caught.value).startswith(f"policy scripted at 0 s {message}")


def test_jobs_that_never_start_are_named():
    with pytest.raises(InputError) as caught:
        gangopt.replay(TWO, 2, Scripted(lambda state: Plan(state.active[:0])))
    assert str(caught.value) == "policy scripted at 3 s never starts 2 waiting jobs: j0, j1"


def test_a_policy_that_only_wakes_up_is_stopped():
    with pytest.raises(InputError, match="never starts 2 waiting jobs: j0, j1"):
        gangopt.replay(TWO, 2, Scripted(lambda state: Plan(state.active[:0], wake=state.now + 1)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TWO, 0, "fifo"), "cluster must be an integer >= 1 (got 0)"),
        ((TWO, 1.5, "fifo"), "cluster must be a Cluster, a name, a file or a number of GPUs (got float)"),
        ((TWO, True, "fifo"), "cluster must be a Cluster, a name, a file or a number of GPUs (got bool)"),
        ((3, 4, "fifo"), "workload must be a Workload, a name or a file (got int)"),
        ((TWO, 4, object()), "policy must have a name and a method decide(state) (got object)"),
        ((TWO, 1, "fifo"), "1 of 2 jobs are larger than the cluster with 1 GPUs; the first is j1 with 2 GPUs"),
        ((TWO, 4, "fifoo"), "unknown policy 'fifoo'; did you mean 'fifo'"),
        ((TWO, 4, "fifo?speed=2"), "fifo?speed=2: unknown argument 'speed'; accepted: none"),
        ((TWO, 4, "time-sharing?quantum=0"), "time-sharing: quantum must be a finite number > 0 s (got 0.0)"),
        ((TWO, 4, "2d-las?interval=-1"), "2d-las: interval must be a finite number > 0 s (got -1.0)"),
        ((TWO, 4, "2d-gittins?interval=0"), "2d-gittins: interval must be a finite number > 0 s (got 0.0)"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(InputError) as caught:
        gangopt.replay(*arguments)
    assert str(caught.value).startswith(message)


def test_jobs_without_a_duration_are_refused():
    with pytest.raises(InputError, match=r"1 of 2 jobs have no duration .* the first is j1"):
        gangopt.replay(workload([0, 1], [1, 1], [5, None]), 1, "fifo")


def test_a_placement_requires_machines_and_a_known_name():
    with pytest.raises(InputError, match="placement=packed requires a cluster with machines"):
        gangopt.replay(TWO, 4, "fifo", placement="packed")
    with pytest.raises(InputError, match="unknown placement rule 'pack'; did you mean 'packed'"):
        gangopt.replay(TWO, "tiresias-testbed", "fifo", placement="pack")


def test_an_empty_workload_ends_at_once():
    played = gangopt.replay(workload([], [], []), 4, "fifo")
    assert played.metrics["jobs"] == 0
    assert played.metrics["avg_jct"] is None
    assert len(played.log) == 0


def test_phases_of_an_app_follow_each_other():
    app, phase = ["a", "a", "a", None], [0, 0, 1, None]
    played = gangopt.replay(workload([0, 0, 0, 0], [1] * 4, [3, 5, 2, 1], app=app, phase=phase), 4, "fifo")
    assert played.first_start.tolist() == [0, 0, 5, 0]
    assert played.end.tolist() == [3, 5, 7, 1]


def test_a_phase_waits_for_its_own_arrival_too_and_phases_may_be_left_out():
    app, phase = ["a", "a", "b", "b"], [0, 4, 0, 2]
    played = gangopt.replay(workload([0, 9, 0, 1], [1] * 4, [3, 1, 6, 1], app=app, phase=phase), 4, "fifo")
    by_id = dict(zip(played.workload.ids, played.first_start.tolist(), strict=True))
    assert by_id == {"j0": 0, "j1": 9, "j2": 0, "j3": 6}


def test_a_late_job_of_an_early_phase_holds_back_the_later_phase():
    app, phase = ["a", "a", "a"], [1, 0, 0]
    played = gangopt.replay(workload([0, 0, 8], [1] * 3, [1, 2, 2], app=app, phase=phase), 4, "fifo")
    assert played.first_start.tolist() == [10, 0, 8]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 6), st.integers(1, 3), st.integers(1, 6), st.sampled_from("abc"), st.integers(0, 3)),
        min_size=1,
        max_size=12,
    ),
    policy=st.sampled_from(["fifo", "srsf", "tiresias-l?thresholds=4", "time-sharing?quantum=2"]),
)
def test_no_phase_starts_before_the_earlier_ones_have_ended(rows, policy):
    arrival, gpus, duration, app, phase = zip(*rows, strict=True)
    played = gangopt.replay(workload(arrival, gpus, duration, app=app, phase=phase), 3, policy)
    apps, phases = played.workload.texts("app"), played.workload.numbers("phase")
    for job in range(len(rows)):
        before = [k for k in range(len(rows)) if apps[k] == apps[job] and phases[k] < phases[job]]
        assert played.first_start[job] >= max([played.workload.arrival[job], *played.end[before]])


def engine(policy, cluster=None, jobs=TWO, n_gpus=4):
    return Engine(jobs, policy, cluster, n_gpus, Overheads())


def tampering(change):
    """Policy that corrupts the engine's state at the first event with a running job."""

    def answer(state):
        if len(state.running):
            change(state)
        return Plan(state.active)

    return Scripted(answer)


def free_two_more(state):
    state.n_free += 2


def hold_less(state):
    state.held[state.running[0]] = 0


def free_a_machine(state):
    state.machines.free[0] += 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (free_two_more, "replay of scripted at 3 s: 3 GPUs held + 3 free != 4 GPUs"),
        (hold_less, "replay of scripted at 3 s: 3 GPUs held + 0 free != 4 GPUs"),
    ],
)
def test_gpus_held_and_free_must_add_up(change, message):
    with pytest.raises(SolverError) as caught:
        engine(tampering(change)).run()
    assert str(caught.value) == message


def test_machines_must_add_up():
    cluster = gangopt.Cluster.uniform(machines_per_rack=2, gpus_per_slot=2)
    with pytest.raises(SolverError, match="at 3 s: 2 free GPUs on machines != 1 free GPUs in total"):
        engine(tampering(free_a_machine), cluster).run()


def test_gangs_must_be_whole(monkeypatch):
    def half(machines, gpus):
        return ((0, 1),)

    monkeypatch.setattr("gangopt.replays.engine.rule", lambda name: half)
    jobs, cluster = workload([0], [2], [5]), gangopt.Cluster.uniform(machines_per_rack=2, gpus_per_slot=2)
    with pytest.raises(SolverError, match="at 0 s: job j0 runs on part of its gang"):
        engine(Scripted(lambda state: Plan(state.active)), cluster, jobs).run()


def test_a_job_must_not_be_lost():
    def lose(state):
        state.active = state.active[:-1]
        return Plan(state.active)

    with pytest.raises(SolverError, match=r"at 1 s: job j1 did 0\.0 s of work instead of 1\.0 s"):
        engine(Scripted(lose), jobs=workload([0, 0], [1, 1], [1, 1])).run()


def test_work_done_must_be_work_asked():
    def forget_work(state):
        state._done[0] -= 1

    with pytest.raises(SolverError, match=r"at 10 s: job j0 did 8\.0 s of work instead of 10\.0 s"):
        engine(tampering(forget_work)).run()


def test_queueing_counts_from_when_a_job_may_run():
    app, phase = ["a", "a", None], [0, 1, None]
    played = gangopt.replay(workload([0, 0, 9], [1] * 3, [10, 5, 1], app=app, phase=phase), 1, "fifo")
    # j1 may run from 10 on; the order of the file puts it before j2
    assert played.end.tolist() == [10, 15, 16]
    assert played.submitted.tolist() == [0, 10, 9]
    assert played.queueing.tolist() == (played.first_start - played.submitted).tolist()
    arrivals = played.events().filter(event="arrive").sort("job")["time"].to_list()
    assert arrivals == played.submitted.tolist()
    assert played.jct.tolist() == (played.end - [0, 0, 9]).tolist()
