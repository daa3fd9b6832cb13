"""Reader of machine lists in the format `gpu-types`: number of machines and GPUs per machine of each type."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gangopt.base.errors import InputError
from gangopt.instances.workload.machines import ClusterFormat

if TYPE_CHECKING:
    from gangopt.instances.workload.rows import Rows
    from gangopt.topology import Cluster

__all__ = ["FORMAT", "read_machines"]

FORMAT = ClusterFormat(
    "gpu-types",
    "machines by GPU type",
    "gangopt_gavel.machines:read_machines",
    ("gpu_type", "machines", "gpus_per_machine"),
)


def read_machines(rows: Rows, path: Path) -> Cluster:
    """Return a cluster of one rack with the machines of all rows."""
    from gangopt.topology import Cluster, MachineGroup

    rows.names("gpu_type")
    rows.numbers("machines", "gpus_per_machine", least=1, whole=True)
    groups = [
        MachineGroup(row["machines"], row["gpus_per_machine"], gpu_type=row["gpu_type"], name=row["gpu_type"])
        for row in rows.frame.iter_rows(named=True)
    ]
    if not groups:
        raise InputError(f"{path}: there must be at least one machine")
    return Cluster.from_groups(groups, name=path.stem, source=f"file {path.name}, machines by GPU type")
