"""Auctions of GPUs among apps that bid for them (THEMIS's partial allocation): instance and checker, exact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from gangopt.base.checks import counts, integer, labels
from gangopt.base.contract import Instance, Score, Violation
from gangopt.base.errors import InputError
from gangopt.instances.auction.bids import CLUSTER, LEVELS, MACHINE, MAX_GPUS, AppBid, Bundle, Bystander
from gangopt.instances.auction.score import log_of, mean_value, score_of_logs
from gangopt.instances.auction.solution import AuctionSolution
from gangopt.instances.finish_time import jain

__all__ = ["AuctionInstance", "log_of", "mean_value"]

MAX_MACHINES = 100_000
"""Most machines of one instance."""

MAX_APPS = 10_000
"""Most apps that bid, and most bystanders."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AuctionInstance(Instance):
    """Offered GPUs on machines in racks, and the bids of apps for them.

    Attributes
    ----------
    racks : tuple of str
        Label of every rack, index r from 0.
    machines : tuple of str
        Label of every machine, index m from 0.
    machine_rack : ndarray
        Rack of every machine, shape (machines,).
    offered : ndarray
        GPUs on offer, integers, shape (machines,); the GPUs of one machine are identical.
    apps : tuple of AppBid
        Bids, index i from 0; ties go to the lower index.
    bystanders : tuple of Bystander
        Apps that did not bid.
    """

    noun: ClassVar[str] = "auction"
    name: str
    description: str = ""
    source: str = ""
    racks: tuple[str, ...]
    machines: tuple[str, ...]
    machine_rack: np.ndarray
    offered: np.ndarray
    apps: tuple[AppBid, ...]
    bystanders: tuple[Bystander, ...] = ()

    def __post_init__(self) -> None:
        self._set("racks", labels("racks", self.racks))
        self._set("machines", labels("machines", self.machines))
        for field, items, most in (
            ("racks", self.racks, MAX_MACHINES),
            ("machines", self.machines, MAX_MACHINES),
            ("apps", self.apps, MAX_APPS),
        ):
            integer(f"number of {field}", len(items), 1, most)
        m = len(self.machines)
        self._set("machine_rack", counts("machine_rack", self.machine_rack, (m,), 0, len(self.racks) - 1))
        self._set("offered", counts("offered", self.offered, (m,), 0, MAX_GPUS))
        self._set("apps", tuple(self.apps))
        self._set("bystanders", tuple(self.bystanders))
        labels("apps", [*(item.label for item in self.apps), *(item.label for item in self.bystanders)])
        for i, app in enumerate(self.apps):
            if any(machine >= m for machine, _ in app.held):
                raise InputError(f"apps[{i}].held must lie on machines 0 to {m - 1} (got {app.held})")
        for b, item in enumerate(self.bystanders):
            integer(f"bystanders[{b}].demand", item.demand, 0)
        self._freeze()

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    @property
    def total(self) -> int:
        """Number of GPUs on offer, R."""
        return int(self.offered.sum())

    @cached_property
    def rack_offered(self) -> np.ndarray:
        """GPUs on offer in every rack, shape (racks,)."""
        return np.bincount(self.machine_rack, self.offered, minlength=len(self.racks)).astype(np.int64)

    def home(self, app: int) -> tuple[int | None, int | None]:
        """Return the machine and the rack that contain all GPUs an app holds, None where there is no single one.

        Parameters
        ----------
        app : int
            Index of an app that holds GPUs.
        """
        held = self.apps[app].held
        racks = {int(self.machine_rack[machine]) for machine, _ in held}
        machine = held[0][0] if len(held) == 1 else None
        return machine, racks.pop() if len(racks) == 1 else None

    def places(self, app: int, level: int) -> list[tuple[int, int]]:
        """Return the places of a level that count for an app, in order.

        Parameters
        ----------
        app : int
            Index of the app.
        level : int
            0 machine, 1 rack, 2 cluster.

        Returns
        -------
        list of tuple of int
            (place, GPUs on offer there), for places that offer a GPU and contain all GPUs that the app holds.
        """
        if level == CLUSTER:
            return [(0, self.total)] if self.total else []
        sizes = self.offered if level == MACHINE else self.rack_offered
        if not self.apps[app].held:
            return [(place, size) for place, size in enumerate(sizes.tolist()) if size]
        place = self.home(app)[level]
        return [] if place is None or not sizes[place] else [(place, int(sizes[place]))]

    def reach(self, app: int, bundle: Bundle) -> tuple[int, int, int]:
        """Return the most GPUs of a bundle in one machine, in one rack and in the cluster.

        Parameters
        ----------
        app : int
            Index of the app; only machines and racks that contain all GPUs it holds count.
        bundle : Bundle
            GPUs won in addition to those held.
        """
        total = sum(count for _, count in bundle)
        in_rack: dict[int, int] = {}
        for m, count in bundle:
            rack = int(self.machine_rack[m])
            in_rack[rack] = in_rack.get(rack, 0) + count
        if not self.apps[app].held:
            return max((count for _, count in bundle), default=0), max(in_rack.values(), default=0), total
        machine, home = self.home(app)
        at_machine = 0 if machine is None else dict(bundle).get(machine, 0)
        return at_machine, 0 if home is None else in_rack.get(home, 0), total

    def value(self, app: int, bundle: Bundle) -> Fraction:
        """Return the exact value V of a bundle won in addition to the GPUs that an app holds; see `AppBid`.

        Parameters
        ----------
        app : int
            Index of the app.
        bundle : Bundle
            (machine, number of GPUs).
        """
        bid = self.apps[app]
        return max(bid.at(level, gpus) for level, gpus in enumerate(self.reach(app, bundle)))

    @cached_property
    def servable(self) -> int:
        """Upper bound on the apps with a value above 0, found by serving apps in ascending order of their fewest GPUs.

        It is attained if apps may take these GPUs anywhere in the cluster. Otherwise it can exceed what machines and
        racks allow, and outcomes are then ordered by `score_of_logs`.
        """
        fewest = [least for i in range(len(self.apps)) if (least := self._fewest(i)) is not None]
        left, served = self.total, 0
        for least in sorted(fewest):
            left -= least
            if left < 0:
                break
            served += 1
        return served

    @cached_property
    def log_spread(self) -> tuple[float, float]:
        """Natural logarithms of the smallest and the largest value above 0 in any bid; 0 and 0 if there is none."""
        values = [value for app in self.apps for value in (*app.values, app.value_at_zero) if value]
        return (log_of(min(values)), log_of(max(values))) if values else (0.0, 0.0)

    def _fewest(self, app: int) -> int | None:
        """Return the fewest GPUs that give an app a value above 0, None if no number does."""
        bid = self.apps[app]
        if bid.value_at_zero:
            return 0
        found = []
        for level in range(len(LEVELS)):
            room = max((size for _, size in self.places(app, level)), default=0)
            found += [k for k in range(1, min(room, len(bid.best[level]) - 1) + 1) if bid.best[level][k]][:1]
        return min(found, default=None)

    def check(self, solution: AuctionSolution) -> list[Violation]:
        """Return every broken rule of an outcome; empty if it is feasible.

        The rules: every app has a bundle (`one_bundle_per_app`) on existing machines, with at least 1 GPU on each
        (`known_machine`); apps and bystanders receive at most the GPUs offered on a machine, and so do the apps before
        payment (`machine_capacity`); an app keeps part of what it won (`kept_of_won`); 0 <= low <= high <= 1 for every
        share (`share_of_payment`); a bystander receives at most its demand (`demand_of_bystander`).

        Parameters
        ----------
        solution : AuctionSolution
            The outcome.
        """
        found = self._check_shape(solution)
        if found:
            return found
        found += self._check_capacity([*solution.bundles, *solution.gifts], "")
        if solution.won:
            found += self._check_capacity(solution.won, " before payment")
            for app, kept, won in zip(self.apps, solution.bundles, solution.won, strict=True):
                had = dict(won)
                for machine, count in kept:
                    if count > had.get(machine, 0):
                        where = f"app {app.label}, machine {self.machines[machine]}"
                        found.append(Violation("kept_of_won", where, count, had.get(machine, 0), "GPUs"))
        for app, (low, high) in zip(self.apps, solution.payments, strict=bool(solution.payments)):
            if not 0 <= low <= high <= 1:
                outside = low if low < 0 or low > high else high
                found.append(Violation("share_of_payment", f"app {app.label}", float(outside), 1.0))
        for item, gift in zip(self.bystanders, solution.gifts, strict=bool(solution.gifts)):
            given = sum(count for _, count in gift)
            if given > item.demand:
                found.append(Violation("demand_of_bystander", f"app {item.label}", given, item.demand, "GPUs"))
        return found

    def _check_shape(self, solution: AuctionSolution) -> list[Violation]:
        found = []
        for field, expected, optional in (
            ("bundles", len(self.apps), False),
            ("won", len(self.apps), True),
            ("payments", len(self.apps), True),
            ("gifts", len(self.bystanders), True),
        ):
            given = len(getattr(solution, field))
            if given != expected and not (optional and given == 0):
                found.append(Violation("one_bundle_per_app", f"number of {field}", given, expected))
        for bundle in (*solution.bundles, *solution.won, *solution.gifts):
            machines = [machine for machine, _ in bundle]
            for machine, count in bundle:
                if not 0 <= machine < len(self.machines) or count < 1 or machines.count(machine) > 1:
                    where = f"{count} GPUs on machine {machine}"
                    found.append(Violation("known_machine", where, machine, len(self.machines) - 1))
        return found

    def _check_capacity(self, bundles: Iterable[Bundle], when: str) -> list[Violation]:
        used = [0] * len(self.machines)
        for bundle in bundles:
            for machine, count in bundle:
                used[machine] += count
        return [
            Violation("machine_capacity", f"machine {self.machines[m]}{when}", used[m], offered, "GPUs")
            for m, offered in enumerate(self.offered.tolist())
            if used[m] > offered
        ]

    def evaluate(self, solution: AuctionSolution) -> Score:
        """Return the geometric mean of the apps' values over the `servable` largest of them.

        An outcome that serves fewer apps than `servable` has an objective below 0; see `score_of_logs`.

        Parameters
        ----------
        solution : AuctionSolution
            A feasible outcome.

        Returns
        -------
        Score
            Objective as in `mean_value` and `score_of_logs`. Metrics: `served`, apps with a value above 0;
            `mean_of_served`, geometric mean over those; `max_rho` and `min_rho` of rho = 1 / V, None if unbounded;
            `jain`, Jain's index of rho over the served apps; `gpus_used`, `gpus_given` to bystanders and
            `gpus_left_over`; `placement`, mean over apps with GPUs of their value relative to the best value of as
            many GPUs; with payments also `payments_proven`, `least_share`, `mean_share` and `payments`, a record for
            every app.
        """
        values = [self.value(i, bundle) for i, bundle in enumerate(solution.bundles)]
        served = [value for value in values if value]
        rho = [1 / value for value in served]
        used, given = _gpus(solution.bundles), _gpus(solution.gifts)
        metrics: dict[str, object] = {
            "served": len(served),
            "mean_of_served": mean_value(served, len(served)),
            "max_rho": float(max(rho)) if rho and len(served) == len(values) else None,
            "min_rho": float(min(rho)) if rho else None,
            "jain": jain(rho) if rho else None,
            "gpus_used": used,
            "gpus_given": given,
            "gpus_left_over": self.total - used - given,
            "placement": self._placement(solution.bundles, values),
            **self._payments(solution),
        }
        if len(served) >= self.servable:
            return Score(mean_value(values, self.servable), metrics)
        logs = math.fsum(log_of(value) for value in served)
        return Score(score_of_logs(logs, len(served), self.servable, self.log_spread), metrics)

    def _placement(self, bundles: Sequence[Bundle], values: Sequence[Fraction]) -> float | None:
        scores = []
        for i, bundle in enumerate(bundles):
            held, most = self.apps[i].held, sum(count for _, count in bundle)
            if not most:
                continue
            rooms = [max((size for _, size in self.places(i, level)), default=0) for level in range(len(LEVELS))]
            best = max(self.apps[i].at(level, min(room, most)) for level, room in enumerate(rooms))
            scores.append(float(values[i] / best) if best else float(not held))
        return math.fsum(scores) / len(scores) if scores else None

    def _payments(self, solution: AuctionSolution) -> dict[str, object]:
        if not solution.payments:
            return {}
        proven = [low for low, high in solution.payments if low == high]
        shares = [float(low) for low, _ in solution.payments]
        records = [
            {
                "app": app.label,
                "share_low": float(low),
                "share_high": float(high),
                "won": _gpus([solution.before_payment[i]]),
                "kept": _gpus([solution.bundles[i]]),
            }
            for i, (app, (low, high)) in enumerate(zip(self.apps, solution.payments, strict=True))
        ]
        return {
            "payments_proven": len(proven),
            "least_share": min(shares),
            "mean_share": math.fsum(shares) / len(shares),
            "payments": records,
        }


def _gpus(bundles: Iterable[Bundle]) -> int:
    return sum(count for bundle in bundles for _, count in bundle)
