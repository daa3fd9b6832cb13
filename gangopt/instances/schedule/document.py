"""Files of the problem `schedule`: jobs with the GPUs that they share, and the runs of each job."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import Amount, Count, InstanceDocument, Label, Part, Positive, SolutionDocument
from gangopt.instances.schedule.instance import Run, ScheduleInstance, ScheduleSolution

__all__ = ["JobDocument", "RunDocument", "ScheduleDocument", "ScheduleSolutionDocument"]


class JobDocument(Part):
    """One job."""

    label: Label = Field(description="unique name of the job")
    arrival: Amount = Field(description="time of arrival, s")
    gpus: Count = Field(description="GPUs that the job holds whenever it runs")
    duration: Positive = Field(description="running time on these GPUs, s")
    weight: Positive = Field(default=1.0, description="weight of the job's completion time")


class ScheduleDocument(InstanceDocument):
    """Jobs, and the GPUs or machines that they share."""

    noun: Literal["schedule"]
    n_gpus: Count = Field(description="GPUs of the cluster")
    machines: list[Count] = Field(default=[], description="GPUs of each machine; empty if GPUs are only counted")
    slot: Positive | None = Field(
        default=None, description="time slot at whose multiples jobs start and stop, s; null: at any time"
    )
    jobs: list[JobDocument] = Field(min_length=1, description="jobs, in any order")

    def to_instance(self) -> ScheduleInstance:
        """Return the instance that the file describes."""
        return ScheduleInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            jobs=tuple(job.label for job in self.jobs),
            arrival=np.array([job.arrival for job in self.jobs], dtype=np.float64),
            gpus=np.array([job.gpus for job in self.jobs], dtype=np.int64),
            duration=np.array([job.duration for job in self.jobs], dtype=np.float64),
            weight=np.array([job.weight for job in self.jobs], dtype=np.float64),
            n_gpus=self.n_gpus,
            machines=tuple(self.machines),
            slot=self.slot,
        )

    @classmethod
    def from_instance(cls, instance: ScheduleInstance) -> Self:
        """Return the file content of an instance."""
        columns = (instance.arrival, instance.gpus, instance.duration, instance.weights)
        rows = zip(instance.jobs, *(column.tolist() for column in columns), strict=True)
        return cls(
            noun="schedule",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            n_gpus=instance.n_gpus,
            machines=list(instance.machines),
            slot=instance.slot,
            jobs=[
                JobDocument(label=label, arrival=arrival, gpus=gpus, duration=duration, weight=weight)
                for label, arrival, gpus, duration, weight in rows
            ],
        )


class RunDocument(Part):
    """A period in which a job runs."""

    start: Amount = Field(description="start of the period, s")
    end: Amount = Field(description="end of the period, s")
    places: list[Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]] = Field(
        default=[], description="[machine, GPUs] pairs; empty if GPUs are only counted"
    )


class ScheduleSolutionDocument(SolutionDocument):
    """Runs of each job."""

    runs: list[list[RunDocument]] = Field(description="runs of every job, in chronological order")

    def to_solution(self) -> ScheduleSolution:
        """Return the solution that the file describes."""
        return ScheduleSolution(
            tuple(
                tuple(Run(run.start, run.end, tuple((m, g) for m, g in run.places)) for run in runs)
                for runs in self.runs
            )
        )

    @classmethod
    def from_solution(cls, solution: ScheduleSolution) -> Self:
        """Return the file content of a solution."""
        return cls(
            runs=[
                [RunDocument(start=run.start, end=run.end, places=[[m, g] for m, g in run.places]) for run in runs]
                for runs in solution.runs
            ]
        )
