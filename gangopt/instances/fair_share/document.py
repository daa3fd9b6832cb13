"""Files of the problem `fair_share`: GPUs with apps that value them, and the GPUs of each app."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import Amount, InstanceDocument, Label, Part, Positive, SolutionDocument
from gangopt.base.errors import InputError, shown
from gangopt.instances.auction.bids import LEVELS, LONGEST_TEXT, AppBid, written
from gangopt.instances.fair_share.instance import FairShareInstance
from gangopt.instances.fair_share.solution import FairShareSolution

__all__ = [
    "FairShareDocument",
    "FairShareSolutionDocument",
    "GivenDocument",
    "HeldDocument",
    "OfferedMachineDocument",
    "PooledResourceDocument",
    "ValuedAppDocument",
    "ValuedBundleDocument",
]

Value = Amount | Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
"""V = 1 / rho: a number, read by its binary digits, or an exact rational as text, e.g. 10/11."""


class ValuedBundleDocument(Part):
    """One row of an app's table."""

    gpus: Annotated[int, Field(ge=1)] = Field(description="GPUs given")
    level: Literal["machine", "rack", "cluster"] = Field(description="widest level that they may span")
    value: Value = Field(description="1 / rho with them: a number, or an exact rational as text, e.g. 10/11")


class HeldDocument(Part):
    """GPUs that an app already holds."""

    machine: Label = Field(description="label of the machine")
    gpus: Annotated[int, Field(ge=1)] = Field(description="GPUs held there")


class ValuedAppDocument(Part):
    """An app and its values of GPUs."""

    label: Label = Field(description="unique name of the app")
    rows: list[ValuedBundleDocument] = Field(min_length=1, description="values by count and level")
    value_at_zero: Value = Field(default=0.0, description="1 / rho without any GPUs received")
    held: list[HeldDocument] = Field(default=[], description="GPUs that the app already holds and keeps")
    demands: list[Amount] = Field(default=[], description="demand of each GPU for each resource, in the file's order")


class OfferedMachineDocument(Part):
    """One machine and its GPUs on offer."""

    label: Label = Field(description="unique name of the machine")
    rack: Label = Field(description="label of its rack")
    gpus: Annotated[int, Field(ge=0)] = Field(description="GPUs to be divided")


class PooledResourceDocument(Part):
    """A further resource of the whole cluster, of which each GPU takes some."""

    label: Label = Field(description="name of the resource, e.g. cpu")
    capacity: Positive = Field(description="free amount in the whole cluster, in the resource's unit")


class FairShareDocument(InstanceDocument):
    """GPUs on machines in racks, and the apps among which they are divided."""

    noun: Literal["fair_share"]
    racks: list[Label] = Field(min_length=1, description="names of the racks")
    machines: list[OfferedMachineDocument] = Field(min_length=1, description="machines with GPUs to be divided")
    apps: list[ValuedAppDocument] = Field(min_length=1, description="apps and their values; ties go to the earlier one")
    resources: list[PooledResourceDocument] = Field(default=[], description="further resources of the whole cluster")

    def to_instance(self) -> FairShareInstance:
        """Return the instance that the file describes."""
        racks = {label: r for r, label in enumerate(self.racks)}
        for m, item in enumerate(self.machines):
            if item.rack not in racks:
                raise InputError(f"machines[{m}].rack: unknown rack {shown(item.rack)}")
        index = {item.label: m for m, item in enumerate(self.machines)}
        resources = len(self.resources)
        for i, app in enumerate(self.apps):
            if len(app.demands) != resources:
                given = f"for each of the {resources} resources (got {len(app.demands)})"
                raise InputError(f"apps[{i}].demands must have one number {given}")
            for h, held in enumerate(app.held):
                if held.machine not in index:
                    raise InputError(f"apps[{i}].held[{h}].machine: unknown machine {shown(held.machine)}")
        return FairShareInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            racks=tuple(self.racks),
            machines=tuple(item.label for item in self.machines),
            machine_rack=np.array([racks[item.rack] for item in self.machines]),
            offered=np.array([item.gpus for item in self.machines]),
            apps=tuple(_bid(app, index) for app in self.apps),
            resources=tuple(item.label for item in self.resources),
            capacities=np.array([item.capacity for item in self.resources]),
            demands=np.array([app.demands for app in self.apps]).reshape(len(self.apps), resources),
        )

    @classmethod
    def from_instance(cls, instance: FairShareInstance) -> Self:
        """Return the file content of an instance."""
        assert instance.capacities is not None
        assert instance.demands is not None
        columns = zip(instance.machines, instance.machine_rack.tolist(), instance.offered.tolist(), strict=True)
        pooled = zip(instance.resources, instance.capacities.tolist(), strict=True)
        return cls(
            noun="fair_share",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            racks=list(instance.racks),
            machines=[
                OfferedMachineDocument(label=label, rack=instance.racks[rack], gpus=gpus)
                for label, rack, gpus in columns
            ],
            apps=[
                ValuedAppDocument(
                    label=app.label,
                    rows=[
                        ValuedBundleDocument(gpus=k, level=LEVELS[level], value=written(value))  # type: ignore[arg-type]
                        for k, level, value in zip(app.gpus, app.levels, app.values, strict=True)
                    ],
                    value_at_zero=written(app.value_at_zero),
                    held=[HeldDocument(machine=instance.machines[m], gpus=count) for m, count in app.held],
                    demands=demands,
                )
                for app, demands in zip(instance.apps, instance.demands.tolist(), strict=True)
            ],
            resources=[PooledResourceDocument(label=name, capacity=amount) for name, amount in pooled],
        )


def _bid(app: ValuedAppDocument, machines: dict[str, int]) -> AppBid:
    return AppBid.from_rows(
        app.label,
        [(row.gpus, row.level, row.value) for row in app.rows],
        value_at_zero=app.value_at_zero,
        held=tuple((machines[item.machine], item.gpus) for item in app.held),
    )


class GivenDocument(Part):
    """GPUs that an app receives on one machine."""

    machine: Annotated[int, Field(ge=0)] = Field(description="index of the machine, from 0")
    gpus: Annotated[int, Field(ge=1)] = Field(description="GPUs received there")


class FairShareSolutionDocument(SolutionDocument):
    """The GPUs of every app, in the instance's order."""

    bundles: list[list[GivenDocument]] = Field(description="GPUs that each app receives; empty for none")

    def to_solution(self) -> FairShareSolution:
        """Return the solution that the file describes."""
        return FairShareSolution(tuple(tuple((item.machine, item.gpus) for item in bundle) for bundle in self.bundles))

    @classmethod
    def from_solution(cls, solution: FairShareSolution) -> Self:
        """Return the file content of a solution."""
        return cls(bundles=[[GivenDocument(machine=m, gpus=k) for m, k in bundle] for bundle in solution.bundles])
