"""Files of the problem `interval`: a cluster and jobs, and an allocation with its placement."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.checks import number
from gangopt.base.document import LARGEST, FormerDocument, Label, Part, Positive, SolutionDocument
from gangopt.base.errors import InputError
from gangopt.instances.allocation import document as allocation_files
from gangopt.instances.allocation.document import AllocationDocument, AllocationSolutionDocument, Job
from gangopt.instances.allocation.instance import AllocationInstance
from gangopt.instances.interval.instance import INTERVAL, IntervalInstance, IntervalSolution
from gangopt.instances.on_cluster_files import (
    OnClusterDocument,
    RequirementDocument,
    requirement_content,
    requirement_of,
)
from gangopt.instances.placement.document import PlacementSolutionDocument, ServerDocument, row_of

__all__ = ["IntervalDocument", "IntervalDocumentV1", "IntervalSolutionDocument"]


class ResourceDocument(Part):
    """One resource."""

    name: Label = Field(description="name of the resource, e.g. cpu")
    unit: str = Field(default="", max_length=50, description="unit of capacities and demands, e.g. core")


class IntervalJob(Job):
    """One job with the data of an allocation, its model size and its bandwidths."""

    size: Positive = Field(description="parameters of the model, in MB")
    ps_bandwidth: Positive = Field(description="bandwidth of one parameter server, in MB/s")
    worker_bandwidth: Positive = Field(description="bandwidth of one worker, in MB/s")


class BoundIntervalJob(IntervalJob):
    """One job, and where its tasks may lie."""

    requirement: RequirementDocument | None = Field(
        default=None, description="where all tasks of the job may lie; null for anywhere"
    )


_NETWORK = ("size", "ps_bandwidth", "worker_bandwidth")


class IntervalFields(Part):
    """Fields of interval files of every version."""

    noun: Literal["interval"]
    interval: Positive = Field(default=INTERVAL, description="seconds until the next decision")
    charge: Literal["tasks", "hosts"] = Field(
        default="tasks", description="charge the transfers of existing tasks, or both terms on every host of a job"
    )
    tables: dict[Label, list[list[Positive | None]]] = Field(
        default={},
        description="measured speeds, steps/s, with a row per number of parameter servers and a column per number of "
        "workers; null: not measured",
    )


class IntervalDocumentV1(IntervalFields, FormerDocument):
    """Servers, and jobs whose numbers of tasks and placements are to be decided; version 1 of the file format."""

    resources: Annotated[list[ResourceDocument], Field(min_length=1)] = Field(description="resources of every server")
    servers: Annotated[list[ServerDocument], Field(min_length=1)] = Field(description="servers")
    jobs: Annotated[list[IntervalJob], Field(min_length=1)] = Field(description="jobs")

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
        return IntervalInstance.from_machines(
            _allocation_of(self, names, total.tolist()),
            tuple(item.label for item in self.servers),
            capacity,
            **_fields_of(self),
        )


class IntervalDocument(IntervalFields, OnClusterDocument):
    """A cluster, and jobs whose numbers of tasks and placements are to be decided."""

    resources: Annotated[list[ResourceDocument], Field(min_length=1)] = Field(
        description="resources of the cluster that count"
    )
    jobs: Annotated[list[BoundIntervalJob], Field(min_length=1)] = Field(description="jobs")

    def to_instance(self) -> IntervalInstance:
        """Return the instance that the file describes.

        Raises
        ------
        InputError
            If nothing of a resource is free on the cluster, or a job is invalid.
        """
        place = self.topology()
        cluster, state = place["cluster"], place["state"]
        names = [item.name for item in self.resources]
        free = dict(zip(cluster.resources, state.free_capacities.sum(axis=0).tolist(), strict=True))
        for name in names:
            if free.get(name, 0) <= 0:
                raise InputError(f"resources: nothing of {name} is free on the cluster; remove it from the resources")
        jobs = _allocation_of(self, names, [free[name] for name in names])
        requirements = tuple(requirement_of(item.requirement) for item in self.jobs)
        return IntervalInstance.on_cluster(jobs, cluster, state, requirements=requirements, **_fields_of(self))

    @classmethod
    def from_instance(cls, instance: IntervalInstance) -> Self:
        """Return the file content of an instance."""
        jobs = AllocationDocument.from_instance(instance.allocation)
        return cls(
            **cls.topology_content(instance),
            noun="interval",
            name=instance.name,
            description=instance.description,
            source=instance.source,
            interval=float(instance.interval),
            charge=instance.charge,
            resources=[ResourceDocument(name=item.name, unit=item.unit) for item in jobs.resources],
            jobs=[
                BoundIntervalJob(
                    **job.model_dump(),
                    requirement=requirement_content(instance.requirements[j]),
                    size=float(instance.size[j]),
                    ps_bandwidth=float(instance.ps_bandwidth[j]),
                    worker_bandwidth=float(instance.worker_bandwidth[j]),
                )
                for j, job in enumerate(jobs.jobs)
            ],
            tables=jobs.tables,
        )


def _allocation_of(
    document: IntervalDocument | IntervalDocumentV1, names: list[str], total: list[float]
) -> AllocationInstance:
    units = {item.name: item.unit for item in document.resources}
    return AllocationDocument(
        noun="allocation",
        version=1,
        name=document.name,
        resources=[
            allocation_files.Resource(name=name, unit=units[name], capacity=amount)
            for name, amount in zip(names, total, strict=True)
        ],
        jobs=[Job(**job.model_dump(exclude={*_NETWORK, "requirement"})) for job in document.jobs],
        tables=document.tables,
    ).to_instance()


def _fields_of(document: IntervalDocument | IntervalDocumentV1) -> dict[str, Any]:
    return {
        "name": document.name,
        "description": document.description,
        "source": document.source,
        "interval": document.interval,
        "charge": document.charge,
        **{field: np.array([getattr(job, field) for job in document.jobs]) for field in _NETWORK},
    }


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
