"""Named clusters, each with its source, and clusters from files."""

from __future__ import annotations

import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from gangopt.base import jsonfile
from gangopt.base.arguments import unknown
from gangopt.base.errors import InputError
from gangopt.topology import _checks
from gangopt.topology._cluster import Cluster
from gangopt.topology._groups import MachineGroup

__all__ = ["cluster_names", "load_cluster", "named_cluster", "save_cluster"]

_LONGEST_NAME = 80


def _optimus_testbed(name: str) -> Cluster:
    return Cluster.from_groups(
        [
            MachineGroup(7, capacities={"cpu": 16, "memory": 80}, name="cpu", bandwidth=1),
            MachineGroup(6, 2, capacities={"cpu": 8, "memory": 48}, gpu_type="GTX 1080 Ti", name="gpu", bandwidth=1),
        ],
        name=name,
        description=(
            "Seven CPU servers (two 8-core E5-2650, 80 GB) and six GPU servers (one 8-core E5-1660, 48 GB, two "
            "GTX 1080 Ti) on one 48-port 1 GbE switch, hence one rack. The paper gives no slots: one a GPU server."
        ),
        source="Optimus (EuroSys 2018), testbed of the evaluation section",
    )


def _tiresias_testbed(name: str) -> Cluster:
    return Cluster.uniform(
        machines_per_rack=15,
        gpus_per_slot=4,
        capacities={"cpu": 20, "memory": 256},
        gpu_type="P100",
        bandwidth=100,
        name=name,
        description=(
            "Fifteen IBM PowerNV 8335-GTB of ConFlux: two 10-core POWER8, 256 GB, four P100 (16 GB) with NVLink, 100 "
            "Gb/s EDR InfiniBand. cpu counts cores (8 threads each). The paper gives no racks and no slots: one rack, "
            "one slot a machine."
        ),
        source="Tiresias (NSDI 2019), section 5.1",
    )


def _philly_2017(name: str) -> Cluster:
    return Cluster.from_groups(
        [MachineGroup(100, 4, bandwidth=100), MachineGroup(250, 8, bandwidth=100)],
        name=name,
        description=(
            "Microsoft's Philly in late 2017: about 100 servers of 4 GPUs, joined by more than 250 of 8, on 100 Gb/s "
            "InfiniBand. Both counts are rounded: as listed they make 2,400 GPUs, 6 times the 400 of 2016, where "
            "the paper says 5 times. It gives no racks, slots, GPU types, CPUs or memory: one rack, one slot a machine."
        ),
        source="Tiresias (NSDI 2019), appendix A",
    )


def _themis_testbed(name: str) -> Cluster:
    return Cluster.from_groups(
        [MachineGroup(8, 2, gpu_type="K80"), MachineGroup(12, 4, gpu_type="K80")],
        name=name,
        description=(
            "Azure machines: 8 of the NC12 series with 2 K80 and 12 of the NC24 series with 4, 64 GPUs. The paper "
            "gives no racks, slots, CPUs, memory or bandwidths: one rack, one slot a machine."
        ),
        source="THEMIS (NSDI 2020), testbed of the evaluation section",
    )


def _themis_simulator(name: str) -> Cluster:
    return Cluster.from_groups(
        [MachineGroup(16, 8, slots=4), MachineGroup(6, 4, slots=4), MachineGroup(16, 1)],
        name=name,
        description=(
            "16 machines of 8 GPUs (4 slots x 2), 6 of 4 (4 slots x 1) and 16 of 1. The list sums to 168 GPUs, while "
            "the text of the paper calls it a 256 GPU cluster; the list is kept. It gives no racks, GPU types, "
            "CPUs, memory or bandwidths: one rack."
        ),
        source="THEMIS (NSDI 2020), footnote 6",
    )


def _dgx_h100_superpod(name: str) -> Cluster:
    return Cluster.uniform(
        racks=8,
        machines_per_rack=4,
        gpus_per_slot=8,
        capacities={"cpu": 112, "memory": 2048},
        gpu_type="H100",
        bandwidth=3200,
        name=name,
        description=(
            "One scalable unit of 32 DGX H100: eight H100 behind NVSwitch, two 56-core CPUs, 2 TB, eight 400 Gb/s "
            "ports for computation. Four machines a rack as drawn; the rail-optimised leaf switches, each of which "
            "serves one port of every machine, are no tree and are left out."
        ),
        source="NVIDIA DGX SuperPOD reference architecture for DGX H100 (RA-11333-001), 2023",
    )


def _nvl72_row(name: str) -> Cluster:
    return Cluster.uniform(
        racks=8,
        machines_per_rack=18,
        gpus_per_slot=4,
        capacities={"cpu": 144, "memory": 960},
        gpu_type="GB200",
        bandwidth=1600,
        name=name,
        description=(
            "One scalable unit of eight NVL72 racks in a row: 18 compute trays a rack, each with four Blackwell GPUs "
            "and two 72-core Grace CPUs with 480 GB each. The 72 GPUs of a rack are one NVLink domain, represented by "
            "the level rack; bandwidth is that of a tray's four 400 Gb/s ports."
        ),
        source="NVIDIA DGX SuperPOD reference architecture for DGX GB200, and the GB200 NVL72 specification",
    )


_BUILDERS: dict[str, Callable[[str], Cluster]] = {
    "dgx-h100-superpod": _dgx_h100_superpod,
    "nvl72-row": _nvl72_row,
    "optimus-testbed": _optimus_testbed,
    "philly-2017": _philly_2017,
    "themis-simulator": _themis_simulator,
    "themis-testbed": _themis_testbed,
    "tiresias-testbed": _tiresias_testbed,
}


def cluster_names(pattern: str = "*") -> list[str]:
    """Return the names of the named clusters that match a shell pattern, in alphabetical order."""
    return [name for name in sorted(_BUILDERS) if fnmatchcase(name, pattern)]


def named_cluster(name: str) -> Cluster:
    """Return the named cluster; its annotations hold the source and the gaps of the source.

    Raises
    ------
    InputError
        If there is no cluster of this name; the message gives near matches.
    """
    if not isinstance(name, str) or name not in _BUILDERS:
        raise unknown(
            "cluster", name[:_LONGEST_NAME] if isinstance(name, str) else _checks.shown(name), cluster_names()
        )
    return _BUILDERS[name](name)


def load_cluster(name_or_path: str | os.PathLike[str]) -> Cluster:
    """Return a named cluster, or the cluster in a node-link JSON file.

    Parameters
    ----------
    name_or_path : str or path
        A name of `cluster_names`, which takes precedence, or a path. Text counts as a path if it ends in ``.json``,
        has a directory part or exists. A path object is always a path.

    Raises
    ------
    InputError
        If there is neither such a name nor such a file, or the file is not a cluster; the message names the file and
        the field.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(f"a cluster must be given by name or path (got {_checks.shown(name_or_path)})")
    if isinstance(name_or_path, str):
        is_path = name_or_path.endswith(".json") or os.sep in name_or_path or _exists(name_or_path)
        if name_or_path in _BUILDERS or not is_path:
            return named_cluster(name_or_path)
    path = Path(name_or_path)
    data = jsonfile.read_json(path)
    try:
        return Cluster.from_node_link(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def save_cluster(cluster: Cluster, path: str | os.PathLike[str], *, edges: str = "edges") -> None:
    """Write a cluster as node-link JSON that `load_cluster` reads back to an equal cluster.

    Parameters
    ----------
    cluster : Cluster
        The cluster.
    path : str or path
        File to write; it is written completely or not at all.
    edges : {"edges", "links"}
        Key of the list of edges; see `Cluster.to_node_link`.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    jsonfile.write_json(path, cluster.to_node_link(edges=edges))


def _exists(path: str) -> bool:
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):
        return False
