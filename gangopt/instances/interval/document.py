"""Files of the problem `interval`: servers and jobs, and an allocation with its placement."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.checks import number
from gangopt.base.document import LARGEST, InstanceDocument, Label, Part, Positive, SolutionDocument
from gangopt.base.errors import InputError
from gangopt.instances.allocation import document as allocation_files
from gangopt.instances.allocation.document import AllocationDocument, AllocationSolutionDocument, Job
from gangopt.instances.interval.instance import INTERVAL, IntervalInstance, IntervalSolution
from gangopt.instances.placement.document import PlacementSolutionDocument, ServerDocument, row_of

__all__ = ["IntervalDocument", "IntervalSolutionDocument"]


class ResourceDocument(Part):
    """One resource."""

    name: Label = Field(description="name of the resource, e.g. cpu")
    unit: str = Field(default="", max_length=50, description="unit of capacities and demands, e.g. core")


class IntervalJob(Job):
    """One job with the data of an allocation, its model size and its bandwidths."""

    size: Positive = Field(description="parameters of the model, in MB")
    ps_bandwidth: Positive = Field(description="bandwidth of one parameter server, in MB/s")
    worker_bandwidth: Positive = Field(description="bandwidth of one worker, in MB/s")


_NETWORK = ("size", "ps_bandwidth", "worker_bandwidth")


class IntervalDocument(InstanceDocument):
    """Servers, and jobs whose numbers of tasks and placements are to be decided."""

    noun: Literal["interval"]
    interval: Positive = Field(default=INTERVAL, description="seconds until the next decision")
    charge: Literal["tasks", "hosts"] = Field(
        default="tasks", description="charge the transfers of existing tasks, or both terms on every host of a job"
    )
    resources: Annotated[list[ResourceDocument], Field(min_length=1)] = Field(description="resources of every server")
    servers: Annotated[list[ServerDocument], Field(min_length=1)] = Field(description="servers")
    jobs: Annotated[list[IntervalJob], Field(min_length=1)] = Field(description="jobs")
    tables: dict[Label, list[list[Positive | None]]] = Field(
        default={},
        description="measured speeds, steps/s, with a row per number of parameter servers and a column per number of "
        "workers; null: not measured",
    )

    def to_instance(self) -> IntervalInstance:
        """Return the instance that the file describes.

        Raises
        ------
        InputError
            If a server lacks a resource or has an unknown one, no server has a resource, or a job is invalid.
        """
        names = [item.name for item in self.resources]
        capacity = np.array(
            [row_of(names, server.capacity, f"servers.{k}.capacity") for k, server in enumerate(self.servers)]
        )
        total = capacity.sum(axis=0)
        for name, amount in zip(names, total.tolist(), strict=True):
            if amount <= 0:
                raise InputError(f"servers: no server has any {name}; remove the resource or give a capacity > 0")
            number(f"servers: total capacity of {name}", amount, 0, LARGEST)
        jobs = AllocationDocument(
            noun="allocation",
            version=1,
            name=self.name,
            resources=[
                allocation_files.Resource(name=item.name, unit=item.unit, capacity=amount)
                for item, amount in zip(self.resources, total.tolist(), strict=True)
            ],
            jobs=[Job(**job.model_dump(exclude=set(_NETWORK))) for job in self.jobs],
            tables=self.tables,
        ).to_instance()
        return IntervalInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            allocation=jobs,
            servers=tuple(item.label for item in self.servers),
            capacity=capacity,
            interval=self.interval,
            charge=self.charge,
            size=np.array([job.size for job in self.jobs]),
            ps_bandwidth=np.array([job.ps_bandwidth for job in self.jobs]),
            worker_bandwidth=np.array([job.worker_bandwidth for job in self.jobs]),
        )

    @classmethod
    def from_instance(cls, instance: IntervalInstance) -> Self:
        """Return the file content of an instance."""
        jobs = AllocationDocument.from_instance(instance.allocation)
        names = instance.allocation.resources
        return cls(
            noun="interval",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            interval=float(instance.interval),
            charge=instance.charge,
            resources=[ResourceDocument(name=item.name, unit=item.unit) for item in jobs.resources],
            servers=[
                ServerDocument(label=label, capacity=dict(zip(names, row, strict=True)))
                for label, row in zip(instance.servers, instance.capacity.tolist(), strict=True)
            ],
            jobs=[
                IntervalJob(
                    **job.model_dump(),
                    size=float(instance.size[j]),
                    ps_bandwidth=float(instance.ps_bandwidth[j]),
                    worker_bandwidth=float(instance.worker_bandwidth[j]),
                )
                for j, job in enumerate(jobs.jobs)
            ],
            tables=jobs.tables,
        )


class IntervalSolutionDocument(SolutionDocument):
    """Numbers of tasks of every job and their servers, in the instance's order."""

    allocation: AllocationSolutionDocument = Field(description="tasks of each job")
    placement: PlacementSolutionDocument = Field(description="pieces of each job, or the reason why it is paused")

    def to_solution(self) -> IntervalSolution:
        """Return the solution that the file describes."""
        return IntervalSolution(self.allocation.to_solution(), self.placement.to_solution())

    @classmethod
    def from_solution(cls, solution: IntervalSolution) -> Self:
        """Return the file content of a solution."""
        return cls(
            allocation=AllocationSolutionDocument.from_solution(solution.allocation),
            placement=PlacementSolutionDocument.from_solution(solution.placement),
        )
