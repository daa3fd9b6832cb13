"""The policies that a replay knows, by name; each is imported when it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangopt.base.arguments import bind, join_name, parameters_of, split_name
from gangopt.base.plugins import Extensible, resolve

if TYPE_CHECKING:
    from gangopt.replays.records import Policy

__all__ = ["Policies", "PolicyRecord", "policies"]

_HOME = "gangopt.replays.policies"


@dataclass(frozen=True)
class PolicyRecord:
    """One policy.

    Attributes
    ----------
    name, summary : str
        For lists.
    target : str
        `module:function` that makes it; its parameters are the arguments in a name, as `tiresias-l?knob=8`.
    needs : tuple of str
        Columns of the workload that every job must have, beside arrival, GPUs and duration.
    machines : bool
        Whether it needs a cluster with machines, not just a number of GPUs.
    elastic : bool
        Whether it changes a job's number of GPUs.
    """

    name: str
    target: str
    summary: str
    needs: tuple[str, ...] = ()
    machines: bool = False
    elastic: bool = False

    def make(self, **options: Any) -> Policy:
        """Return a policy with these options."""
        return resolve(self.target)(**options)  # type: ignore[no-any-return]


class Policies(Extensible[PolicyRecord]):
    """Policies by name: those of this package in a fixed order, then those of entry points."""

    def __init__(self, records: tuple[PolicyRecord, ...]) -> None:
        super().__init__("policy", "gangopt.policies", PolicyRecord, lambda item: item.name, records)

    def make(self, text: str) -> tuple[Policy, PolicyRecord, str]:
        """Return a policy, its record and its canonical name from `name` or `name?option=value`.

        Parameters
        ----------
        text : str
            The policy's name with its options.

        Raises
        ------
        InputError
            If the policy or an option is unknown, or a value is not allowed.
        """
        base, arguments = split_name(text)
        record = self[base]
        options = bind(parameters_of(resolve(record.target)), arguments, text)
        return record.make(**options), record, join_name(base, options)


policies = Policies(
    (
        PolicyRecord(
            "fifo", f"{_HOME}.order:fifo", "first in, first out; the first that does not fit holds up the rest"
        ),
        PolicyRecord("sf", f"{_HOME}.order:smallest_first", "the fewest GPUs first"),
        PolicyRecord("srtf", f"{_HOME}.order:srtf", "the shortest remaining time first; knows the durations"),
        PolicyRecord(
            "srsf", f"{_HOME}.order:srsf", "the shortest remaining time times GPUs first; knows the durations"
        ),
        PolicyRecord(
            "yarn-cs", f"{_HOME}.order:yarn_cs", "YARN's capacity scheduler: FIFO, gangs consolidated or waiting"
        ),
        PolicyRecord(
            "best-effort", f"{_HOME}.order:best_effort", "yarn-cs in which jobs that fit pass those that do not"
        ),
        PolicyRecord("time-sharing", f"{_HOME}.timesharing:time_sharing", "Gandiva's turns of a quantum each"),
        PolicyRecord("2d-las", f"{_HOME}.service:las", "the least attained service first, looked at in intervals"),
        PolicyRecord(
            "2d-gittins", f"{_HOME}.service:gittins", "the greatest Gittins index first, as printed in Tiresias"
        ),
        PolicyRecord("tiresias-l", f"{_HOME}.tiresias:tiresias_l", "Tiresias: queues by attained service, FIFO within"),
        PolicyRecord(
            "tiresias-g", f"{_HOME}.tiresias:tiresias_g", "Tiresias: queues by attained service, Gittins within"
        ),
        PolicyRecord(
            "optimus", f"{_HOME}.elastic:optimus", "Optimus: tasks by marginal gain, once an interval", elastic=True
        ),
        PolicyRecord("drf", f"{_HOME}.elastic:drf", "dominant-resource fairness by progressive filling", elastic=True),
        PolicyRecord("tetris", f"{_HOME}.elastic:tetris", "Tetris: packing and least remaining time", elastic=True),
        PolicyRecord(
            "exact", f"{_HOME}.elastic:exact", "each interval's allocation solved to proven optimality", elastic=True
        ),
        PolicyRecord("slaq", f"{_HOME}.slaq:slaq", "SLAQ: GPUs to the job whose loss falls most", elastic=True),
        PolicyRecord(
            "themis",
            f"{_HOME}.themis:themis",
            "THEMIS: auctions among the apps furthest from finish-time fairness, with leases",
            machines=True,
            elastic=True,
        ),
    )
)
"""Every policy by name."""
