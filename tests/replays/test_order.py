"""Every policy that keeps gangs as they are, against a slow simulator that shares no code with the engine."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gangopt

HISTORY = (3, 5, 8, 8, 20)
LIMITS = (8, 24)


class Job:
    """A job of the slow simulator: whole seconds, whole GPUs."""

    def __init__(self, number, arrival, gpus, duration):
        self.number, self.arrival, self.gpus, self.left = number, arrival, gpus, duration
        self.attained, self.first, self.runs, self.waits_since = 0, float("inf"), False, arrival

    @property
    def queue(self):
        return sum(self.attained >= limit for limit in LIMITS)


def simulate(triples, n_gpus, key, *, preempt=True, skip=True, every_second=False):
    """Step second by second; at ends, arrivals and demotions (or every second) sort by key and let in what fits."""
    jobs = [Job(number, *triple) for number, triple in enumerate(triples)]
    ends, queues, now = {}, {}, 0
    while len(ends) < len(jobs):
        event = every_second
        for job in jobs:
            if job.runs and job.left == 0:
                job.runs, ends[job.number], event = False, now, True
        present = [job for job in jobs if job.arrival <= now and job.number not in ends]
        event = event or any(job.arrival == now for job in present)
        event = event or any(queues.get(job.number, 0) != job.queue for job in present)
        queues = {job.number: job.queue for job in present}
        if event:
            chosen, free = set(), n_gpus
            if not preempt:
                chosen = {job.number for job in present if job.runs}
                free -= sum(job.gpus for job in present if job.runs)
            for job in sorted(present, key=lambda job: (*key(job), job.number)):
                if job.number in chosen:
                    continue
                if job.gpus <= free:
                    free -= job.gpus
                    chosen.add(job.number)
                elif not skip:
                    break
            for job in present:
                job.runs = job.number in chosen
                job.first = min(job.first, now) if job.runs else job.first
        for job in present:
            if job.runs:
                job.left -= 1
                job.attained += job.gpus
        now += 1
    return [ends[number] for number in range(len(jobs))]


def index(attained, quantum):
    """The Gittins index as a fraction, straight from its definition; the greatest over all quanta if None."""
    later = [service - attained for service in HISTORY if service > attained]
    if not later:
        return Fraction(0)
    quanta = set(later) if quantum is None else {quantum}
    return max(
        Fraction(sum(left <= most for left in later)) / sum(Fraction(min(left, most)) for left in later)
        for most in quanta
    )


def queue_index(job):
    return index(job.attained, LIMITS[job.queue]) if job.queue < len(LIMITS) else Fraction(0)


RULES = {
    "fifo": ({"key": lambda job: (job.arrival,), "preempt": False, "skip": False}, False),
    "sf": ({"key": lambda job: (job.gpus,)}, False),
    "sf?preempt=false": ({"key": lambda job: (job.gpus,), "preempt": False}, False),
    "srtf": ({"key": lambda job: (job.left,)}, False),
    "srsf": ({"key": lambda job: (job.left * job.gpus,)}, False),
    "yarn-cs": ({"key": lambda job: (job.arrival,), "preempt": False, "skip": False}, False),
    "best-effort": ({"key": lambda job: (job.arrival,), "preempt": False}, False),
    "2d-las?interval=1": ({"key": lambda job: (job.attained,), "every_second": True}, False),
    "2d-gittins?interval=1": ({"key": lambda job: (-index(job.attained, None),), "every_second": True}, True),
    "tiresias-l?thresholds=8+24": ({"key": lambda job: (job.queue, job.first)}, False),
    "tiresias-g?thresholds=8+24": ({"key": lambda job: (job.queue, -queue_index(job), job.first)}, True),
}

TRIPLES = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from([1, 2, 4]), st.integers(1, 15)), min_size=1, max_size=9
).map(sorted)


def workload(triples):
    arrival, gpus, duration = zip(*triples, strict=True)
    ids = [f"j{number}" for number in range(len(triples))]
    return gangopt.Workload.from_columns({"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration})


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    path = tmp_path_factory.mktemp("history") / "services.txt"
    path.write_text("\n".join(map(str, HISTORY)) + "\n")
    return path


@pytest.mark.parametrize("policy", RULES)
@settings(max_examples=40, deadline=None)
@given(triples=TRIPLES, n_gpus=st.integers(4, 8))
def test_ends_are_those_of_the_slow_simulator(policy, history, triples, n_gpus):
    rule, learns = RULES[policy]
    name = f"{policy}&history={history}" if learns else policy
    played = gangopt.replay(workload(triples), n_gpus, name)
    assert played.end.tolist() == simulate(triples, n_gpus, **rule)


@settings(max_examples=40, deadline=None)
@given(triples=TRIPLES, n_gpus=st.integers(4, 8), quantum=st.integers(1, 5))
def test_time_sharing_takes_turns(triples, n_gpus, quantum):
    played = gangopt.replay(workload(triples), n_gpus, f"time-sharing?quantum={quantum}")
    assert played.end.tolist() == take_turns(triples, n_gpus, quantum)


def take_turns(triples, n_gpus, quantum):
    """Time-sharing second by second: at a multiple of the quantum those who wait go first, else those who run."""
    begin = triples[0][0]
    jobs = [Job(number, arrival - begin, *rest) for number, (arrival, *rest) in enumerate(triples)]
    ends, now, turn = {}, 0, None
    while len(ends) < len(jobs):
        event = turn == now
        for job in jobs:
            if job.runs and job.left == 0:
                job.runs, ends[job.number], event = False, now, True
        present = [job for job in jobs if job.arrival <= now and job.number not in ends]
        if event or any(job.arrival == now for job in present):
            waiting = sorted((job for job in present if not job.runs), key=lambda job: (job.waits_since, job.number))
            running = [job for job in present if job.runs]
            order = waiting + running if turn == now else running + waiting
            free = n_gpus
            for job in order:
                fits = job.gpus <= free
                free -= job.gpus if fits else 0
                if job.runs and not fits:
                    job.waits_since = now
                job.runs = fits
            turn = None if all(job.runs for job in present) else (now // quantum + 1) * quantum
        for job in present:
            job.left -= job.runs
        now += 1
    return [begin + ends[number] for number in range(len(jobs))]


FIGURE_7 = [(0, 2, 2), (0, 1, 8), (0, 2, 6)]


@pytest.mark.parametrize(
    ("policy", "total"),
    [
        ("srtf", 26),
        ("srsf", 28),
        ("2d-las?interval=1", 35),
        ("2d-gittins?interval=1", 28),
        ("tiresias-g?thresholds=4", 30),
    ],
)
def test_figure_7_of_tiresias(policy, total):
    assert gangopt.replay(workload(FIGURE_7), 2, policy).metrics["avg_jct"] == pytest.approx(total / 3, rel=1e-15)


def test_figure_7_runs_as_drawn():
    assert gangopt.replay(workload(FIGURE_7), 2, "tiresias-g?thresholds=4").end.tolist() == [2, 12, 16]
    assert gangopt.replay(workload(FIGURE_7), 2, "2d-las?interval=1").end.tolist() == [5, 14, 16]


def test_2d_las_looks_again_when_services_cross_only_at_its_interval():
    # a runs 0-10, then b, which had nothing, until 20, and so on in turns
    ends = gangopt.replay(workload([(0, 1, 15), (0, 1, 15)]), 1, "2d-las?interval=10").end
    assert ends.tolist() == [25, 30]


def test_ties_go_by_arrival_and_then_by_file_order():
    played = gangopt.replay(workload([(0, 1, 5), (0, 1, 5), (0, 1, 5)]), 1, "srtf")
    assert played.end.tolist() == [5, 10, 15]


def test_ends_free_gpus_for_arrivals_of_the_same_second():
    played = gangopt.replay(workload([(0, 4, 10), (10, 4, 1)]), 4, "fifo")
    assert played.first_start.tolist() == [0, 10]
    assert np.all(played.queueing == 0)
