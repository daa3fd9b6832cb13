"""Fields that the instance files of all place-dependent problems share: a cluster, its state, and requirements."""

from __future__ import annotations

from abc import ABC
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from gangopt.base.document import InstanceDocument, Part
from gangopt.base.errors import InputError
from gangopt.instances.on_cluster import ClusterInstance
from gangopt.topology import ANYWHERE, Requirement, cluster_content, cluster_of_content, state_content, state_of_content

__all__ = ["ClusterContent", "OnClusterDocument", "RequirementDocument", "requirement_content", "requirement_of"]

ClusterContent = Annotated[
    str | dict[str, Any],
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}],
            "description": (
                "name of a cluster, path of a cluster file (relative to this file), a table of machines, "
                "or node-link data (`gangopt schema cluster`)"
            ),
        }
    ),
]
"""A cluster inside an instance file; see `cluster_of_content`."""


class OnClusterDocument(InstanceDocument, ABC):
    """Fields that every instance file of version 2 has: the cluster and its state, beside those of its problem."""

    version: Literal[2] = Field(description="version of the file format")  # type: ignore[assignment]
    cluster: ClusterContent = Field(description="the cluster: a name, a path, or the tree")
    state: dict[str, Any] = Field(
        default={}, description="who holds what on it, and unavailable machines; empty if all is free"
    )

    def topology(self) -> dict[str, Any]:
        """Return the fields `cluster` and `state` of the instance; raise InputError that names the field at fault."""
        try:
            cluster = cluster_of_content(self.cluster)
        except InputError as error:
            raise InputError(f"field cluster: {error}") from None
        try:
            state = state_of_content(cluster, self.state)
        except InputError as error:
            raise InputError(f"field state: {error}") from None
        return {"cluster": cluster, "state": state}

    @staticmethod
    def topology_content(instance: ClusterInstance) -> dict[str, Any]:
        """Return the fields `version`, `cluster` and `state` of the file of an instance."""
        return {"version": 2, "cluster": cluster_content(instance.cluster), "state": state_content(instance.state)}


class RequirementDocument(Part):
    """Allowed machines and levels of a demand."""

    gpu_types: list[str] = Field(default=[], description="allowed GPU types; empty for any")
    labels: dict[str, str] = Field(default={}, description="labels that a machine must have")
    tolerates: list[str] = Field(default=[], description="keys of taints that are tolerated")
    level: str = Field(default="", description="level of which one node must contain all, e.g. rack; empty for none")
    preferred_level: str = Field(default="", description="level of which one node should contain all if possible")


def requirement_of(document: RequirementDocument | None) -> Requirement:
    """Return the requirement in a file; None requires nothing."""
    if document is None:
        return ANYWHERE
    return Requirement(
        gpu_types=tuple(document.gpu_types),
        labels=document.labels,
        tolerates=tuple(document.tolerates),
        level=document.level,
        preferred_level=document.preferred_level,
    )


def requirement_content(requirement: Requirement) -> RequirementDocument | None:
    """Return the file content of a requirement, None if it requires nothing."""
    if requirement == ANYWHERE:
        return None
    return RequirementDocument(
        gpu_types=list(requirement.gpu_types),
        labels=dict(requirement.labels),
        tolerates=list(requirement.tolerates),
        level=requirement.level,
        preferred_level=requirement.preferred_level,
    )
