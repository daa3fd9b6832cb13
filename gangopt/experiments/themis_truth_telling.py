"""Gain of lying in THEMIS's auction: one of several equal apps misreports its slowdown in every round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from gangopt.base.arguments import unknown
from gangopt.base.checks import integer, number
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
"""Values of X, percent."""

MACHINES = (8, *(2,) * 28)
"""GPUs per machine of the paper's set-up, 64 in total; here in one rack."""

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
    """Apps and settings of the rounds.

    Attributes
    ----------
    apps : int
        Number of equal apps, which all arrive at time 0.
    demand : int
        Maximum number of GPUs of an app.
    work : float
        Work of an app, in GPU-minutes.
    across : float
        True slowdown across machines (1 within a machine).
    fairness : float
        Fairness knob f: the share 1 - f of apps with the largest rho bids, at least one app.
    lease : float
        Length of a lease, in minutes.
    rounding : str
        Rounding of shares to GPUs: `floor`, `value` or `random`. See method `themis` of problem `auction`.
    """

    apps: int = 8
    demand: int = 16
    work: float = 960.0
    across: float = 1.3
    fairness: float = 0.8
    lease: float = 10.0
    rounding: str = "floor"

    def __post_init__(self) -> None:
        for field in ("apps", "demand"):
            integer(field, getattr(self, field), 1, 64)
        for field in ("work", "lease"):
            number(field, getattr(self, field), high=1e6, above=0)
        if self.rounding not in ROUNDINGS:
            raise unknown("rounding", self.rounding, list(ROUNDINGS))
        number("across", self.across, 1, 100)
        number("fairness", self.fairness, 0, 1)

    @property
    def ideal(self) -> Fraction:
        """T_id of an app, minutes: its running time on all GPUs that it can use, times the number of apps (eqn 1)."""
        return Fraction(str(self.work)) / min(sum(MACHINES), self.demand) * self.apps

    def cluster(self) -> Cluster:
        """Return the cluster of the paper's set-up."""
        return Cluster.from_groups([MachineGroup(1, 8, name="large"), MachineGroup(28, 2, name="small")])

    def true_slowdown(self) -> Slowdown:
        """Return the true slowdown of every app."""
        return Slowdown(rack=self.across, cluster=self.across)

    def told_slowdown(self, kind: Kind, lie: float) -> Slowdown:
        """Return the slowdown that the liar reports; `dense` understates the time at most by a factor of 100."""
        if kind == "dense":
            dense = 1 - min(lie, 99.0) / 100
            return Slowdown(slot=dense, machine=dense, rack=self.across, cluster=self.across)
        spread = self.across * (1 + lie / 100)
        return Slowdown(rack=spread, cluster=spread)

    @property
    def bidders(self) -> int:
        """Number of apps that bid in a round of all apps."""
        return max(1, math.ceil((1 - Fraction(str(self.fairness))) * self.apps))


def themis_truth_telling(
    lies: Sequence[float] = LIES,
    kinds: Sequence[str] = KINDS,
    setting: Setting | None = None,
    *,
    seeds: int = 5,
) -> ExperimentTable:
    """Run rounds to completion while one of the apps misreports its slowdown by X % in every bid.

    Parameters
    ----------
    lies : sequence of float, optional
        Values of X, in percent from 0 to 100; 0 is always included.
    kinds : sequence of str, optional
        Misreported slowdown: `spread` is X % too high across machines, `dense` is X % too low within a machine.
    setting : Setting or None, optional
        Apps and settings of the rounds (default: those of `Setting`).
    seeds : int, optional
        Number of runs to average. The liar's position among the apps and the gifts of leftover GPUs are random.

    Raises
    ------
    InputError
        If a lie, a kind or the number of seeds is out of range.

    References
    ----------
    THEMIS (NSDI'20), section 6.4 of the paper and figure 18.
    """
    setting = Setting() if setting is None else setting
    for value in lies:
        number("X", value, 0, 100, "%")
    for kind in kinds:
        if kind not in KINDS:
            raise unknown("lie", kind, list(KINDS))
    integer("seeds", seeds, 1, 1000)
    rows: list[dict[str, Any]] = []
    notes = [*_notes(setting)]
    for kind in KINDS:
        if kind in kinds:
            found = _rows(kind, sorted({0, *lies}), setting, seeds)
            notes.append(_verdict(kind, found))
            rows += found
    return ExperimentTable(
        "themis-truth-telling",
        f"One of {setting.apps} equal apps misreports its slowdown: one 8-GPU and 28 2-GPU machines",
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
    """Return a note with the X from which the liar always finishes later than an honest app."""
    hurt = [row["liar, to X = 0"] > 1e-6 for row in rows]
    start = next((k for k in range(len(rows)) if all(hurt[k:])), None)
    if start is None:
        return f"{kind}: at the largest X the liar finishes no later than with a true report"
    return f"{kind}: from X = {rows[start]['X']:g} % the liar finishes later than with a true report"


def _notes(setting: Setting) -> list[str]:
    lines = [
        f"{setting.apps} apps of {setting.work:g} GPU-minutes, at most {setting.demand} GPUs each;",
        f"  slowdown across machines {setting.across:g}; initially T_id = {float(setting.ideal):g} min (eqn 1)",
        f"f = {setting.fairness:g}: {setting.bidders} of {setting.apps} apps bid; rounding {setting.rounding}",
        f"leases of {setting.lease:g} min; GPUs of an app that ends are offered again at once",
        "keeps: mean share c of the GPUs won that an app keeps, over the auctions in which it bids;",
        "  at 100 % a loss is not a payment: the liar gets the GPUs that its bid prefers",
        "paper (demand and work not published): no loss for the liar up to X = 34 %, a sudden loss above it,",
        "  and a gain for truthful apps",
    ]
    dense = 1 - setting.across * max(MACHINES) / setting.demand
    if dense > 0:
        lines.append(
            f"dense: above X = 1 - S 8 / demand = {100 * dense:g} % the bid prefers eight GPUs together to all apart"
        )
    return lines


def completion_times(kind: Kind, lie: float, setting: Setting, seed: int = 0) -> dict[str, float]:
    """Return the completion times of the liar and of the truthful apps.

    Parameters
    ----------
    kind : Kind
        Slowdown that the liar misreports.
    lie : float
        X in percent.
    setting : Setting
        Apps and settings of the rounds.
    seed : int, optional
        Random seed of the liar's position among the apps and of the gifts.

    Returns
    -------
    dict
        Completion times `liar` and `truthful` (mean) in minutes; mean kept shares `liar_share` and `truthful_share`
        over the auctions in which they bid.
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
    """Plot completion times of the liar and of the truthful apps over X, one panel per kind of lie.

    Parameters
    ----------
    table : ExperimentTable
        Result of `themis_truth_telling`.
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
