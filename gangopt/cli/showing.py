"""JSON and plots of one instance or cluster for `gangopt show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gangopt.base.contract import Instance
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import file_kind, read_json
from gangopt.catalogue import to_document

if TYPE_CHECKING:
    from gangopt.topology import Cluster

__all__ = ["cluster_of", "document_of", "picture_of"]


def cluster_of(name: str) -> Cluster | None:
    """Return the cluster with a given name or node-link file, or None for anything else.

    Parameters
    ----------
    name : str
        Cluster name, path of a node-link file, or anything else.
    """
    from gangopt.topology import cluster_names, load_cluster

    if name in cluster_names():
        return load_cluster(name)
    kind = file_kind(name)
    if kind == "file" or (kind == "stream" and name.endswith(".json")):
        value = read_json(name)
        if isinstance(value, dict) and "nodes" in value:
            return load_cluster(name)
    return None


def document_of(subject: Instance | Cluster) -> Any:
    """Return the JSON document of an instance or a cluster."""
    return to_document(subject) if isinstance(subject, Instance) else subject.to_node_link()


def picture_of(subject: Instance | Cluster, path: Path) -> None:
    """Plot a cluster.

    Parameters
    ----------
    subject : Instance or Cluster
        The cluster.
    path : Path
        Path with suffix .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the subject is an instance, or the path cannot be written.
    """
    from gangopt.reporting.plots import check_picture_suffix, save_picture

    check_picture_suffix(path)
    if isinstance(subject, Instance):
        raise InputError(f"{path}: only clusters can be plotted; write an instance as .json")
    from gangopt.topology import draw

    save_picture(draw(subject), path)
