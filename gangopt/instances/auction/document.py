"""Files of the problem `auction`: GPUs on offer with the bids for them, and the outcome."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import InstanceDocument, Label, Part, SolutionDocument
from gangopt.base.errors import InputError, shown
from gangopt.instances.auction.bids import LEVELS, LONGEST_TEXT, MAX_GPUS, AppBid, Bundle, Bystander, written
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["AuctionDocument", "AuctionSolutionDocument"]

Value = float | Annotated[str, Field(max_length=LONGEST_TEXT)]
"""A number, or an exact rational as text, e.g. `10/11`."""

Gpus = Annotated[int, Field(ge=1, le=MAX_GPUS)]
GpusOrNone = Annotated[int, Field(ge=0, le=MAX_GPUS)]

_DIGITS = 4000
"""Most decimal digits that are written: Python refuses to read longer numbers."""


class MachineDocument(Part):
    """One machine."""

    label: Label = Field(description="unique name of the machine")
    rack: Label = Field(description="name of its rack")
    offered: GpusOrNone = Field(description="GPUs on offer")


class HeldDocument(Part):
    """GPUs that an app already holds."""

    machine: Label = Field(description="name of the machine")
    gpus: Gpus = Field(description="number of GPUs")


class RowDocument(Part):
    """One row of a bid table: at least this many GPUs within one place of this level."""

    gpus: Gpus = Field(description="number of GPUs, not counting those held")
    level: Literal["machine", "rack", "cluster"] = Field(description="level of the place that contains all of them")
    value: Value = Field(description="V = 1 / rho: a number, or an exact rational as text, e.g. 10/11")


class AppDocument(Part):
    """The bid of one app."""

    label: Label = Field(description="unique name of the app")
    value_at_zero: Value = Field(
        default=0.0, description="V without any of the GPUs on offer; 0 if the app would never finish"
    )
    held: list[HeldDocument] = Field(
        default=[], description="GPUs already held; a row counts only in places that contain them"
    )
    bids: list[RowDocument] = Field(min_length=1, description="rows of the bid table")


class BystanderDocument(Part):
    """An app that did not bid."""

    label: Label = Field(description="unique name of the app")
    demand: GpusOrNone = Field(description="most GPUs that it can use")


class AuctionDocument(InstanceDocument):
    """GPUs on offer, and the bids for them."""

    noun: Literal["auction"]
    machines: list[MachineDocument] = Field(
        min_length=1, description="machines; racks are numbered in order of appearance"
    )
    apps: list[AppDocument] = Field(min_length=1, description="apps that bid; ties go to the first")
    bystanders: list[BystanderDocument] = Field(default=[], description="apps that did not bid")

    def to_instance(self) -> AuctionInstance:
        """Return the instance that the file describes."""
        racks = tuple(dict.fromkeys(item.rack for item in self.machines))
        index = {item.label: m for m, item in enumerate(self.machines)}
        return AuctionInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            racks=racks,
            machines=tuple(item.label for item in self.machines),
            machine_rack=np.array([racks.index(item.rack) for item in self.machines], dtype=np.int64),
            offered=np.array([item.offered for item in self.machines], dtype=np.int64),
            apps=tuple(_bid(i, item, index) for i, item in enumerate(self.apps)),
            bystanders=tuple(Bystander(label=item.label, demand=item.demand) for item in self.bystanders),
        )

    @classmethod
    def from_instance(cls, instance: AuctionInstance) -> Self:
        """Return the file content of an instance."""
        return cls(
            noun="auction",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            machines=[
                MachineDocument(label=label, rack=instance.racks[rack], offered=offered)
                for label, rack, offered in zip(
                    instance.machines, instance.machine_rack.tolist(), instance.offered.tolist(), strict=True
                )
            ],
            apps=[_app(bid, instance.machines) for bid in instance.apps],
            bystanders=[BystanderDocument(label=item.label, demand=item.demand) for item in instance.bystanders],
        )


def _bid(index: int, item: AppDocument, machines: dict[str, int]) -> AppBid:
    held = []
    for h, part in enumerate(item.held):
        if part.machine not in machines:
            raise InputError(f"apps[{index}].held[{h}].machine: unknown machine {shown(part.machine)}")
        held.append((machines[part.machine], part.gpus))
    rows = [(row.gpus, row.level, row.value) for row in item.bids]
    return AppBid.from_rows(item.label, rows, item.value_at_zero, tuple(sorted(held)))


def _app(bid: AppBid, machines: tuple[str, ...]) -> AppDocument:
    rows = zip(bid.gpus, bid.levels, bid.values, strict=True)
    return AppDocument(
        label=bid.label,
        value_at_zero=written(bid.value_at_zero),
        held=[HeldDocument(machine=machines[machine], gpus=count) for machine, count in bid.held],
        bids=[RowDocument(gpus=k, level=LEVELS[level], value=written(value)) for k, level, value in rows],  # type: ignore[arg-type]
    )


class ShareDocument(Part):
    """Bounds on the share that an app keeps, each an exact rational as text."""

    low: str = Field(description="lower bound on c, e.g. 10/11; long numbers in hexadecimal digits, e.g. 0xa/0xb")
    high: str = Field(description="upper bound on c; equal to the lower bound if the payment is proven")


class AuctionSolutionDocument(SolutionDocument):
    """Outcome of an auction; GPUs are lists of [machine from 0, number of GPUs]."""

    bundles: list[list[list[int]]] = Field(description="GPUs that each app ends with")
    payments: list[ShareDocument] = Field(default=[], description="share that each app keeps; empty without payments")
    won: list[list[list[int]]] = Field(
        default=[], description="GPUs that each app won before its payment; empty if these are the bundles"
    )
    gifts: list[list[list[int]]] = Field(default=[], description="GPUs that each bystander receives; empty if none")

    def to_solution(self) -> AuctionSolution:
        """Return the solution that the file describes."""
        payments = tuple(
            (_rational(f"payments[{k}].low", item.low), _rational(f"payments[{k}].high", item.high))
            for k, item in enumerate(self.payments)
        )
        bundles, won, gifts = (_tuples(parts) for parts in (self.bundles, self.won, self.gifts))
        return AuctionSolution(bundles, payments, won, gifts)

    @classmethod
    def from_solution(cls, solution: AuctionSolution) -> Self:
        """Return the file content of a solution."""
        return cls(
            bundles=_lists(solution.bundles),
            payments=[ShareDocument(low=_text(low), high=_text(high)) for low, high in solution.payments],
            won=_lists(solution.won),
            gifts=_lists(solution.gifts),
        )


def _lists(bundles: tuple[Bundle, ...]) -> list[list[list[int]]]:
    return [[list(part) for part in bundle] for bundle in bundles]


def _tuples(bundles: list[list[list[int]]]) -> tuple[Bundle, ...]:
    return tuple(tuple(tuple(part) for part in bundle) for bundle in bundles)  # type: ignore[misc]  # checked there


def _text(value: Fraction) -> str:
    long = max(value.numerator, value.denominator).bit_length() > 3 * _DIGITS
    return f"{value.numerator:#x}/{value.denominator:#x}" if long else str(value)


def _rational(field: str, text: str) -> Fraction:
    try:
        top, _, bottom = text.partition("/")
        return Fraction(int(top, 0), int(bottom or "1", 0))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{field} must be a rational such as 10/11 (got {shown(text)})") from None
