"""Files of the problem `network_placement`: machines with a job, and a placement of it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import Amount, InstanceDocument, Label, Part, SolutionDocument
from gangopt.base.errors import InputError
from gangopt.instances.network_placement.instance import (
    MAX_GPUS,
    MAX_WORKERS,
    NetworkPlacementInstance,
    NetworkPlacementSolution,
)

__all__ = ["MachineDocument", "NetworkPlacementDocument", "NetworkPlacementSolutionDocument", "ResourceDocument"]


class MachineDocument(Part):
    """One machine before the job is placed."""

    label: Label = Field(description="unique name of the machine")
    free_gpus: Annotated[int, Field(ge=0, le=MAX_GPUS)] = Field(description="free GPUs")
    traffic: Amount = Field(description="network traffic of other jobs, MiB per iteration")
    free_capacity: list[Amount] = Field(default=[], description="free amount of each resource, in the file's order")


class ResourceDocument(Part):
    """A further resource that tasks take."""

    label: Label = Field(description="name of the resource, e.g. cpu")
    worker_demand: Amount = Field(description="demand of one worker, in the resource's unit")
    ps_demand: Amount = Field(description="demand of one parameter server, in the resource's unit")


class NetworkPlacementDocument(InstanceDocument):
    """Machines, and the workers and parameter servers of the job that joins them."""

    noun: Literal["network_placement"]
    workers: Annotated[int, Field(ge=1, le=MAX_WORKERS)] = Field(description="number of workers, one GPU each")
    ps_sizes: list[Amount] = Field(min_length=1, description="part of the model on each parameter server, MiB")
    skew: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="largest tensor over model size; null: largest parameter server over model size"
    )
    machines: list[MachineDocument] = Field(min_length=1, description="machines of the cluster")
    resources: list[ResourceDocument] = Field(default=[], description="further resources, e.g. cpu and memory")

    def to_instance(self) -> NetworkPlacementInstance:
        """Return the instance that the file describes."""
        return NetworkPlacementInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            machines=tuple(item.label for item in self.machines),
            free_gpus=np.array([item.free_gpus for item in self.machines], dtype=np.int64),
            traffic=np.array([item.traffic for item in self.machines]),
            workers=self.workers,
            ps_sizes=np.array(self.ps_sizes),
            skew=self.skew,
            resources=tuple(item.label for item in self.resources),
            free_capacity=self._capacities(),
            worker_demand=np.array([item.worker_demand for item in self.resources]),
            ps_demand=np.array([item.ps_demand for item in self.resources]),
        )

    def _capacities(self) -> np.ndarray:
        for index, item in enumerate(self.machines):
            if len(item.free_capacity) != len(self.resources):
                given = f"{len(self.resources)} resources (got {len(item.free_capacity)})"
                raise InputError(f"machines[{index}].free_capacity must have one number for each of the {given}")
        return np.array([item.free_capacity for item in self.machines]).reshape(len(self.machines), len(self.resources))

    @classmethod
    def from_instance(cls, instance: NetworkPlacementInstance) -> Self:
        """Return the file content of an instance."""
        assert instance.free_capacity is not None
        assert instance.worker_demand is not None
        assert instance.ps_demand is not None
        columns = zip(
            instance.machines,
            instance.free_gpus.tolist(),
            instance.traffic.tolist(),
            instance.free_capacity.tolist(),
            strict=True,
        )
        demands = zip(instance.resources, instance.worker_demand.tolist(), instance.ps_demand.tolist(), strict=True)
        return cls(
            noun="network_placement",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            workers=instance.workers,
            ps_sizes=instance.ps_sizes.tolist(),
            skew=instance.skew,
            machines=[
                MachineDocument(label=label, free_gpus=gpus, traffic=traffic, free_capacity=free)
                for label, gpus, traffic, free in columns
            ],
            resources=[ResourceDocument(label=name, worker_demand=w, ps_demand=p) for name, w, p in demands],
        )


class NetworkPlacementSolutionDocument(SolutionDocument):
    """Number of workers on every machine and machine of every parameter server, in the instance's order."""

    workers: list[Annotated[int, Field(ge=0)]] = Field(description="number of workers on each machine")
    ps_hosts: list[Annotated[int, Field(ge=0)]] = Field(description="machine of each parameter server, from 0")

    def to_solution(self) -> NetworkPlacementSolution:
        """Return the solution that the file describes."""
        return NetworkPlacementSolution(tuple(self.workers), tuple(self.ps_hosts))

    @classmethod
    def from_solution(cls, solution: NetworkPlacementSolution) -> Self:
        """Return the file content of a solution."""
        return cls(workers=list(solution.workers), ps_hosts=list(solution.ps_hosts))
