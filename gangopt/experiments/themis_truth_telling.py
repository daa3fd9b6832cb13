"""Whether lying pays in THEMIS's auction: equal apps, one of which misreports its slowdown in every round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.errors import InputError
from gangopt.reporting.experiment import ExperimentTable
from gangopt.solvers.auction.rounding import Rounding
from gangopt.solvers.themis.rounds import RoundSettings, run_rounds
from gangopt.solvers.themis.rounds_apps import SingleJobApp
from gangopt.topology import Cluster, MachineGroup, Slowdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KINDS", "LIES", "Setting", "completion_times", "picture", "themis_truth_telling"]

Kind = Literal["spread", "dense"]

KINDS: tuple[Kind, ...] = ("spread", "dense")
LIES = (*range(0, 31, 10), 34, 35, 36, *range(40, 101, 10))
"""X in percent."""

MACHINES = (8, *(2,) * 28)
"""GPUs of each machine of the paper's set-up, 64 in all; here in one rack."""

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


@dataclass(frozen=True)
class Setting:
    """The apps and the rounds.

    Attributes
    ----------
    apps : int
        Number of equal apps; all arrive at time 0.
    demand : int
        Most GPUs that an app can use.
    work : float
        Serial time of an app, GPU-minutes.
    across : float
        True slowdown across machines; inside one it is 1.
    fairness : float
        F; the 1 - f of the apps with the greatest rho bid, at least one.
    lease : float
        Minutes for which a round's outcome holds.
    rounding : str
        `floor`, `value` or `random`: how shares become whole GPUs, see method `themis` of `auction`.
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

    def cluster(self) -> Cluster:
        """Return the machines."""
        return Cluster.from_groups([MachineGroup(1, 8, name="large"), MachineGroup(28, 2, name="small")])

    def true_slowdown(self) -> Slowdown:
        """Return what every app knows of itself."""
        return Slowdown(rack=self.across, cluster=self.across)

    def told_slowdown(self, kind: Kind, lie: float) -> Slowdown:
        """Return what the liar reports; no set can be said to take less than a hundredth of the time."""
        if kind == "dense":
            dense = 1 - min(lie, 99.0) / 100
            return Slowdown(slot=dense, machine=dense, rack=self.across, cluster=self.across)
        spread = self.across * (1 + lie / 100)
        return Slowdown(rack=spread, cluster=spread)

    @property
    def bidders(self) -> int:
        """Apps that bid in a round of all apps."""
        return max(1, math.ceil((1 - Fraction(str(self.fairness))) * self.apps))


def themis_truth_telling(
    lies: Sequence[float] = LIES,
    kinds: Sequence[str] = KINDS,
    setting: Setting | None = None,
    *,
    seeds: int = 5,
) -> ExperimentTable:
    """Let one of the apps misreport its slowdown by X % in every bid, and run rounds until all have finished.

    Parameters
    ----------
    lies : sequence of float, optional
        X, percents from 0 to 100; 0 is always run.
    kinds : sequence of str, optional
        `spread`: it reports the slowdown across machines X % too high; `dense`: that in one machine X % too low.
    setting : Setting or None, optional
        The apps and the rounds; None for the defaults.
    seeds : int, optional
        Runs that are averaged; the liar's place among the apps and every gift of left-over GPUs are drawn.

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
        f"  slowdown across machines {setting.across:g}, so T_id = {float(setting.ideal):g} min at first (eqn 1)",
        f"f = {setting.fairness:g}: {setting.bidders} of {setting.apps} apps bid; rounding {setting.rounding}",
        f"leases of {setting.lease:g} min; GPUs that an app gives back at its end are offered at once",
        "keeps: mean share c of the GPUs won that an app keeps, over the auctions that it bids in;",
        "  where that is 100 %, a loss is no payment: the liar is given what its bid prefers",
        "the paper, which gives neither demand nor work: no loss for the liar up to X = 34 %, a sudden one above it,",
        "  and truthful apps that do better",
    ]
    dense = 1 - setting.across * max(MACHINES) / setting.demand
    if dense > 0:
        lines.append(
            f"dense: above X = 1 - S 8 / demand = {100 * dense:g} % eight GPUs together look better than all apart"
        )
    return lines


def completion_times(kind: Kind, lie: float, setting: Setting, seed: int = 0) -> dict[str, float]:
    """Return when the liar and the truthful apps finish, rounds of auctions run to completion.

    Parameters
    ----------
    kind : Kind
        What the liar misreports.
    lie : float
        X in percent.
    setting : Setting
        The apps and the rounds.
    seed : int, optional
        Of the liar's place among the apps and of the gifts.

    Returns
    -------
    dict
        `liar` and `truthful` (mean), minutes; `liar_share` and `truthful_share`, mean c of auctions bid in.
    """
    liar = f"app{int(np.random.default_rng(seed).integers(setting.apps))}"
    labels = [f"app{i}" for i in range(setting.apps)]
    apps = [
        SingleJobApp(
            label=label,
            arrival=0.0,
            work=60.0 * setting.work,
            max_gpus=setting.demand,
            slowdown=setting.true_slowdown(),
            told_slowdown=setting.told_slowdown(kind, lie) if label == liar else None,
        )
        for label in labels
    ]
    settings = RoundSettings(
        fairness=setting.fairness, lease=60.0 * setting.lease, rounding=cast("Rounding", setting.rounding)
    )
    run = run_rounds(apps, setting.cluster(), settings, seed=seed)
    shares: dict[str, list[float]] = {label: [] for label in labels}
    for item in run.rounds:
        if item.outcome is not None:
            for label, (low, _) in zip(item.bidders, item.outcome.payments, strict=True):
                shares[label].append(float(low))
    others = [label for label in labels if label != liar] or [liar]
    told = [share for label in others for share in shares[label]]
    return {
        "liar": run.ends[liar] / 60.0,
        "truthful": _mean([run.ends[label] / 60.0 for label in others]),
        "liar_share": _mean(shares[liar]) if shares[liar] else 1.0,
        "truthful_share": _mean(told) if told else 1.0,
    }


def picture(table: ExperimentTable) -> Figure:
    """Return completion times of the liar and of the truthful apps over X, one panel for each lie.

    Parameters
    ----------
    table : ExperimentTable
        Of `themis_truth_telling`.
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
