"""Whether lying pays in THEMIS's auction: equal apps, one of which misreports its slowdown in every round."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gangopt.arguments import unknown
from gangopt.errors import InputError
from gangopt.instances.auction import AuctionInstance
from gangopt.instances.auction_bids import Bystander
from gangopt.instances.auction_solution import AuctionSolution
from gangopt.instances.generators.auction import running_bid
from gangopt.solvers.experiments.table import ExperimentTable
from gangopt.solvers.solve import solve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KINDS", "LIES", "Setting", "completion_times", "picture", "themis_truth_telling"]

Kind = Literal["spread", "dense"]
Auctioneer = Callable[[AuctionInstance, int], AuctionSolution]

KINDS: tuple[Kind, ...] = ("spread", "dense")
LIES = (*range(0, 31, 10), 34, 35, 36, *range(40, 101, 10))
"""X in percent."""

MACHINES = (8, *(2,) * 28)
"""GPUs of each machine of the paper's set-up: 64 in one rack."""

ROUNDINGS = ("floor", "value", "random")

COLUMNS = {
    "lie": "",
    "X": "%",
    "liar": "min",
    "truthful": "min",
    "liar, to X = 0": "%",
    "truthful, to X = 0": "%",
    "liar keeps": "%",
    "truthful keep": "%",
    "runs": "",
}
_TICKS = 10**6
"""Steps of a minute and of a GPU-minute in which bids are stated, so that they are short rationals."""

_LONGEST = 2_000
"""Most rounds of a run."""


@dataclass(frozen=True)
class Setting:
    """The apps and the rounds.

    Attributes
    ----------
    apps : number of equal apps; all arrive at time 0
    demand : most GPUs that an app can use
    work : serial time of an app, GPU-minutes
    across : true slowdown across machines; inside one it is 1
    fairness : f; the 1 - f of the apps with the greatest rho bid, at least one
    lease : minutes for which a round's outcome holds
    rounding : how shares become whole GPUs, see method `themis` of `auction`
    """

    apps: int = 8
    demand: int = 16
    work: float = 960.0
    across: float = 1.3
    fairness: float = 0.8
    lease: float = 10.0
    rounding: str = "floor"

    def __post_init__(self) -> None:
        for field, low, high in (("apps", 1, 64), ("demand", 1, 64)):
            if not low <= getattr(self, field) <= high:
                raise InputError(f"{field}: {getattr(self, field)}, a whole number from {low} to {high} is needed")
        for field, above, most in (("work", 0, 1e6), ("lease", 0, 1e6)):
            if not above < getattr(self, field) <= most:
                raise InputError(f"{field}: {getattr(self, field)}, a number above 0, at most {most:g}, is needed")
        if self.rounding not in ROUNDINGS:
            raise unknown("rounding", self.rounding, list(ROUNDINGS))
        if not 1 <= self.across <= 100:
            raise InputError(f"across: {self.across}, a number from 1 to 100 is needed")
        if not 0 <= self.fairness <= 1:
            raise InputError(f"fairness: {self.fairness}, a number from 0 to 1 is needed")

    @property
    def ideal(self) -> Fraction:
        """T_id of an app in minutes, eqn 1: on all GPUs that it can use, times the number of apps."""
        return Fraction(str(self.work)) / min(sum(MACHINES), self.demand) * self.apps

    @property
    def bidders(self) -> int:
        """Apps that bid in a round of all apps."""
        return self.bidders_of(self.apps)

    def bidders_of(self, apps: int) -> int:
        """Return how many of the apps that are left bid."""
        return max(1, math.ceil((1 - Fraction(str(self.fairness))) * apps))


def themis_truth_telling(
    lies: Sequence[float] = LIES,
    kinds: Sequence[str] = KINDS,
    setting: Setting | None = None,
    *,
    seeds: int = 3,
) -> ExperimentTable:
    """Let one of the apps misreport its slowdown by X % in every bid, and run rounds until all have finished.

    Parameters
    ----------
    lies : X, percents from 0 to 100; 0 is always run
    kinds : `spread`: it reports the slowdown across machines X % too high; `dense`: that in one machine X % too low
    setting : the apps and the rounds; None for the defaults
    seeds : runs that are averaged; the liar's place among the apps and every gift of left-over GPUs are drawn

    Returns
    -------
    ExperimentTable

    Raises
    ------
    InputError
        If a lie or kind is not allowed.

    References
    ----------
    THEMIS (NSDI'20), section 6.4 of the paper and figure 18.
    """
    setting = Setting() if setting is None else setting
    for value in lies:
        if not 0 <= value <= 100:
            raise InputError(f"themis-truth-telling: X = {value:g} %, 0 to 100 is allowed")
    for kind in kinds:
        if kind not in KINDS:
            raise unknown("lie", kind, list(KINDS))
    if not 1 <= seeds <= 1000:
        raise InputError(f"themis-truth-telling: {seeds} runs, 1 to 1000 are allowed")
    rows: list[dict[str, Any]] = []
    notes = [*_notes(setting)]
    for kind in KINDS:
        if kind in kinds:
            found = _rows(kind, sorted({0, *lies}), setting, seeds)
            notes.append(_verdict(kind, found))
            rows += found
    return ExperimentTable(
        "themis-truth-telling",
        f"One of {setting.apps} equal apps lies about its slowdown: one 8-GPU and 28 2-GPU machines",
        COLUMNS,
        tuple(rows),
        tuple(notes),
    )


def _rows(kind: Kind, lies: list[float], setting: Setting, seeds: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for lie in lies:
        runs = [completion_times(kind, lie, setting, seed) for seed in range(seeds)]
        liar, truthful = (_mean([run[field] for run in runs]) for field in ("liar", "truthful"))
        base = rows[0] if rows else {"liar": liar, "truthful": truthful}
        rows.append(
            {
                "lie": kind,
                "X": lie,
                "liar": liar,
                "truthful": truthful,
                "liar, to X = 0": 100 * (liar / base["liar"] - 1),
                "truthful, to X = 0": 100 * (truthful / base["truthful"] - 1),
                "liar keeps": 100 * _mean([run["liar_share"] for run in runs]),
                "truthful keep": 100 * _mean([run["truthful_share"] for run in runs]),
                "runs": seeds,
            }
        )
    return rows


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _verdict(kind: Kind, rows: list[dict[str, Any]]) -> str:
    """Return from which X on the liar finishes later than when it tells the truth."""
    hurt = [row["liar, to X = 0"] > 1e-6 for row in rows]
    start = next((k for k in range(len(rows)) if all(hurt[k:])), None)
    if start is None:
        return f"{kind}: at the largest X the liar finishes no later than when it tells the truth"
    return f"{kind}: the liar finishes later than when it tells the truth from X = {rows[start]['X']:g} % on"


def _notes(setting: Setting) -> list[str]:
    lines = [
        f"{setting.apps} apps of {setting.work:g} GPU-minutes that can use {setting.demand} GPUs each;",
        f"  slowdown across machines {setting.across:g}, so T_id = {float(setting.ideal):g} min (eqn 1)",
        f"f = {setting.fairness:g}: {setting.bidders} of {setting.apps} apps bid; rounding {setting.rounding}",
        f"leases of {setting.lease:g} min end together: every round is about all GPUs",
        "keeps: mean share c of the GPUs won that an app keeps, over the auctions that it bids in",
        "the paper, which gives neither demand nor work: no loss for the liar up to X = 34 %, a sudden one above it,",
        "  and truthful apps that do better",
    ]
    dense = 1 - setting.across * max(MACHINES) / setting.demand
    if dense > 0:
        lines.append(
            f"dense: above X = 1 - S 8 / demand = {100 * dense:g} % eight GPUs together look better than all apart"
        )
    return lines


def completion_times(
    kind: Kind, lie: float, setting: Setting, seed: int = 0, hold: Auctioneer | None = None
) -> dict[str, float]:
    """Return when the liar and the truthful apps finish, rounds of auctions run to completion.

    Parameters
    ----------
    kind : what the liar misreports
    lie : X in percent
    setting : the apps and the rounds
    seed : of the liar's place among the apps and of the gifts
    hold : holds an auction with a seed; None for method `themis`

    Returns
    -------
    dict
        `liar` and `truthful` (mean), minutes; `liar_share` and `truthful_share`, mean c of auctions bid in.
    """
    generator = np.random.default_rng(seed)
    liar = int(generator.integers(setting.apps))
    run = _Run(kind, lie, setting, liar, _themis(setting) if hold is None else hold)
    for _ in range(_LONGEST):
        if not run.active():
            break
        run.round(int(generator.integers(2**31)))
    else:
        raise InputError(
            f"lease: {setting.lease:g} min, a run takes more than {_LONGEST:,} rounds; a longer one is needed"
        )
    others = [run.finished[i] for i in range(setting.apps) if i != liar]
    told = [share for i in range(setting.apps) if i != liar for share in run.shares[i]]
    return {
        "liar": run.finished[liar],
        "truthful": _mean(others) if others else run.finished[liar],
        "liar_share": _mean(run.shares[liar]) if run.shares[liar] else 1.0,
        "truthful_share": _mean(told) if told else 1.0,
    }


def _themis(setting: Setting) -> Auctioneer:
    return lambda auction, seed: solve(auction, f"themis?rounding={setting.rounding}", seed=seed).solution


class _Run:
    """The apps in the course of the rounds; times in minutes, work in GPU-minutes."""

    def __init__(self, kind: Kind, lie: float, setting: Setting, liar: int, hold: Auctioneer) -> None:
        self.setting, self.liar, self.hold = setting, liar, hold
        true = Fraction(1), Fraction(str(setting.across))
        self.true = true
        # a dense set cannot be reported to take no time at all
        part = Fraction(str(min(lie, 99) if kind == "dense" else lie)) / 100
        self.told = (true[0] * (1 - part), true[1]) if kind == "dense" else (true[0], true[1] * (1 + part))
        self.time = 0.0
        self.left = [float(setting.work)] * setting.apps
        self.speed = [0.0] * setting.apps
        """GPU-minutes a minute, as the app reports them, of the last lease."""
        self.finished = [math.inf] * setting.apps
        self.shares: list[list[float]] = [[] for _ in range(setting.apps)]

    def active(self) -> list[int]:
        """Return the apps that have work left."""
        return [i for i, work in enumerate(self.left) if work > 0]

    def round(self, seed: int) -> None:
        """Hold one auction of all GPUs among the apps of greatest rho, and let its outcome run for a lease."""
        active = self.active()
        order = sorted(active, key=lambda i: (-self._rho(i), i))
        bidders = sorted(order[: self.setting.bidders_of(len(active))])
        others = [i for i in active if i not in bidders]
        outcome = self.hold(self._auction(bidders, others), seed)
        for i, (low, _) in zip(bidders, outcome.payments, strict=True):
            self.shares[i].append(float(low))
        given = dict(zip([*bidders, *others], [*outcome.bundles, *outcome.gifts], strict=True))
        for i in active:
            self._work(i, given[i])
        self.time += self.setting.lease

    def _rho(self, app: int) -> float:
        if not self.speed[app]:
            return math.inf
        return (self.time + self.left[app] / self.speed[app]) / float(self.setting.ideal)

    def _slowdown(self, app: int) -> tuple[Fraction, Fraction]:
        return self.told if app == self.liar else self.true

    def _auction(self, bidders: list[int], others: list[int]) -> AuctionInstance:
        ideal = self.setting.ideal
        elapsed = Fraction(round(self.time * _TICKS), _TICKS) / ideal
        bids = []
        for i in bidders:
            dense, spread = self._slowdown(i)
            work = Fraction(max(1, round(self.left[i] * _TICKS)), _TICKS) / ideal
            bids.append(running_bid(f"app{i}", elapsed, work, self.setting.demand, (dense, spread, spread)))
        return AuctionInstance(
            name="truth-telling",
            racks=("rack0",),
            machines=tuple(f"m{m}" for m in range(len(MACHINES))),
            machine_rack=np.zeros(len(MACHINES), dtype=np.int64),
            offered=np.array(MACHINES),
            apps=tuple(bids),
            bystanders=tuple(Bystander(label=f"app{i}", demand=self.setting.demand) for i in others),
        )

    def _work(self, app: int, bundle: tuple[tuple[int, int], ...]) -> None:
        """Run an app on a bundle for a lease; it idles GPUs where fewer on one machine are faster."""
        speed = _speed(bundle, self.setting.demand, self.true)
        self.speed[app] = _speed(bundle, self.setting.demand, self._slowdown(app))
        done = speed * self.setting.lease
        if done >= self.left[app]:
            self.finished[app] = self.time + self.left[app] / speed
            self.left[app] = 0.0
        else:
            self.left[app] -= done


def _speed(bundle: tuple[tuple[int, int], ...], demand: int, slowdown: tuple[Fraction, Fraction]) -> float:
    counts = [count for _, count in bundle]
    if not counts:
        return 0.0
    return float(max(min(max(counts), demand) / slowdown[0], min(sum(counts), demand) / slowdown[1]))


def picture(table: ExperimentTable) -> Figure:
    """Return completion times of the liar and of the truthful apps over X, one panel for each lie.

    Parameters
    ----------
    table : of `themis_truth_telling`

    Returns
    -------
    Figure
    """
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(row["lie"] for row in table.rows))
    titles = {"spread": "slowdown across machines over-reported", "dense": "slowdown in one machine under-reported"}
    figure = Figure(figsize=(4.4 * len(kinds), 3.6), layout="constrained")
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False, sharey=True)[0], kinds, strict=True):
        rows = [row for row in table.rows if row["lie"] == kind]
        lies = [row["X"] for row in rows]
        axes.plot(lies, [row["liar"] for row in rows], marker="o", label="lying app")
        axes.plot(lies, [row["truthful"] for row in rows], marker="s", label="truthful apps (mean)")
        axes.set_xlabel("X (%)")
        axes.set_title(titles[kind], fontsize="medium")
    figure.axes[0].set_ylabel("completion time (min)")
    figure.axes[0].legend(frameon=False)
    return figure
