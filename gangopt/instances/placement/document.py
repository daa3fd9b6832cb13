"""Files of the problem `placement`: an instance, and the pieces of its jobs on its machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from gangopt.base.document import Amount, FormerDocument, Label, Part, Positive, SolutionDocument
from gangopt.base.errors import InputError
from gangopt.instances.on_cluster_files import (
    OnClusterDocument,
    RequirementDocument,
    requirement_content,
    requirement_of,
)
from gangopt.instances.placement.instance import MAX_SERVERS, MAX_TASKS, PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["PlacementDocument", "PlacementDocumentV1", "PlacementSolutionDocument", "row_of"]

Tasks = Annotated[int, Field(ge=1, le=MAX_TASKS)]
Held = Annotated[int, Field(ge=0, le=MAX_TASKS)]


class ResourceDocument(Part):
    """One resource."""

    name: Label = Field(description="name of the resource, e.g. cpu")
    unit: Annotated[str, Field(max_length=200)] = Field(description="unit of its amounts, e.g. core")


class ServerDocument(Part):
    """One server."""

    label: Label = Field(description="unique name of the server")
    capacity: dict[str, Amount] = Field(description="amount of every resource, in its unit")


class JobDocumentV1(Part):
    """One job."""

    label: Label = Field(description="unique name of the job")
    parameter_servers: Tasks = Field(description="number of parameter servers")
    workers: Tasks = Field(description="number of workers")
    parameter_server: dict[str, Amount] = Field(description="demand of one parameter server by resource")
    worker: dict[str, Amount] = Field(description="demand of one worker by resource")
    size: Positive = Field(description="parameters of the model, in MB")
    ps_bandwidth: Positive = Field(description="bandwidth of one parameter server, in MB/s")
    worker_bandwidth: Positive = Field(description="bandwidth of one worker, in MB/s")
    steps: Amount = Field(default=1.0, description="steps left; used only by the objective completion")
    compute: Amount = Field(default=0.0, description="seconds per step besides transfers; used only by completion")
    pause_charge: Amount = Field(default=0.0, description="seconds charged for the job if it is paused")


class JobDocument(JobDocumentV1):
    """One job, and where its tasks may lie."""

    requirement: RequirementDocument | None = Field(
        default=None, description="where all tasks of the job may lie; null for anywhere"
    )


class PlacementFields(Part):
    """Fields of placement files of every version."""

    noun: Literal["placement"]
    objective: Literal["transfer", "completion"] = Field(
        default="transfer",
        description="minimised among placements of the most jobs: the sum of transfer times or of completion times",
    )
    charge: Literal["tasks", "hosts"] = Field(
        default="tasks", description="charge the transfers of existing tasks, or both terms on every host of a job"
    )


class PlacementDocumentV1(PlacementFields, FormerDocument):
    """Servers, and jobs with the numbers of their tasks; version 1 of the file format."""

    resources: list[ResourceDocument] = Field(min_length=1, description="resources of every server")
    servers: list[ServerDocument] = Field(min_length=1, description="servers")
    jobs: list[JobDocumentV1] = Field(min_length=1, description="jobs")

    def to_instance(self) -> PlacementInstance:
        """Return the instance that the file describes."""
        names = tuple(item.name for item in self.resources)
        return PlacementInstance.from_machines(
            machines=tuple(item.label for item in self.servers),
            capacity=[row_of(names, item.capacity, f"servers.{i}.capacity") for i, item in enumerate(self.servers)],
            **_fields_of(self, names),
        )


class PlacementDocument(PlacementFields, OnClusterDocument):
    """A cluster, and jobs with the numbers of their tasks."""

    resources: list[ResourceDocument] = Field(min_length=1, description="resources of the cluster that count")
    jobs: list[JobDocument] = Field(min_length=1, description="jobs")

    def to_instance(self) -> PlacementInstance:
        """Return the instance that the file describes."""
        names = tuple(item.name for item in self.resources)
        return PlacementInstance(
            **self.topology(),
            requirements=tuple(requirement_of(item.requirement) for item in self.jobs),
            **_fields_of(self, names),
        )

    @classmethod
    def from_instance(cls, instance: PlacementInstance) -> Self:
        """Return the file content of an instance."""
        names = instance.resources
        columns = {field: getattr(instance, field).tolist() for field in _COLUMNS}
        return cls(
            **cls.topology_content(instance),
            noun="placement",
            name=instance.name,
            description=instance.description,
            source=instance.source,
            objective=instance.objective,
            charge=instance.charge,
            resources=[ResourceDocument(name=n, unit=u) for n, u in zip(names, instance.units, strict=True)],
            jobs=[
                JobDocument(
                    label=label,
                    parameter_server=dict(zip(names, instance.ps_demand[j].tolist(), strict=True)),
                    worker=dict(zip(names, instance.worker_demand[j].tolist(), strict=True)),
                    requirement=requirement_content(instance.requirements[j]),
                    **{field: values[j] for field, values in columns.items()},
                )
                for j, label in enumerate(instance.jobs)
            ],
        )


_COLUMNS = (
    "parameter_servers",
    "workers",
    "size",
    "ps_bandwidth",
    "worker_bandwidth",
    "steps",
    "compute",
    "pause_charge",
)


def _fields_of(document: PlacementDocument | PlacementDocumentV1, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields of the instance that files of every version have."""
    jobs: Sequence[JobDocumentV1] = document.jobs
    fields: dict[str, Any] = {name: getattr(document, name) for name in _SHARED}
    fields |= {name: [getattr(item, name) for item in jobs] for name in _COLUMNS}
    for field, column in (("parameter_server", "ps_demand"), ("worker", "worker_demand")):
        fields[column] = [row_of(names, getattr(item, field), f"jobs.{i}.{field}") for i, item in enumerate(jobs)]
    return fields | {
        "resources": names,
        "units": tuple(item.unit for item in document.resources),
        "jobs": tuple(item.label for item in jobs),
    }


_SHARED = ("name", "description", "source", "objective", "charge")


def row_of(names: Sequence[str], amounts: dict[str, float], where: str) -> list[float]:
    """Return the amounts in the order of the resources.

    Parameters
    ----------
    names : sequence of str
        Resources of the file.
    amounts : dict of str to float
        Amount of each resource.
    where : str
        Field of the amounts, for messages.

    Raises
    ------
    InputError
        If a resource is unknown or its amount is missing.
    """
    for name in amounts:
        if name not in names:
            raise InputError(f"{where}: unknown resource {name!r}; known: {', '.join(names)}")
    for name in names:
        if name not in amounts:
            raise InputError(f"{where}: the amount of {name} is missing; write 0 if there is none")
    return [amounts[name] for name in names]


class PieceDocument(Part):
    """Tasks of one job on one machine."""

    server: Annotated[int, Field(ge=0, lt=MAX_SERVERS)] = Field(description="index of the machine in the cluster")
    parameter_servers: Held = Field(description="parameter servers of the job on it")
    workers: Held = Field(description="workers of the job on it")


class PlacedJobDocument(Part):
    """One job."""

    pieces: list[PieceDocument] = Field(description="tasks by server; empty for a paused job")
    paused: str = Field(default="", description="reason why the job is paused; empty for a placed job")


class PlacementSolutionDocument(SolutionDocument):
    """Pieces of every job, or the reason why it is paused, in the instance's order."""

    jobs: list[PlacedJobDocument]

    def to_solution(self) -> PlacementSolution:
        """Return the solution that the file describes."""
        return PlacementSolution(
            pieces=tuple(
                tuple((piece.server, piece.parameter_servers, piece.workers) for piece in job.pieces)
                for job in self.jobs
            ),
            reasons=tuple(job.paused for job in self.jobs),
        )

    @classmethod
    def from_solution(cls, solution: PlacementSolution) -> Self:
        """Return the file content of a solution."""
        return cls(
            jobs=[
                PlacedJobDocument(
                    pieces=[PieceDocument(server=k, parameter_servers=x, workers=y) for k, x, y in pieces],
                    paused=reason,
                )
                for pieces, reason in zip(solution.pieces, solution.reasons, strict=True)
            ]
        )
