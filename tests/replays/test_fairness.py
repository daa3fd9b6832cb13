"""Rho of replays against equation 2 of THEMIS, computed anew from the ends of the apps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt
from gangopt.replays.fairness import finish_time_fairness
from gangopt.replays.policies.themis import themis
from gangopt.replays.policies.themis_apps import apps_of
from gangopt.solvers.themis.rounds_apps import Crowd
from gangopt.topology import Cluster, MachineGroup

ENDS = {
    "themis": [177378, 177448, 186391, 176457, 149959, 188296, 160337, 186300, 184622, 72203],
    "srsf": [202656, 202003, 246270, 203394, 186189, 241106, 197692, 254505, 212997, 126999],
    "srtf": [193050, 191899, 248456, 194140, 175609, 244932, 190036, 252148, 226767, 141047],
    "tiresias-l": [83220, 120246, 167684, 148912, 152737, 196987, 184504, 232709, 244162, 199080],
}
"""Recorded ends in s of the ten apps of workload/themis-1?apps=10 on the testbed of THEMIS."""


def by_hand(workload, end, n_gpus):
    """Equation 2 of every app, one app and one pair of stays at a time."""
    members = {}
    for job, app in enumerate(workload.texts("app")):
        members.setdefault(job if app is None else app, []).append(job)
    stays = [(min(workload.arrival[m]), max(end[m])) for m in members.values()]
    phase = np.nan_to_num(workload.numbers("phase"))
    found = []
    for (begin, last), jobs in zip(stays, members.values(), strict=True):
        budget = sum(float(workload.gpus[j]) * float(workload.duration[j]) for j in jobs)
        demand = max(sum(int(workload.gpus[j]) for j in jobs if phase[j] == k) for k in set(phase[jobs]))
        present = sum(max(0.0, min(last, other[1]) - max(begin, other[0])) for other in stays) / (last - begin)
        found.append((last - begin) / (budget / min(n_gpus, demand) * present))
    return found


@pytest.mark.parametrize(
    ("policy", "largest"), [("themis", 1.58), ("srsf", 2.00), ("srtf", 1.98), ("tiresias-l", 2.02)]
)
def test_largest_rho_of_recorded_ends(policy, largest):
    jobs = gangopt.Workload.load("workload/themis-1?apps=10")
    order = list(dict.fromkeys(jobs.texts("app")))
    end = np.array([float(ENDS[policy][order.index(app)]) for app in jobs.texts("app")])
    found = finish_time_fairness(jobs, end, 64)
    assert found == pytest.approx(by_hand(jobs, end, 64))
    assert round(found.max(), 2) == largest


def workload(rows, **columns):
    arrival, gpus, duration = zip(*rows, strict=True)
    ids = [f"j{number}" for number in range(len(rows))]
    return gangopt.Workload.from_columns({"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration, **columns})


JOB = st.tuples(
    st.integers(0, 20), st.integers(1, 4), st.integers(1, 9), st.sampled_from(["a", "b", None]), st.integers(0, 2)
)


@settings(max_examples=50, deadline=None)
@given(st.lists(JOB, min_size=1, max_size=12))
def test_rho_of_any_workload_is_equation_2(rows):
    app = [row[3] for row in rows]
    phase = [None if row[3] is None else row[4] for row in rows]
    jobs = workload([row[:3] for row in rows], app=app, phase=phase)
    played = gangopt.replay(jobs, 4, "fifo")
    assert played.rho == pytest.approx(by_hand(jobs, played.end, 4))


def test_an_app_with_a_narrow_phase_has_rho_above_1_although_it_is_alone():
    # the example of docs/replay.md: 12 GPU h over 8 GPUs are 1.5 h, but the second phase uses one GPU for 4 h
    hour = 3600
    jobs = workload([(0, 1, hour)] * 8 + [(0, 1, 4 * hour)], app=["a"] * 9, phase=[0] * 8 + [1])
    played = gangopt.replay(jobs, 8, "srtf")
    assert played.end.max() == 5 * hour
    assert played.rho.tolist() == [pytest.approx(5 / 1.5)]


def test_successive_halving_down_to_one_gpu_has_rho_of_18_although_it_is_alone():
    # the other example of docs/replay.md, and app3 of workload/themis-2?apps=10&seed=0
    counts = [64 >> k for k in range(7)]
    rows = [(0, 1, 100 * 2**k) for k, count in enumerate(counts) for _ in range(count)]
    phase = [k for k, count in enumerate(counts) for _ in range(count)]
    jobs = workload(rows, app=["a"] * len(rows), phase=phase)
    assert gangopt.replay(jobs, 64, "fifo").rho.tolist() == [pytest.approx(127 / 7)]
    drawn = gangopt.Workload.load("workload/themis-2?apps=10")
    only = replace(drawn, frame=drawn.frame.filter(app="app3"))
    assert gangopt.replay(only, 64, "fifo").rho.tolist() == [pytest.approx(127 / 7)]


def test_the_policy_bids_by_the_rho_that_is_reported():
    jobs = workload([(0, 1, 600), (0, 1, 600), (0, 2, 900)], app=["a"] * 3, phase=[0, 0, 1])
    cluster = Cluster.from_groups([MachineGroup(1, 2)])
    seen = []

    class Watched:
        name = "watched"
        policy = themis()

        def decide(self, state):
            plan = self.policy.decide(state)
            (app,), _ = apps_of(state, self.policy._crowd)
            held = self.policy._leases.of(app.label)
            seen.append(app.rho(state.now, held) if held else None)
            return plan

    played = gangopt.replay(jobs, cluster, Watched())
    # alone on as many GPUs as it can use, what is foretold at the start comes true
    assert played.rho.tolist() == [pytest.approx(1.0)]
    assert seen[0] == pytest.approx(1.0)


def test_the_policy_holds_apps_to_equation_2():
    # by the longest job of b, 4000 s, a would be the further one from its ideal
    jobs = workload([(0, 2, 3000), (0, 1, 1000), (0, 1, 1000), (0, 1, 4000)], app=["a", "b", "b", "b"])
    rho = {}

    class Peek:
        name = "peek"
        policy = themis()

        def decide(self, state):
            if not rho:
                crowd = Crowd()
                apps, _ = apps_of(state, crowd)
                for app in apps:
                    crowd.arrive(app.label, 0.0)
                rho.update({app.label: app.rho(0.0, (0,)) for app in apps})
            return self.policy.decide(state)

    gangopt.replay(jobs, Cluster.from_groups([MachineGroup(1, 4)]), Peek())
    # both on one GPU: 6000 s against 6000 / 2 x 2, and 6000 s against 6000 / 3 x 2
    assert rho == {"app a": pytest.approx(1.0), "app b": pytest.approx(1.5)}
