"""Apps of a workload as agents of THEMIS: remaining work and valuation of GPUs."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from gangopt.base.types import Ints
from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.finish_time import ideal_seconds, largest_demands
from gangopt.replays.state import State
from gangopt.solvers.auction.arbiter import Offer
from gangopt.solvers.themis.rounds_apps import Crowd
from gangopt.topology import locality

__all__ = ["ReplayedApp", "apps_of"]


class ReplayedApp:
    r"""App of one or more jobs, whose completion time depends on its GPUs and their slowdown.

    On k GPUs with slowdown S it ends after

    .. math:: T_{sh} = t - t_0 + \max_j \frac{w_j S}{\min(k_j, W_j)} + \frac{L S}{\min(k, d)}

    where k is split among the present jobs so as to minimise the maximum (`split`), and L is the serial work of later
    phases. If there are more jobs than GPUs, they take turns: the maximum is then the larger of the longest job alone
    and the total work divided by k.

    Parameters
    ----------
    label : str
        Name of the app.
    jobs : ndarray of int
        Jobs of the app, in order of arrival.
    state : State
        Live state of the replay.
    crowd : Crowd
        Number of apps over time.

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
        """Return the app's waiting and running jobs in order of arrival."""
        status = self._state.status[self.jobs]
        return np.asarray(self.jobs[(status == 1) | (status == 2)])

    def split(self, gpus: int) -> dict[int, int]:
        """Assign GPUs one at a time to the present job that would end last, up to its gang, and return them by job.

        Ties go to the job with more work, then to the earlier arrival. Jobs without GPUs are omitted.
        """
        given: dict[int, int] = {}
        for job, _ in itertools.islice(self._dealing(), gpus):
            given[job] = given.get(job, 0) + 1
        return dict(sorted(given.items()))

    def _dealing(self) -> Iterator[tuple[int, float]]:
        """Yield the job that gets the next GPU, and the time in s that the present jobs then take at S = 1."""
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
        """Return rho if the app keeps these GPUs until its end; infinite without GPUs."""
        if not held or self._state.cluster is None:
            return math.inf
        level = locality(self._state.cluster, held)
        seconds = self._rest(len(held))[-1] * self._slowdown("machine" if level == "slot" else level)
        return (now - self.arrival + seconds) / self._ideal(now)

    def demand(self, now: float, held: tuple[int, ...]) -> int:
        """Return the number of GPUs that the present jobs can use in addition to those held."""
        del now  # the demand depends on the present jobs, not on the time
        return max(0, int(self._state.gpus[self.present()].sum()) - len(held))

    def bid(self, offer: Offer) -> AppBid:
        """Return the bid for an offer: one row per number of GPUs and per topology level open to the app."""
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
        """Return the remaining time of the app at S = 1 on 1 to `most` GPUs, in s."""
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
        State of the replay.
    crowd : Crowd
        Number of apps over time.

    Returns
    -------
    tuple of list of ReplayedApp and ndarray of int
        Apps, and index of each job's app; a job without an app is an app of its own.
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
