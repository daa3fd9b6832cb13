"""Agent of an app with a tuner: finish-time fairness of its GPUs, and bid tables for offers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from gangopt.base.errors import InputError
from gangopt.instances.apps.app import CurveTuner, HalvingTuner, JobInfo, remaining_phases, rho_of_jobs
from gangopt.instances.apps.locality import monotone
from gangopt.instances.apps.tuners import CurveStopping, SuccessiveHalving
from gangopt.instances.auction.bids import LEVELS, AppBid
from gangopt.instances.bid.generate import from_phases
from gangopt.instances.bid.instance import BidInstance
from gangopt.instances.finish_time import ideal_seconds
from gangopt.solvers.auction.arbiter import Offer
from gangopt.solvers.themis.agent_lengths import Split, lengths_on, total_lengths
from gangopt.solvers.themis.rounds_apps import Crowd
from gangopt.topology import LOCALITIES, Cluster, locality

__all__ = ["MOST_SUBSET_GPUS", "TableRow", "TunedApp", "bid_rows", "subset_rhos"]

MOST_SUBSET_GPUS = 16
"""Maximum GPUs of an offer for which every subset is valued: 65,535 subsets."""


class TableRow(NamedTuple):
    """One row of a bid table.

    Attributes
    ----------
    gpus : int
        Number of GPUs in addition to those held.
    level : str
        Narrowest level that holds them and those held: `machine`, `rack` or `cluster`.
    rho : float
        Finish-time fairness with both until the app ends.
    """

    gpus: int
    level: str
    rho: float


def bid_rows(
    tuner: HalvingTuner | CurveTuner,
    *,
    most: int,
    held: int = 0,
    narrowest: str = "machine",
    elapsed: float,
    ideal: float,
    split: Split = "even",
) -> list[TableRow]:
    """Return the bid table of an app: a row for every number of GPUs and every level.

    A slowdown that falls from one locality to a wider one counts as equal there, since a bundle is valued by the widest
    level it may span and must be worth at least as much in a narrower place.

    Parameters
    ----------
    tuner : HalvingTuner or CurveTuner
        The app's tuner.
    most : int
        Maximum GPUs on offer.
    held : int, optional
        Number of GPUs that the app keeps.
    narrowest : str, optional
        Narrowest level that holds the kept GPUs.
    elapsed : float
        Time since the start of the app, s.
    ideal : float
        T_id, s.
    split : Split, optional
        How GPUs are split inside a phase.

    Returns
    -------
    list of TableRow
        Rows by GPUs, then by level from the narrowest.

    References
    ----------
    Mahajan et al.: THEMIS, NSDI 2020, section 4.3.
    """
    if most < 1:
        return []
    phases = estimates(tuner, held + most)
    lengths = total_lengths(phases, held + most, split)
    levels = LEVELS[LEVELS.index(narrowest) :]
    return [
        TableRow(k, level, rho_of_jobs([float(lengths[LOCALITIES.index(level), held + k - 1])], elapsed, ideal))
        for k in range(1, most + 1)
        for level in levels
    ]


def estimates(tuner: HalvingTuner | CurveTuner, gpus: int) -> list[Sequence[JobInfo]]:
    """Return the jobs of every phase as reported by the tuner, with monotone slowdowns."""
    known: dict[JobInfo, JobInfo] = {}

    def told(job: JobInfo) -> JobInfo:
        if job not in known:
            known[job] = replace(job, locality_sensitivity=monotone(job.locality_sensitivity))
        return known[job]

    return [tuple(map(told, jobs)) for jobs in remaining_phases(tuner, gpus)]


def subset_rhos(
    tuner: HalvingTuner | CurveTuner,
    cluster: Cluster,
    gpus: Sequence[int],
    *,
    held: Sequence[int] = (),
    elapsed: float,
    ideal: float,
    split: Split = "even",
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield every subset of the offered GPUs with its finish-time fairness, as the paper's agents do.

    GPUs of one slot are valued as GPUs of its machine, as in `bid_rows`.

    Parameters
    ----------
    tuner : HalvingTuner or CurveTuner
        The app's tuner.
    cluster : Cluster
        Where the GPUs are.
    gpus : sequence of int
        Indices of the offered GPUs, at most 16.
    held : sequence of int, optional
        Indices of the GPUs that the app keeps.
    elapsed, ideal, split : float or Split
        As in `bid_rows`.

    Yields
    ------
    tuple of tuple of int and float
        Subsets by size, then in ascending order; the empty set only if the app holds GPUs.

    Raises
    ------
    InputError
        If there are too many GPUs to enumerate.
    """
    if len(gpus) > MOST_SUBSET_GPUS:
        raise InputError(f"gpus: {len(gpus)} on offer; subsets are enumerated for at most {MOST_SUBSET_GPUS}; use rows")
    phases = estimates(tuner, len(held) + len(gpus))
    lengths = total_lengths(phases, len(held) + len(gpus), split)
    for size in range(0 if held else 1, len(gpus) + 1):
        for subset in itertools.combinations(sorted(gpus), size):
            level = max(LOCALITIES.index("machine"), LOCALITIES.index(locality(cluster, (*held, *subset))))
            length = float(lengths[level, len(held) + size - 1])
            yield subset, rho_of_jobs([length], elapsed, ideal)


@dataclass
class TunedApp:
    """An app with a simulated tuner and its agent; takes part in rounds like single-job apps.

    Attributes
    ----------
    label : str
        Unique name.
    arrival : float
        Time of arrival, s.
    tuner : SuccessiveHalving or CurveStopping
        The app's tuner.
    split : Split
        How GPUs are split inside a phase.
    restart : float
        Seconds without progress whenever its GPUs change.
    """

    label: str
    arrival: float
    tuner: SuccessiveHalving | CurveStopping
    split: Split = "even"
    restart: float = 0.0
    crowd: Crowd = field(init=False, repr=False)
    cluster: Cluster = field(init=False, repr=False)
    stalled: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        for name in ("arrival", "restart"):
            seconds = getattr(self, name)
            if not 0 <= seconds < math.inf:
                raise InputError(f"app {self.label}: {name} must be >= 0 seconds (got {seconds})")

    def join(self, cluster: Cluster, crowd: Crowd) -> None:
        """Enter a cluster, whose number of apps over time the crowd knows."""
        self.cluster, self.crowd = cluster, crowd

    def ideal(self, now: float) -> float:
        """Return T_id at a time, s."""
        average = self.crowd.average(self.label, now)
        return ideal_seconds(self.tuner.budget, len(self.cluster.gpus), self.tuner.most_gpus, average)

    def rho(self, now: float, held: tuple[int, ...]) -> float:
        """Return rho with the GPUs held until the end, infinite without any."""
        phases = estimates(self.tuner, len(held))
        if not phases:
            return self.final_rho(now)
        if not held:
            return math.inf
        (lengths,) = lengths_on(phases, [(len(held), locality(self.cluster, held))], self.split)
        return rho_of_jobs(lengths, now - self.arrival, self.ideal(now))

    def final_rho(self, end: float) -> float:
        """Return rho of the app if it ends at a time, s."""
        return (end - self.arrival) / self.ideal(end)

    def demand(self, now: float, held: tuple[int, ...]) -> int:
        """Return the number of GPUs that it can use besides those held, in any remaining phase."""
        del now  # only the remaining work of the app counts
        phases = remaining_phases(self.tuner, len(held))
        return max([0, *(sum(job.max_gpus for job in jobs) - len(held) for jobs in phases)])

    def table(self, offer: Offer) -> list[TableRow]:
        """Return the bid table of an offer: a row for every number of GPUs and every level possible with those held.

        Parameters
        ----------
        offer : Offer
            Offered GPUs, and those that the app keeps.
        """
        level = locality(self.cluster, offer.held) if offer.held else "machine"
        return bid_rows(
            self.tuner,
            most=min(self.demand(offer.now, offer.held), len(offer.gpus)),
            held=len(offer.held),
            narrowest="machine" if level == "slot" else level,
            elapsed=offer.now - self.arrival,
            ideal=self.ideal(offer.now),
            split=self.split,
        )

    def bid(self, offer: Offer) -> AppBid:
        """Return the bid table of an offer for the arbiter, in values 1 / rho."""
        counts: dict[int, int] = {}
        for gpu in offer.held:
            machine = int(self.cluster.gpu_machine[gpu])
            counts[machine] = counts.get(machine, 0) + 1
        now = self.rho(offer.now, offer.held)
        zero = Fraction(0) if math.isinf(now) else Fraction(1.0 / now)
        rows = [(row.gpus, row.level, 1.0 / row.rho) for row in self.table(offer)]
        return AppBid.from_rows(self.label, rows, zero, tuple(sorted(counts.items())))

    def instance(self, now: float, offers: Sequence[tuple[int, str]]) -> BidInstance:
        """Return the `bid` instance of the app at a time: the same table with an open split.

        Parameters
        ----------
        now : float
            Time, s.
        offers : sequence of tuple of int and str
            (GPUs, level).
        """
        return from_phases(
            estimates(self.tuner, max(gpus for gpus, _ in offers)),
            offers,
            name=f"bid of {self.label}",
            description=f"{self.label} at {now:g} s",
            cluster_gpus=len(self.cluster.gpus),
            contention=self.crowd.average(self.label, now),
            elapsed=now - self.arrival,
            budget=self.tuner.budget,
            app_gpus=self.tuner.most_gpus,
        )

    def advance(self, seconds: float, gpus: tuple[int, ...]) -> None:
        """Work for some seconds on these GPUs, after the rest of a restart; jobs of a phase advance evenly."""
        if not gpus:
            return
        waited = min(self.stalled, seconds)
        self.stalled -= waited
        left = seconds - waited
        for length in self._true_lengths(gpus):
            part = min(1.0, left / length)
            # a remainder due to rounding is not worth another step
            self.tuner.advance(1.0 if part > 1 - 1e-9 else part)
            left -= length
            if left <= 0:
                break

    def moved(self) -> None:
        """Record a change of GPUs: work resumes after the restart."""
        self.stalled = self.restart

    def seconds_left(self, gpus: tuple[int, ...]) -> float:
        """Return the true remaining time of the app on these GPUs, infinite without any."""
        return self.stalled + math.fsum(self._true_lengths(gpus)) if gpus else math.inf

    def _true_lengths(self, gpus: tuple[int, ...]) -> tuple[float, ...]:
        phases = self.tuner.truth()
        return lengths_on(phases, [(len(gpus), locality(self.cluster, gpus))], self.split)[0] if phases else ()
