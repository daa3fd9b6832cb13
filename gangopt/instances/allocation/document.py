"""Files of the problem `allocation`: resources and jobs, and the tasks of each job."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import Amount, Count, InstanceDocument, Label, Part, Positive, SolutionDocument
from gangopt.base.errors import InputError
from gangopt.instances.allocation.instance import AllocationInstance, AllocationSolution
from gangopt.instances.allocation.speed_functions import THETA_COUNT

__all__ = ["AllocationDocument", "AllocationSolutionDocument"]


class Resource(Part):
    """One resource of the cluster."""

    name: Label = Field(description="name of the resource, e.g. cpu")
    unit: str = Field(default="", max_length=50, description="unit of capacity and demands, e.g. core")
    capacity: Positive = Field(description="capacity of the whole cluster, in the unit")


class Job(Part):
    """One job."""

    label: Label = Field(description="unique name of the job")
    steps: Amount = Field(description="steps left")
    mode: Literal["async", "sync", "table"] = Field(description="kind of speed: fitted function or measured table")
    theta: list[Amount] = Field(default=[], max_length=5, description="coefficients in seconds: 4 async, 5 sync")
    batch: Positive | None = Field(default=None, description="samples in the global batch; sync only")
    table: Label | None = Field(default=None, description="name of the speed table; mode table only")
    worker: dict[str, Amount] = Field(description="demand of one worker by resource; absent means 0")
    parameter_server: dict[str, Amount] = Field(
        default={}, description="demand of one parameter server by resource; absent means 0"
    )
    max_workers: Count | None = Field(default=None, description="most workers; default: number of columns of the table")
    max_parameter_servers: Count | None = Field(
        default=None, description="most parameter servers; default: number of rows of the table"
    )
    progress: Annotated[float, Field(ge=0, le=1)] = Field(default=0.0, description="fraction of the steps done")
    source: str = Field(default="", description="origin of the job's numbers")


class AllocationDocument(InstanceDocument):
    """Instance file of the problem `allocation`."""

    noun: Literal["allocation"]
    resources: Annotated[list[Resource], Field(min_length=1)]
    jobs: Annotated[list[Job], Field(min_length=1)]
    tables: dict[Label, list[list[Positive | None]]] = Field(
        default={},
        description="measured speeds, steps/s, with a row per number of parameter servers and a column per number of "
        "workers; null: not measured",
    )

    def to_instance(self) -> AllocationInstance:
        """Return the instance that the file describes.

        Raises
        ------
        InputError
            If a job names an unknown table or resource, has a wrong number of coefficients, or lacks a limit.
        """
        names = [item.name for item in self.resources]
        tables = list(self.tables)
        limits = [self._limits(j, job) for j, job in enumerate(self.jobs)]
        return AllocationInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            resources=tuple(names),
            units=tuple(item.unit for item in self.resources),
            capacity=np.array([item.capacity for item in self.resources]),
            jobs=tuple(job.label for job in self.jobs),
            steps=np.array([job.steps for job in self.jobs]),
            mode=tuple(job.mode for job in self.jobs),
            theta=np.array([_theta(j, job) for j, job in enumerate(self.jobs)]),
            batch=np.array([job.batch or 0.0 for job in self.jobs]),
            tables=tuple(_speeds(label, rows) for label, rows in self.tables.items()),
            table_labels=tuple(tables),
            table=np.array([-1 if job.table is None else tables.index(job.table) for job in self.jobs]),
            worker_demand=np.array(
                [_demand(f"jobs[{j}].worker", job.worker, names) for j, job in enumerate(self.jobs)]
            ),
            ps_demand=np.array(
                [_demand(f"jobs[{j}].parameter_server", job.parameter_server, names) for j, job in enumerate(self.jobs)]
            ),
            max_workers=np.array([workers for workers, _ in limits]),
            max_ps=np.array([servers for _, servers in limits]),
            progress=np.array([job.progress for job in self.jobs]),
            job_sources=tuple(job.source for job in self.jobs),
        )

    def _limits(self, j: int, job: Job) -> tuple[int, int]:
        rows: list[list[float | None]] = [[]]
        if job.table is not None:
            if job.table not in self.tables:
                known = ", ".join(self.tables) or "none"
                raise InputError(f"jobs[{j}].table: unknown table {job.table!r}; known: {known}")
            rows = self.tables[job.table]
        if job.mode != "table" and (job.max_workers is None or job.max_parameter_servers is None):
            raise InputError(f"jobs[{j}]: mode {job.mode} must have max_workers and max_parameter_servers")
        return job.max_workers or max(1, len(rows[0])), job.max_parameter_servers or len(rows)

    @classmethod
    def from_instance(cls, instance: AllocationInstance) -> Self:
        """Return the file content of an instance."""
        R = range(len(instance.resources))
        return cls(
            noun="allocation",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            resources=[
                Resource(name=instance.resources[r], unit=instance.units[r], capacity=float(instance.capacity[r]))
                for r in R
            ],
            jobs=[_job(instance, j) for j in range(len(instance.jobs))],
            tables={
                label: [[None if math.isnan(value) else value for value in row] for row in speeds.tolist()]
                for label, speeds in zip(instance.table_labels, instance.tables, strict=True)
            },
        )


def _theta(j: int, job: Job) -> list[float]:
    count = THETA_COUNT[job.mode]
    if len(job.theta) != count:
        raise InputError(f"jobs[{j}].theta must have {count} coefficients for mode {job.mode} (got {len(job.theta)})")
    return [*job.theta, *[0.0] * (5 - count)]


def _demand(field: str, demand: dict[str, float], names: list[str]) -> list[float]:
    for name in demand:
        if name not in names:
            raise InputError(f"{field}: unknown resource {name!r}; known: {', '.join(names)}")
    return [demand.get(name, 0.0) for name in names]


def _speeds(label: str, rows: list[list[float | None]]) -> Any:
    if len({len(row) for row in rows}) != 1:
        raise InputError(f"tables.{label} must have rows of equal length (got {sorted({len(row) for row in rows})})")
    return np.array([[math.nan if value is None else value for value in row] for row in rows])


def _job(instance: AllocationInstance, j: int) -> Job:
    mode = instance.mode[j]
    return Job(
        label=instance.jobs[j],
        steps=float(instance.steps[j]),
        mode=mode,  # type: ignore[arg-type]
        theta=instance.theta[j, : THETA_COUNT[mode]].tolist(),
        batch=float(instance.batch[j]) if mode == "sync" else None,
        table=instance.table_labels[instance.table[j]] if mode == "table" else None,
        worker=dict(zip(instance.resources, instance.worker_demand[j].tolist(), strict=True)),
        parameter_server=dict(zip(instance.resources, instance.ps_demand[j].tolist(), strict=True)),
        max_workers=int(instance.max_workers[j]),
        max_parameter_servers=int(instance.max_ps[j]),
        progress=float(instance.progress[j]),
        source=instance.job_sources[j],
    )


class AllocationSolutionDocument(SolutionDocument):
    """Solution file of the problem `allocation`."""

    workers: list[Count] = Field(description="workers of each job, in the instance's order")
    parameter_servers: list[Count] = Field(description="parameter servers of each job, in the instance's order")

    def to_solution(self) -> AllocationSolution:
        """Return the solution that the file describes."""
        return AllocationSolution(tuple(self.workers), tuple(self.parameter_servers))

    @classmethod
    def from_solution(cls, solution: AllocationSolution) -> Self:
        """Return the file content of a solution."""
        return cls(workers=list(solution.workers), parameter_servers=list(solution.parameter_servers))
