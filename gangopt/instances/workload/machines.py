"""Machine lists published with job logs: Tiresias's cluster file, openb's nodes and Philly's machine list."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gangopt.base.errors import InputError
from gangopt.base.plugins import Extensible, resolve
from gangopt.instances.workload.notices import Tally
from gangopt.instances.workload.rows import Rows, header_of, read_bytes, read_rows
from gangopt.instances.workload.shown import shown

if TYPE_CHECKING:
    from gangopt.topology import Cluster

__all__ = ["CLUSTER_FORMATS", "ClusterFormat", "load_machines"]

_TIRESIAS = ("num_switch", "num_node_p_switch", "num_gpu_p_node", "num_cpu_p_node", "mem_p_node")
_OPENB = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
_PHILLY = ("machineId", "number of GPUs", "single GPU mem")

MAX_GPUS = 1_000_000


@dataclass(frozen=True)
class ClusterFormat:
    """Format of machine lists.

    Attributes
    ----------
    name : str
        Name of the format.
    summary : str
        Summary in one line, for listings and messages.
    target : str
        `module:function` of the reader. It takes the rows of the file, with the columns as text, and the path, and
        returns a Cluster.
    columns : tuple of str
        Columns of the header; a file is of this format if it has all of them.
    """

    name: str
    summary: str
    target: str
    columns: tuple[str, ...]

    def reader(self) -> Callable[[Rows, Path], Cluster]:
        """Import and return the function."""
        return cast("Callable[[Rows, Path], Cluster]", resolve(self.target))


_HOME = "gangopt.instances.workload.machines"

CLUSTER_FORMATS: Mapping[str, ClusterFormat] = Extensible(
    "cluster format",
    "gangopt.cluster_formats",
    ClusterFormat,
    lambda item: item.name,
    (
        ClusterFormat("tiresias", "Tiresias's cluster file", f"{_HOME}:_tiresias", _TIRESIAS),
        ClusterFormat("openb", "openb's nodes", f"{_HOME}:_openb", _OPENB),
        ClusterFormat("philly", "Philly's machine list", f"{_HOME}:_philly", _PHILLY),
    ),
)
"""Formats of machine lists by name, in the order in which they are tried; those of entry points come last."""


def load_machines(name_or_path: str | os.PathLike[str]) -> Cluster:
    """Return a named cluster, or the cluster in a node-link JSON file or a public machine list.

    Lists are recognised by their columns. Tiresias: a switch is a rack, mem_p_node is in GB. openb: cpu_milli / 1000
    is the number of cores, memory_mib / 1024 the memory in GB; nodes keep their names and share one rack. Philly:
    machines keep their names and share one rack; the memory of one GPU is the resource `gpu_memory` in GB. Entry points
    of the group `gangopt.cluster_formats` add further formats.

    Raises
    ------
    InputError
        If there is no such cluster or file, or the file is invalid or of another format.
    """
    from gangopt.topology import load_cluster

    path = Path(name_or_path)
    if path.suffix.lower() == ".json" or not path.is_file():
        return load_cluster(name_or_path)
    data = read_bytes(path)
    header = header_of(data)
    for form in CLUSTER_FORMATS.values():
        if set(form.columns) <= set(header):
            rows = read_rows(data, Tally(str(path)))
            rows.ignore_others(form.columns)
            return form.reader()(rows, path)
    raise InputError(
        f"{path}: unknown machine list with columns {', '.join(map(shown, header[:6]))}; known: "
        f"{', '.join(form.summary for form in CLUSTER_FORMATS.values())}, node-link JSON"
    )


def _tiresias(rows: Rows, path: Path) -> Cluster:
    from gangopt.topology import Cluster

    rows.numbers(*_TIRESIAS[:3], least=1, whole=True)
    rows.numbers(*_TIRESIAS[3:])
    if rows.frame.height != 1:
        raise InputError(
            f"{path}: a cluster file of the Tiresias simulator must have one row (got {rows.frame.height})"
        )
    row = rows.frame.row(0, named=True)
    total = row["num_switch"] * row["num_node_p_switch"] * row["num_gpu_p_node"]
    if total > MAX_GPUS:
        raise InputError(f"{path}: {total:,} GPUs exceed the limit of {MAX_GPUS:,}")
    return Cluster.uniform(
        racks=row["num_switch"],
        machines_per_rack=row["num_node_p_switch"],
        gpus_per_slot=row["num_gpu_p_node"],
        capacities={"cpu": row["num_cpu_p_node"], "memory": row["mem_p_node"]},
        name=path.stem,
        source=f"file {path.name}, cluster of the Tiresias simulator",
    )


def _openb(rows: Rows, path: Path) -> Cluster:
    rows.names("sn")
    rows.names("model", optional=True)
    rows.numbers("cpu_milli", "memory_mib")
    rows.numbers("gpu", whole=True)
    machines = [
        (row["sn"], row["gpu"], row["model"], {"cpu": row["cpu_milli"] / 1000, "memory": row["memory_mib"] / 1024})
        for row in rows.frame.iter_rows(named=True)
    ]
    return _cluster(machines, rows, path, "nodes of an openb cluster")


def _philly(rows: Rows, path: Path) -> Cluster:
    import polars as pl

    rows.names("machineId")
    rows.numbers("number of GPUs", whole=True)
    unit = pl.col("single GPU mem").str.strip_chars().str.strip_suffix("GB")
    rows.frame = rows.frame.with_columns(unit.alias("single GPU mem"))
    rows.numbers("single GPU mem", above=0)
    machines = [
        (row["machineId"], row["number of GPUs"], None, {"gpu_memory": row["single GPU mem"]})
        for row in rows.frame.iter_rows(named=True)
    ]
    return _cluster(machines, rows, path, "machines of Philly")


def _cluster(
    machines: Sequence[tuple[str, int, str | None, dict[str, float]]], rows: Rows, path: Path, what: str
) -> Cluster:
    """Return a cluster of named machines in one rack, with one slot per machine."""
    import networkx as nx

    from gangopt.topology import Cluster

    if sum(gpus for _, gpus, _, _ in machines) > MAX_GPUS:
        raise InputError(f"{path}: exceeds the limit of {MAX_GPUS:,} GPUs")
    graph: Any = nx.DiGraph(name=path.stem, source=f"file {path.name}, {what}")
    graph.add_node("cluster", level="cluster")
    graph.add_node("rack", level="rack")
    graph.add_edge("cluster", "rack")
    for line, (label, gpus, kind, capacities) in zip(rows.frame["line"], machines, strict=True):
        if label in graph:
            raise InputError(f"{path}: line {line}: duplicate machine {shown(label)}")
        graph.add_node(label, level="machine", capacities=capacities, gpu_type=kind if gpus else None)
        graph.add_edge("rack", label)
        for gpu in range(gpus):
            graph.add_node(f"{label}.gpu{gpu}", level="gpu")
            graph.add_edge(label, f"{label}.gpu{gpu}")
    return Cluster.from_graph(graph)
