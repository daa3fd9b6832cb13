"""Files of the problem `parameters`: an instance, and an assignment of its blocks."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field

from gangopt.base.document import Count, InstanceDocument, Label, Part, SolutionDocument
from gangopt.instances.parameters.instance import MAX_SERVERS, ParametersInstance, ParametersSolution

__all__ = ["BlockDocument", "ParametersDocument", "ParametersSolutionDocument"]


class BlockDocument(Part):
    """One parameter block."""

    label: Label = Field(description="unique name of the block")
    shape: list[Count] = Field(min_length=1, description="dimensions; their product is the number of parameters")


class ParametersDocument(InstanceDocument):
    """Parameter blocks and the number of servers among which they are divided."""

    noun: Literal["parameters"]
    servers: Annotated[int, Field(ge=1, le=MAX_SERVERS)] = Field(description="number of parameter servers")
    blocks: list[BlockDocument] = Field(min_length=1, description="parameter blocks in the network's order")

    def to_instance(self) -> ParametersInstance:
        """Return the instance that the file describes."""
        return ParametersInstance(
            name=self.name,
            description=self.description,
            source=self.source,
            servers=self.servers,
            shapes=tuple(tuple(block.shape) for block in self.blocks),
            labels=tuple(block.label for block in self.blocks),
        )

    @classmethod
    def from_instance(cls, instance: ParametersInstance) -> Self:
        """Return the file content of an instance."""
        return cls(
            noun="parameters",
            version=1,
            name=instance.name,
            description=instance.description,
            source=instance.source,
            servers=instance.servers,
            blocks=[
                BlockDocument(label=label, shape=list(shape))
                for label, shape in zip(instance.labels, instance.shapes, strict=True)
            ],
        )


class PartDocument(Part):
    """Parameters of one block on one server."""

    server: Annotated[int, Field(ge=0, lt=MAX_SERVERS)] = Field(description="number of the server, from 0")
    parameters: Count = Field(description="parameters of the block that it holds")


class ParametersSolutionDocument(SolutionDocument):
    """Parts of every block, in the instance's order."""

    parts: list[list[PartDocument]]

    def to_solution(self) -> ParametersSolution:
        """Return the solution that the file describes."""
        return ParametersSolution(
            tuple(tuple((part.server, part.parameters) for part in parts) for parts in self.parts)
        )

    @classmethod
    def from_solution(cls, solution: ParametersSolution) -> Self:
        """Return the file content of a solution."""
        return cls(
            parts=[
                [PartDocument(server=server, parameters=amount) for server, amount in parts] for parts in solution.parts
            ]
        )
