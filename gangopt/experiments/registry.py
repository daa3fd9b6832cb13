"""The experiments by name; each is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gangopt.base.plugins import resolve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gangopt.reporting.experiment import ExperimentTable

__all__ = ["EXPERIMENTS", "Experiment", "Spelling"]

_HOME = "gangopt.experiments"


@dataclass(frozen=True)
class Spelling:
    """Spelling of an option that differs from the parameter of the function.

    Attributes
    ----------
    name : str
        Name of the option without dashes, empty for that of the parameter.
    per : float
        Option values that make up 1 of the parameter, e.g. 100 for percent.
    help : str
        Help text, empty for the parameter's description in the docstring.
    """

    name: str = ""
    per: float = 1.0
    help: str = ""


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes
    ----------
    name, summary : str
        Name of the command and one line for lists.
    function : str
        `module:attribute` of the function that returns the table; its parameters are the options of the command, and
        its module has `picture`, which plots the table.
    figure : str
        Paper, and the figures or tables of it that the experiment repeats.
    operands : str
        Parameter whose values follow the command without an option, empty for none.
    options : mapping of str to Spelling
        Options that are not spelled like their parameter, by parameter.
    """

    name: str
    summary: str
    function: str
    figure: str
    operands: str = ""
    options: Mapping[str, Spelling] = field(default_factory=dict)

    def load(self) -> Callable[..., ExperimentTable]:
        """Import the function and return it."""
        return resolve(self.function)  # type: ignore[no-any-return]

    def plot(self, table: ExperimentTable) -> Figure:
        """Plot a table of this experiment.

        Parameters
        ----------
        table : ExperimentTable
            Result of the function.
        """
        return resolve(f"{self.function.partition(':')[0]}:picture")(table)  # type: ignore[no-any-return]


_SLOWDOWNS = {
    "across_machines": Spelling("across", help="Slowdown of network-intensive jobs across machines."),
    "across_racks": Spelling(help="Slowdown of network-intensive jobs across racks."),
}

_ALL = (
    Experiment(
        "optimus-ablation",
        "Swap one of Optimus's two decisions at a time.",
        f"{_HOME}.optimus_ablation:optimus_ablation",
        "Optimus (EuroSys 2018), figures 18 and 19",
        operands="instances",
    ),
    Experiment(
        "parameter-balance",
        "Compare step times of MXNet, PAA and the optimum.",
        f"{_HOME}.parameter_balance:parameter_balance",
        "Optimus (EuroSys 2018), figures 20 and 21",
        operands="networks",
        options={"request_seconds": Spelling("request-ms", 1000, "Milliseconds per request of one worker.")},
    ),
    Experiment(
        "prediction-error",
        "Allocate GPUs from wrong steps and speeds.",
        f"{_HOME}.prediction_error:prediction_error",
        "Optimus (EuroSys 2018), figure 15",
        operands="instances",
        options={"errors": Spelling(per=100, help="Relative errors in percent.")},
    ),
    Experiment(
        "themis-truth-telling",
        "Let one of the apps misreport its slowdown.",
        f"{_HOME}.themis_truth_telling:themis_truth_telling",
        "THEMIS (NSDI 2020), figure 18",
    ),
    Experiment(
        "themis-sensitivity",
        "Vary the fairness knob f and the lease.",
        f"{_HOME}.themis_sensitivity:themis_sensitivity",
        "THEMIS (NSDI 2020), figure 19",
    ),
    Experiment(
        "themis-estimation-error",
        "Let agents misestimate work and slowdowns.",
        f"{_HOME}.themis_estimation_error:themis_estimation_error",
        "THEMIS (NSDI 2020), figure 17",
    ),
    Experiment(
        "tiresias-table1",
        "Compare SF, SRTF and SRSF.",
        f"{_HOME}.tiresias_table1:tiresias_table1",
        "Tiresias (NSDI 2019), table 1",
    ),
    Experiment(
        "tiresias-table5",
        "Compare six schedulers, relative to Tiresias-L.",
        f"{_HOME}.tiresias_table5:tiresias_table5",
        "Tiresias (NSDI 2019), table 5",
    ),
    Experiment(
        "tiresias-sensitivity",
        "Vary thresholds, queues and promotion of Tiresias.",
        f"{_HOME}.tiresias_sensitivity:tiresias_sensitivity",
        "Tiresias (NSDI 2019), figures 14 and 15",
    ),
    Experiment(
        "gittins-curve",
        "Plot the Gittins index over attained service.",
        f"{_HOME}.gittins_curve:gittins_curve",
        "Tiresias (NSDI 2019), figure 20",
    ),
    Experiment(
        "optimus-replay",
        "Compare policies under three arrival processes.",
        f"{_HOME}.optimus_replay:optimus_replay",
        "Optimus (EuroSys 2018), figures 11 and 17",
    ),
    Experiment(
        "themis-fairness",
        "Compare policies by finish-time fairness.",
        f"{_HOME}.themis_fairness:themis_fairness",
        "THEMIS (NSDI 2020), figures 9 and 10",
        options=_SLOWDOWNS,
    ),
    Experiment(
        "themis-contention",
        "Compare fairness as the cluster shrinks.",
        f"{_HOME}.themis_contention:themis_contention",
        "THEMIS (NSDI 2020), figure 14",
        options=_SLOWDOWNS,
    ),
    Experiment(
        "themis-network-share",
        "Vary the share of network-intensive apps.",
        f"{_HOME}.themis_network_share:themis_network_share",
        "THEMIS (NSDI 2020), figures 15 and 16",
        options={"shares": Spelling(per=100, help="Network-intensive apps in percent."), **_SLOWDOWNS},
    ),
)

EXPERIMENTS: Mapping[str, Experiment] = {item.name: item for item in _ALL}
"""Every experiment by name."""
