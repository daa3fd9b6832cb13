"""The apps of a workload as THEMIS's agents see them: what their jobs have left, and what GPUs are worth."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.finish_time import ideal_seconds, largest_demands
from gangopt.replays.records import Ints
from gangopt.replays.state import State
from gangopt.solvers.auction.arbiter import Offer
from gangopt.solvers.themis.rounds_apps import Crowd
from gangopt.topology import locality

__all__ = ["ReplayedApp", "apps_of"]


class ReplayedApp:
    r"""An app of one or more jobs; its end depends on its GPUs and their slowdown.

    On k GPUs within a place of slowdown S it ends after

    .. math:: T_{sh} = t - t_0 + \max_j \frac{w_j S}{\min(k_j, W_j)} + \frac{L S}{\min(k, d)}

    with k split among the jobs present so that the longest ends first (`split`), and L the serial work of the phases
    that are still to come. Where jobs outnumber GPUs, they take turns: the maximum is then the larger of the longest
    job alone and all work over k.

    Parameters
    ----------
    label : str
        Name of the app.
    jobs : ndarray of int
        Its jobs, in order of arrival.
    state : State
        Of the replay, read whenever a figure is asked for.
    crowd : Crowd
        The number of apps over time.

    References
    ----------
    THEMIS (NSDI 2020), equations 1 and 2.
    """

    def __init__(self, label: str, jobs: Ints, state: State, crowd: Crowd) -> None:
        self._label = label
        self.jobs = jobs
        self._state, self._crowd = state, crowd
        gangs, durations = state.gpus[jobs], state.duration[jobs]
        self._budget = math.fsum((gangs * durations).tolist())
        phases = state.workload.numbers("phase")[jobs]
        self._largest = int(largest_demands(np.zeros_like(jobs), phases, gangs).max())
        self.arrival = float(state.arrival[jobs].min())

    @property
    def label(self) -> str:
        """Name of the app."""
        return self._label

    def present(self) -> Ints:
        """Return its jobs that wait or run, in order of arrival."""
        status = self._state.status[self.jobs]
        return np.asarray(self.jobs[(status == 1) | (status == 2)])

    def split(self, gpus: int) -> dict[int, int]:
        """Return the GPUs of each present job: one at a time to the job that would end last, up to its gang.

        Ties go to the job with more work, then to the one that arrived first. A job is left out if it is given none.
        """
        given: dict[int, int] = {}
        for job, _ in itertools.islice(self._dealing(), gpus):
            given[job] = given.get(job, 0) + 1
        return dict(sorted(given.items()))

    def _dealing(self) -> Iterator[tuple[int, float]]:
        """Yield which job is given the next GPU, and the seconds that the present jobs then take at S = 1."""
        jobs = self.present().tolist()
        work = dict(zip(jobs, self._serial(jobs), strict=True))
        whole, longest, settled, dealt = sum(work.values()), max(work.values(), default=0.0), 0.0, 0
        given = dict.fromkeys(jobs, 0)
        heap = [(-math.inf, -work[job], job) for job in jobs]
        heapq.heapify(heap)
        while heap:
            _, _, job = heapq.heappop(heap)
            given[job] += 1
            dealt += 1
            seconds = work[job] / given[job]
            if given[job] < self._state.gpus[job]:
                heapq.heappush(heap, (-seconds, -work[job], job))
            else:
                settled = max(settled, seconds)
            last = -heap[0][0] if heap else 0.0
            yield job, max(longest, whole / dealt) if last == math.inf else max(settled, last)

    def rho(self, now: float, held: tuple[int, ...]) -> float:
        """Return rho with the GPUs held until the end, infinite without any."""
        if not held or self._state.cluster is None:
            return math.inf
        level = locality(self._state.cluster, held)
        seconds = self._rest(len(held))[-1] * self._slowdown("machine" if level == "slot" else level)
        return (now - self.arrival + seconds) / self._ideal(now)

    def demand(self, now: float, held: tuple[int, ...]) -> int:
        """Return how many GPUs its present jobs can use beside those held."""
        del now  # what the jobs can use depends on who is present, not on the time
        return max(0, int(self._state.gpus[self.present()].sum()) - len(held))

    def bid(self, offer: Offer) -> AppBid:
        """Return the table of an offer: a row for every number of GPUs and every level that those held leave open."""
        counts: dict[int, int] = {}
        for gpu in offer.held:
            machine = int(offer.cluster.gpu_machine[gpu])
            counts[machine] = counts.get(machine, 0) + 1
        held_level = locality(offer.cluster, offer.held) if offer.held else "machine"
        narrowest = max(0, LEVELS.index("machine" if held_level == "slot" else held_level))
        elapsed, ideal = offer.now - self.arrival, self._ideal(offer.now)
        most = min(self.demand(offer.now, offer.held), len(offer.gpus))
        rest = self._rest(len(offer.held) + most)[len(offer.held) :]
        slowdowns = {level: self._slowdown(level) for level in LEVELS}
        rows = []
        for k, seconds in enumerate(rest, start=1):
            for level in LEVELS[narrowest:]:
                slowdown = slowdowns["machine" if len(offer.held) + k == 1 else level]
                rows.append((k, level, ideal / (elapsed + seconds * slowdown)))
        now = self.rho(offer.now, offer.held)
        zero = Fraction(0) if math.isinf(now) else Fraction(1.0 / now)
        return AppBid.from_rows(self.label, rows, zero, tuple(sorted(counts.items())))

    def _ideal(self, now: float) -> float:
        average = self._crowd.average(self.label, now)
        return ideal_seconds(self._budget, self._state.n_gpus, self._largest, average)

    def _serial(self, jobs: Sequence[int]) -> list[float]:
        chosen = np.asarray(jobs, dtype=np.int64)
        return (self._state.remaining(chosen) * self._state.gpus[chosen]).tolist()  # type: ignore[no-any-return]

    def _rest(self, most: int) -> list[float]:
        """Return how long the rest of the app takes at S = 1 on 1 to `most` GPUs, s."""
        hidden = self.jobs[self._state.status[self.jobs] == 0]
        later = float((self._state.duration[hidden] * self._state.gpus[hidden]).sum())
        now = [seconds for _, seconds in itertools.islice(self._dealing(), most)]
        now += [now[-1] if now else 0.0] * (most - len(now))
        return [seconds + later / min(k, self._largest) for k, seconds in enumerate(now, start=1)]

    def _slowdown(self, level: str) -> float:
        return self._state.slowdown(level, self.present().tolist())


def apps_of(state: State, crowd: Crowd) -> tuple[list[ReplayedApp], Ints]:
    """Return the apps of a workload in order of their first job, and the app of every job.

    Parameters
    ----------
    state : State
        Of the replay.
    crowd : Crowd
        The number of apps over time.

    Returns
    -------
    tuple of list of ReplayedApp and int array
        A job without an app is an app of its own.
    """
    ids, index = state.workload.ids, {}
    member = np.zeros(len(ids), dtype=np.int64)
    members: list[list[int]] = []
    for job, app in enumerate(state.workload.texts("app")):
        key = ("job", ids[job]) if app is None else ("app", app)
        if key not in index:
            index[key] = len(members)
            members.append([])
        member[job] = index[key]
        members[index[key]].append(job)
    names = [f"{kind} {name}" for kind, name in index]
    pairs = zip(names, members, strict=True)
    return [ReplayedApp(name, np.array(jobs, dtype=np.int64), state, crowd) for name, jobs in pairs], member
