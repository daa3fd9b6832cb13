"""The policies by name; each is imported when it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gangopt.base.arguments import bind, join_name, parameters_of, split_name
from gangopt.base.plugins import Extensible, resolve

if TYPE_CHECKING:
    from gangopt.replays.records import Policy

__all__ = ["Policies", "PolicyRecord", "policies"]


@dataclass(frozen=True)
class PolicyRecord:
    """One policy.

    Attributes
    ----------
    name, summary : str
        Name and one line for lists.
    target : str
        `module:function` that returns the policy; its parameters are the options in a name, e.g. `tiresias-l?knob=8`.
    needs : tuple of str
        Columns that every job of the workload must have in addition to arrival, GPUs and duration.
    machines : bool
        Whether the policy requires a cluster with machines instead of a number of GPUs.
    elastic : bool
        Whether the policy changes the number of GPUs of a job.
    """

    name: str
    target: str
    summary: str
    needs: tuple[str, ...] = ()
    machines: bool = False
    elastic: bool = False

    def make(self, **options: Any) -> Policy:
        """Create a policy with these options."""
        return resolve(self.target)(**options)  # type: ignore[no-any-return]


class Policies(Extensible[PolicyRecord]):
    """Policies by name: first those of this package in a fixed order, then those of entry points."""

    def __init__(self, records: tuple[PolicyRecord, ...]) -> None:
        super().__init__("policy", "gangopt.policies", PolicyRecord, lambda item: item.name, records)

    def make(self, text: str) -> tuple[Policy, PolicyRecord, str]:
        """Create a policy from `name` or `name?option=value`; return it with its record and canonical name.

        Parameters
        ----------
        text : str
            Name of the policy with its options.

        Raises
        ------
        InputError
            If the policy or an option is unknown, or a value is not allowed.
        """
        base, arguments = split_name(text)
        record = self[base]
        options = bind(parameters_of(resolve(record.target)), arguments, text)
        return record.make(**options), record, join_name(base, options)


def _own(name: str, target: str, summary: str, **traits: Any) -> PolicyRecord:
    """Return the record of a policy of this package."""
    return PolicyRecord(name, f"gangopt.replays.policies.{target}", summary, **traits)


policies = Policies(
    (
        _own("fifo", "order:fifo", "first in, first out, with head-of-line blocking"),
        _own("sf", "order:smallest_first", "smallest first: fewest GPUs"),
        _own("srtf", "order:srtf", "shortest remaining time first (requires durations)"),
        _own("srsf", "order:srsf", "shortest remaining service (time x GPUs) first (requires durations)"),
        _own(
            "yarn-cs",
            "order:yarn_cs",
            "YARN capacity scheduler: FIFO with head-of-line blocking, consolidated gangs",
        ),
        _own("best-effort", "order:best_effort", "YARN capacity scheduler without head-of-line blocking"),
        _own(
            "time-sharing",
            "timesharing:time_sharing",
            "Gandiva: round-robin time slicing with a fixed quantum",
        ),
        _own("2d-las", "service:las", "least attained service first, re-evaluated every interval"),
        _own("2d-gittins", "service:gittins", "largest Gittins index first, as printed in Tiresias"),
        _own("tiresias-l", "tiresias:tiresias_l", "Tiresias-L: queues by attained service, FIFO within each"),
        _own(
            "tiresias-g",
            "tiresias:tiresias_g",
            "Tiresias-G: queues by attained service, Gittins index within each",
        ),
        _own(
            "optimus",
            "elastic:optimus",
            "Optimus: workers and servers by marginal gain, every interval",
            elastic=True,
        ),
        _own("drf", "elastic:drf", "dominant-resource fairness by progressive filling", elastic=True),
        _own("tetris", "elastic:tetris", "Tetris: packing score and shortest remaining time", elastic=True),
        _own("exact", "elastic:exact", "optimal allocation of every interval (proven)", elastic=True),
        _own("slaq", "slaq:slaq", "SLAQ: each GPU to the job with the largest decrease in loss", elastic=True),
        _own(
            "themis",
            "themis:themis",
            "THEMIS: leases auctioned among the apps with the worst finish-time fairness",
            machines=True,
            elastic=True,
        ),
    )
)
"""Every policy by name."""
