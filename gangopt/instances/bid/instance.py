"""Value of offered GPUs to an app: the instance, the bid table as its solution, and the checker."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import (
    LARGEST,
    counts,
    finite,
    finite_numbers,
    integer,
    number,
    numbers,
    text,
    whole,
    whole_numbers,
)
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError
from gangopt.instances.apps.limits import LEAST, MAX_GPUS, MOST
from gangopt.instances.finish_time import ideal_seconds
from gangopt.topology import LOCALITIES

__all__ = ["MAX_OFFERS", "MAX_RUNS", "SPLITS", "BidInstance", "BidRow", "BidSolution"]

SPLITS = ("whole", "shared")
"""Splits of GPUs within a phase: integer GPUs that a job keeps until it ends, or GPUs that pass from job to job."""

MAX_RUNS = 20_000
"""Most runs (a job in a phase) of one app."""

MAX_OFFERS = 4096
"""Most offers of one instance."""

MAX_APP_GPUS = MAX_GPUS * MAX_RUNS
"""Most GPUs that an app can use."""

MAX_ENTRIES = 4_000_000
"""Most runs times offers."""

TOLERANCE = 1e-9
"""Relative tolerance of stated seconds, ratios and sums of shares."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BidInstance(Instance):
    """An app with its remaining phases, and offers of GPUs that it values by finish-time fairness.

    A run is a job in a phase. Phases follow one another; a phase ends with its last run. Run j takes
    `w_j S / g` seconds on g GPUs, `g <= max_gpus[j]`, with `w_j = iterations[j] seconds[j]` and S its slowdown at the
    offer's level (within one slot for a run on one GPU).

    Attributes
    ----------
    jobs : tuple of str
        Label of every run, unique within its phase.
    phase : ndarray
        Phase of every run, ascending from 0 without gaps, shape (n,).
    iterations : ndarray
        Iterations left in the phase, shape (n,).
    seconds : ndarray
        Time of one iteration on one GPU, s, shape (n,).
    max_gpus : ndarray
        Most GPUs that a run can use, shape (n,).
    slowdown : ndarray
        Slowdown S within a slot, a machine, a rack and the cluster, shape (n, 4).
    offer_gpus : ndarray
        GPUs of every offer, shape (m,).
    offer_levels : tuple of str
        Narrowest level that contains each offer, one of `slot`, `machine`, `rack`, `cluster`.
    split : str
        `whole`: a run keeps an integer number of GPUs until its phase ends, and if runs outnumber GPUs, each queues
        for one GPU; `shared`: GPUs pass from run to run.
    elapsed : float
        Time since the app's start, s.
    budget : float or None
        GPU time B of the app from start to end, each job on one GPU, GPU-s; None for the sum of `work`.
    cluster_gpus : int
        GPUs of the cluster, R_C.
    app_gpus : int or None
        Most GPUs that the app can use; None for the most of any phase.
    contention : float
        Time-weighted number of apps present, N_avg.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, equations 1 and 2.
    """

    noun: ClassVar[str] = "bid"
    name: str
    description: str = ""
    source: str = ""
    jobs: tuple[str, ...]
    phase: np.ndarray
    iterations: np.ndarray
    seconds: np.ndarray
    max_gpus: np.ndarray
    slowdown: np.ndarray
    offer_gpus: np.ndarray
    offer_levels: tuple[str, ...]
    split: str = "whole"
    elapsed: float = 0.0
    budget: float | None = None
    cluster_gpus: int
    app_gpus: int | None = None
    contention: float
    work: np.ndarray = field(init=False, compare=False)
    phases: tuple[range, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        n, m = len(self.jobs), len(self.offer_levels)
        integer("number of jobs", n, 1, MAX_RUNS)
        integer("number of offers", m, 1, MAX_OFFERS)
        integer("number of runs x offers", n * m, 1, MAX_ENTRIES)
        if self.split not in SPLITS:
            raise unknown("split", str(self.split), list(SPLITS))
        for index, level in enumerate(self.offer_levels):
            if level not in LOCALITIES:
                raise unknown(f"locality offer_levels[{index}]", str(level), list(LOCALITIES))
        checked: dict[str, Any] = {
            "phase": counts("phase", self.phase, (n,), 0, n - 1),
            "iterations": numbers("iterations", self.iterations, (n,), LEAST, MOST),
            "seconds": numbers("seconds", self.seconds, (n,), LEAST, MOST),
            "max_gpus": counts("max_gpus", self.max_gpus, (n,), 1, MAX_GPUS),
            "slowdown": numbers("slowdown", self.slowdown, (n, len(LOCALITIES)), LEAST, MOST),
            "cluster_gpus": integer("cluster_gpus", self.cluster_gpus, 1, MAX_GPUS),
            "contention": number("contention", self.contention, LEAST, MOST),
            "elapsed": number("elapsed", self.elapsed, 0, LARGEST),
        }
        checked["offer_gpus"] = counts("offer_gpus", self.offer_gpus, (m,), 1, checked["cluster_gpus"])
        checked["work"] = checked["iterations"] * checked["seconds"]
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "phases", _phases(self.jobs, self.phase.tolist()))
        widest = max(int(self.max_gpus[run.start : run.stop].sum()) for run in self.phases)
        demand = widest if self.app_gpus is None else self.app_gpus
        budget = math.fsum(self.work.tolist()) if self.budget is None else self.budget
        object.__setattr__(self, "app_gpus", integer("app_gpus", demand, 1, MAX_APP_GPUS))
        object.__setattr__(self, "budget", number("budget", budget, LEAST**2, LARGEST))
        self._freeze()

    @property
    def ideal_seconds(self) -> float:
        r"""Finish time in an exclusive share of the cluster, in seconds.

        .. math:: T_{id} = N_{avg} B / \min(R_C, \text{app\_gpus})
        """
        assert self.budget is not None
        assert self.app_gpus is not None
        return ideal_seconds(self.budget, self.cluster_gpus, self.app_gpus, self.contention)

    def factor(self, offer: int, gpus: int) -> np.ndarray:
        """Return the slowdown of every run on a number of GPUs of an offer, shape (n,).

        Parameters
        ----------
        offer : int
            Index of the offer.
        gpus : int
            GPUs of the run; a run on one GPU never spans more than a slot.
        """
        level = 0 if gpus == 1 else LOCALITIES.index(self.offer_levels[offer])
        column: np.ndarray = self.slowdown[:, level]
        return column

    def demands(self, offer: int) -> np.ndarray:
        """Return the GPU time of every run with the slowdown of the whole offer, GPU-s, shape (n,)."""
        demand: np.ndarray = self.work * self.factor(offer, int(self.offer_gpus[offer]))
        return demand

    def rho(self, seconds: tuple[float, ...]) -> float:
        """Return finish-time fairness: elapsed time plus the lengths of the phases, divided by `ideal_seconds`."""
        return math.fsum((self.elapsed, *seconds)) / self.ideal_seconds

    def lengths(self, offer: int, shares: tuple[float, ...], queues: tuple[int | None, ...]) -> tuple[float, ...]:
        """Return the length of each phase in seconds, with a feasible split.

        Parameters
        ----------
        offer : int
            Index of the offer.
        shares : tuple of float
            GPUs of every run.
        queues : tuple of int or None
            GPU for which a run queues, None for runs that do not wait.
        """
        single, spread = self.factor(offer, 1).tolist(), self.factor(offer, int(self.offer_gpus[offer])).tolist()
        work, lengths = self.work.tolist(), []
        for runs in self.phases:
            waiting: dict[int, list[float]] = {}
            longest = 0.0
            for j in runs:
                queue = queues[j]
                slowdown = single[j] if self.split == "whole" and shares[j] == 1 else spread[j]
                if queue is None:
                    longest = max(longest, work[j] * slowdown / shares[j])
                else:
                    waiting.setdefault(queue, []).append(work[j] * slowdown)
            lengths.append(max([longest, *map(math.fsum, waiting.values())]))
        return tuple(lengths)

    def check(self, solution: BidSolution) -> list[Violation]:
        """Return every broken rule of a bid table.

        Rules: `row_per_offer`; `share_per_run`, `demand`, `gpus_offered` for shares of GPUs; `one_count_per_job` and
        `one_queue_per_job` for whole GPUs; `phase_seconds` and `stated_rho` for what the row claims.

        Parameters
        ----------
        solution : BidSolution
            The bid table.
        """
        rows, m = solution.rows, len(self.offer_levels)
        if len(rows) != m:
            return [Violation("row_per_offer", "rows", len(rows), m)]
        found: list[Violation] = []
        for offer, row in enumerate(rows):
            given = (int(self.offer_gpus[offer]), self.offer_levels[offer])
            if (row.gpus, row.level) != given:
                where = f"row {offer} ({row.gpus} GPUs, {row.level}), offered {given[0]} GPUs, {given[1]}"
                found.append(Violation("row_per_offer", where, row.gpus, given[0], "GPUs"))
                continue
            shape = (len(row.shares), len(row.queues), len(row.seconds))
            expected = (len(self.jobs), len(self.jobs), len(self.phases))
            if shape != expected:
                wrong = next(k for k in range(3) if shape[k] != expected[k])
                names = ("shares", "queues", "seconds")
                found.append(Violation("share_per_run", f"row {offer}, {names[wrong]}", shape[wrong], expected[wrong]))
                continue
            broken = [*self._check_demands(offer, row), *self._check_split(offer, row)]
            found += broken or self._check_claims(offer, row)
        return found

    def _check_demands(self, offer: int, row: BidRow) -> list[Violation]:
        most = self.max_gpus.tolist()
        return [
            Violation("demand", f"row {offer}, job {self.jobs[j]}", share, most[j], "GPUs")
            for j, share in enumerate(row.shares)
            if not 0 < share <= most[j] * (1 + TOLERANCE)
        ]

    def _check_split(self, offer: int, row: BidRow) -> list[Violation]:
        found = []
        for i, runs in enumerate(self.phases):
            where = f"row {offer}, phase {i}"
            queued = self.split == "whole" and len(runs) > row.gpus
            for j in runs:
                queue = row.queues[j]
                if queued and not (queue is not None and 0 <= queue < row.gpus and row.shares[j] == 1):
                    at = -1 if queue is None else queue
                    found.append(Violation("one_queue_per_job", f"{where}, job {self.jobs[j]}", at, row.gpus - 1))
                elif not queued and queue is not None:
                    found.append(Violation("one_queue_per_job", f"{where}, job {self.jobs[j]}", queue, -1))
                elif self.split == "whole" and row.shares[j] != int(row.shares[j]):
                    share = row.shares[j]
                    at_most = int(share)
                    found.append(Violation("one_count_per_job", f"{where}, job {self.jobs[j]}", share, at_most, "GPUs"))
            total = math.fsum(row.shares[runs.start : runs.stop])
            if not queued and total > row.gpus * (1 + TOLERANCE):
                found.append(Violation("gpus_offered", where, total, row.gpus, "GPUs"))
        return found

    def _check_claims(self, offer: int, row: BidRow) -> list[Violation]:
        """Return stated lengths and ratios that differ from those of the split; shared phases may last longer."""
        found = []
        for i, (stated, length) in enumerate(
            zip(row.seconds, self.lengths(offer, row.shares, row.queues), strict=True)
        ):
            excess = 0.0 if self.split == "shared" else stated - length
            if stated < length * (1 - TOLERANCE) or excess > length * TOLERANCE:
                found.append(Violation("phase_seconds", f"row {offer}, phase {i}", stated, length, "s"))
        rho = self.rho(row.seconds)
        if abs(row.rho - rho) > TOLERANCE * rho:
            found.append(Violation("stated_rho", f"row {offer}", row.rho, rho))
        return found

    def evaluate(self, solution: BidSolution) -> Score:
        r"""Return the mean finish-time fairness over the offers.

        .. math:: \frac1m \sum_o \rho_o, \quad \rho_o = T_{sh}(o) / T_{id}

        Parameters
        ----------
        solution : BidSolution
            A feasible bid table.

        Returns
        -------
        Score
            Metrics: `max_rho` and `min_rho` over the offers, dimensionless.
        """
        values = [self.rho(row.seconds) for row in solution.rows]
        return Score(math.fsum(values) / len(values), {"max_rho": max(values), "min_rho": min(values)})


def _phases(jobs: tuple[str, ...], phase: list[int]) -> tuple[range, ...]:
    """Return the runs of every phase as a range, after checking the order of phases and the labels in each."""
    starts: list[int] = []
    seen: set[str] = set()
    for j, (label, at) in enumerate(zip(jobs, phase, strict=True)):
        if at == len(starts):
            starts.append(j)
            seen = set()
        elif at != len(starts) - 1:
            allowed = f"{len(starts) - 1} or {len(starts)}" if starts else "0"
            raise InputError(f"phase[{j}] must be {allowed}, since phases ascend without gaps (got {at})")
        text(f"jobs[{j}]", label, 1, 200)
        if label in seen:
            raise InputError(f"jobs[{j}]: duplicate label {label!r} in phase {at}")
        seen.add(label)
    return tuple(range(start, stop) for start, stop in zip(starts, [*starts[1:], len(jobs)], strict=True))


@dataclass(frozen=True)
class BidRow:
    """The app's bid for one offer, and the split of GPUs behind it.

    Attributes
    ----------
    gpus : int
        GPUs of the offer.
    level : str
        Narrowest level that contains them.
    rho : float
        Finish-time fairness with the offer, dimensionless.
    seconds : tuple of float
        Length of every phase, s.
    shares : tuple of float
        GPUs of every run; integers if the split is `whole`.
    queues : tuple of int or None
        GPU of the offer, from 0, for which a run queues; None for runs that do not wait.
    """

    gpus: int
    level: str
    rho: float
    seconds: tuple[float, ...]
    shares: tuple[float, ...]
    queues: tuple[int | None, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "gpus", whole("gpus", self.gpus))
        object.__setattr__(self, "rho", finite("rho", self.rho))
        object.__setattr__(self, "seconds", finite_numbers("seconds", self.seconds))
        shares = (item if type(item) is int else finite(f"shares[{j}]", item) for j, item in enumerate(self.shares))
        object.__setattr__(self, "shares", tuple(shares))
        waiting = iter(whole_numbers("queues", [item for item in self.queues if item is not None]))
        object.__setattr__(self, "queues", tuple(None if item is None else next(waiting) for item in self.queues))


@dataclass(frozen=True)
class BidSolution:
    """A bid table: one row for every offer, in the same order.

    Attributes
    ----------
    rows : tuple of BidRow
        Rows of the table.
    """

    rows: tuple[BidRow, ...]
