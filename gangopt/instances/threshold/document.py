"""Files of the problem `threshold`: a history of jobs, and a rule."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import InstanceDocument, Label, Part, SolutionDocument
from gangopt.base.errors import InputError
from gangopt.instances.threshold.instance import LARGEST, ThresholdInstance, ThresholdSolution

__all__ = ["JobDocument", "ThresholdDocument", "ThresholdSolutionDocument"]

Ratio = Annotated[float, Field(gt=0, le=LARGEST)]
Feature = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]


class JobDocument(Part):
    """One job of the history."""

    label: Label = Field(description="unique name of the job")
    values: list[Feature] = Field(min_length=1, description="values of its features, in the order of `features`")
    ratio: Ratio = Field(description="performance under random placement divided by consolidated performance")
    weight: Ratio = Field(default=1.0, description="weight of an error on the job")


class ThresholdDocument(InstanceDocument):
    """A history of jobs with the features that a rule may use."""

    noun: Literal["threshold"]
    limit: Ratio = Field(default=0.95, description="a job is sensitive if its ratio is below this")
    features: list[Label] = Field(min_length=1, description="names of the features")
    jobs: list[JobDocument] = Field(min_length=1, description="jobs of the history")

    def to_instance(self) -> ThresholdInstance:
        """Return the instance that the file describes."""
        for index, job in enumerate(self.jobs):
            if len(job.values) != len(self.features):
                given = f"{len(self.features)} features (got {len(job.values)})"
                raise InputError(f"jobs[{index}].values must have one value for each of the {given}")
        return ThresholdInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            jobs=tuple(job.label for job in self.jobs),
            features=tuple(self.features),
            values=np.array([job.values for job in self.jobs], dtype=np.float64),
            ratio=np.array([job.ratio for job in self.jobs]),
            limit=self.limit,
            weights=np.array([job.weight for job in self.jobs]),
        )

    @classmethod
    def from_instance(cls, instance: ThresholdInstance) -> Self:
        """Return the file content of an instance."""
        rows = zip(
            instance.jobs,
            instance.values.tolist(),
            instance.ratio.tolist(),
            instance.job_weights.tolist(),
            strict=True,
        )
        return cls(
            noun="threshold",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            limit=instance.limit,
            features=list(instance.features),
            jobs=[
                JobDocument(label=label, values=values, ratio=ratio, weight=weight)
                for label, values, ratio, weight in rows
            ],
        )


class ThresholdSolutionDocument(SolutionDocument):
    """A rule: a job is called sensitive if the weighted sum of its features exceeds the threshold."""

    weights: list[float] = Field(min_length=1, description="weight of every feature")
    threshold: float = Field(description="threshold of the weighted sum; PACKLIMIT if the only weight is 1")

    def to_solution(self) -> ThresholdSolution:
        """Return the solution that the file describes."""
        return ThresholdSolution(tuple(self.weights), self.threshold)

    @classmethod
    def from_solution(cls, solution: ThresholdSolution) -> Self:
        """Return the file content of a solution."""
        return cls(weights=list(solution.weights), threshold=solution.threshold)
