"""Files of the problem `bid`: an app with its offers, and a bid table."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field

from gangopt.base.document import Amount, InstanceDocument, Label, Part, Positive, SolutionDocument
from gangopt.instances.apps.limits import LEAST, MAX_GPUS, MOST
from gangopt.instances.bid.instance import MAX_APP_GPUS, BidInstance, BidRow, BidSolution
from gangopt.topology import PRIORS

__all__ = [
    "BidDocument",
    "BidJobDocument",
    "BidRowDocument",
    "BidSolutionDocument",
    "OfferDocument",
    "SlowdownDocument",
]

Level = Literal["slot", "machine", "rack", "cluster"]
Gpus = Annotated[int, Field(ge=1, le=MAX_GPUS)]
Ranged = Annotated[float, Field(ge=LEAST, le=MOST)]


class SlowdownDocument(Part):
    """Time of an iteration at each locality over the undisturbed time."""

    slot: Ranged = Field(default=PRIORS.slot, description="within one slot, and on one GPU")
    machine: Ranged = Field(default=PRIORS.machine, description="within one machine")
    rack: Ranged = Field(default=PRIORS.rack, description="across machines of one rack")
    cluster: Ranged = Field(default=PRIORS.cluster, description="across racks")

    def row(self) -> list[float]:
        """Return the four values, narrowest first."""
        return [self.slot, self.machine, self.rack, self.cluster]


class BidJobDocument(Part):
    """One job in a phase."""

    label: Label = Field(description="name of the job, unique within its phase")
    iterations: Ranged = Field(description="iterations left in the phase")
    seconds: Ranged = Field(description="time of one iteration on one GPU, s")
    max_gpus: Gpus = Field(description="most GPUs that the job can use")
    slowdown: SlowdownDocument = Field(default=SlowdownDocument(), description="by locality; default: THEMIS's priors")


class OfferDocument(Part):
    """One offer."""

    gpus: Gpus = Field(description="GPUs offered")
    level: Level = Field(default="machine", description="narrowest level that contains them")


class BidDocument(InstanceDocument):
    """An app with its remaining phases, and the offers it values."""

    noun: Literal["bid"]
    split: Literal["whole", "shared"] = Field(
        default="whole",
        description="whole: a job keeps integer GPUs until its phase ends; shared: GPUs pass from job to job",
    )
    elapsed: Amount = Field(default=0.0, description="time since the app's start, s")
    budget: Positive | None = Field(
        default=None, description="GPU time of the app from start to end, GPU-s; null: total of the phases"
    )
    cluster_gpus: Gpus = Field(description="GPUs of the cluster")
    app_gpus: Annotated[int, Field(ge=1, le=MAX_APP_GPUS)] | None = Field(
        default=None, description="most GPUs that the app can use; null: the most of any phase"
    )
    contention: Ranged = Field(description="time-weighted number of apps present")
    phases: list[Annotated[list[BidJobDocument], Field(min_length=1)]] = Field(
        min_length=1, description="jobs of every phase, starting with the current one"
    )
    offers: list[OfferDocument] = Field(min_length=1, description="offers, one for each row of the bid table")

    def to_instance(self) -> BidInstance:
        """Return the instance that the file describes."""
        runs = [(i, job) for i, jobs in enumerate(self.phases) for job in jobs]
        return BidInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            jobs=tuple(job.label for _, job in runs),
            phase=np.array([i for i, _ in runs]),
            iterations=np.array([job.iterations for _, job in runs]),
            seconds=np.array([job.seconds for _, job in runs]),
            max_gpus=np.array([job.max_gpus for _, job in runs]),
            slowdown=np.array([job.slowdown.row() for _, job in runs]),
            offer_gpus=np.array([item.gpus for item in self.offers]),
            offer_levels=tuple(item.level for item in self.offers),
            split=self.split,
            elapsed=self.elapsed,
            budget=self.budget,
            cluster_gpus=self.cluster_gpus,
            app_gpus=self.app_gpus,
            contention=self.contention,
        )

    @classmethod
    def from_instance(cls, instance: BidInstance) -> Self:
        """Return the file content of an instance."""
        columns = zip(
            instance.jobs,
            instance.iterations.tolist(),
            instance.seconds.tolist(),
            instance.max_gpus.tolist(),
            instance.slowdown.tolist(),
            strict=True,
        )
        runs = [
            BidJobDocument(
                label=label,
                iterations=iterations,
                seconds=seconds,
                max_gpus=most,
                slowdown=SlowdownDocument(slot=row[0], machine=row[1], rack=row[2], cluster=row[3]),
            )
            for label, iterations, seconds, most, row in columns
        ]
        offers = zip(instance.offer_gpus.tolist(), instance.offer_levels, strict=True)
        return cls.model_validate(
            {
                "noun": "bid",
                "version": 1,
                "name": instance.name,
                "description": instance.description,
                "source": instance.source,
                "split": instance.split,
                "elapsed": instance.elapsed,
                "budget": instance.budget,
                "cluster_gpus": instance.cluster_gpus,
                "app_gpus": instance.app_gpus,
                "contention": instance.contention,
                "phases": [runs[part.start : part.stop] for part in instance.phases],
                "offers": [{"gpus": gpus, "level": level} for gpus, level in offers],
            }
        )


class BidRowDocument(Part):
    """One row of a bid table."""

    gpus: int = Field(description="GPUs of the offer")
    level: Level = Field(description="narrowest level that contains them")
    rho: float = Field(description="finish-time fairness with the offer")
    seconds: list[float] = Field(description="length of every phase, s")
    shares: list[int | float] = Field(description="GPUs of every job, phase by phase")
    queues: list[int | None] = Field(description="GPU for which a job queues; null if it does not wait")


class BidSolutionDocument(SolutionDocument):
    """A bid table."""

    rows: list[BidRowDocument] = Field(description="one row for every offer, in the same order")

    def to_solution(self) -> BidSolution:
        """Return the solution that the file describes."""
        return BidSolution(
            tuple(
                BidRow(row.gpus, row.level, row.rho, tuple(row.seconds), tuple(row.shares), tuple(row.queues))
                for row in self.rows
            )
        )

    @classmethod
    def from_solution(cls, solution: BidSolution) -> Self:
        """Return the file content of a solution."""
        return cls(
            rows=[
                BidRowDocument.model_validate(
                    {
                        "gpus": row.gpus,
                        "level": row.level,
                        "rho": row.rho,
                        "seconds": list(row.seconds),
                        "shares": list(row.shares),
                        "queues": list(row.queues),
                    }
                )
                for row in solution.rows
            ]
        )
