"""File formats of `time_share`."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import Amount, Count, InstanceDocument, Label, SolutionDocument
from gangopt_gavel.instance import TimeShareInstance, TimeShareSolution

__all__ = ["TimeShareDocument", "TimeShareSolutionDocument"]


class TimeShareDocument(InstanceDocument):
    """Instance file."""

    noun: Literal["time_share"]
    jobs: list[Label] = Field(min_length=1, description="labels of the jobs")
    gpu_types: list[Label] = Field(min_length=1, description="names of the GPU types")
    gpus: list[Count] = Field(description="GPUs of each type")
    scale: list[Count] = Field(description="GPUs that each job needs at once")
    throughput: list[list[Amount]] = Field(description="steps/s, one row per job, one column per type")

    def to_instance(self) -> TimeShareInstance:
        """Return the instance."""
        return TimeShareInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            jobs=tuple(self.jobs),
            gpu_types=tuple(self.gpu_types),
            gpus=np.array(self.gpus, dtype=np.int64),
            scale=np.array(self.scale, dtype=np.int64),
            throughput=self.throughput,  # type: ignore[arg-type]  # checked with its shape by the instance
        )

    @classmethod
    def from_instance(cls, instance: TimeShareInstance) -> Self:
        """Return the document of an instance."""
        return cls(
            noun="time_share",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            jobs=list(instance.jobs),
            gpu_types=list(instance.gpu_types),
            gpus=instance.gpus.tolist(),
            scale=instance.scale.tolist(),
            throughput=instance.throughput.tolist(),
        )


class TimeShareSolutionDocument(SolutionDocument):
    """Solution file."""

    shares: list[list[float]] = Field(description="one row per job, one column per type")

    def to_solution(self) -> TimeShareSolution:
        """Return the solution."""
        return TimeShareSolution(tuple(map(tuple, self.shares)))

    @classmethod
    def from_solution(cls, solution: TimeShareSolution) -> Self:
        """Return the document of a solution."""
        return cls(shares=[list(row) for row in solution.shares])
