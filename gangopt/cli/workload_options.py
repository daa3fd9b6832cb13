"""The options by which commands read, check and cut a job log, and the reading itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload
    from gangopt.topology import Cluster

__all__ = ["End", "Form", "GpuType", "Lenient", "Load", "Reading", "Source", "Start", "Throughputs", "User", "Vc"]

Source = Annotated[
    str, typer.Argument(metavar="FILE|NAME", help="Job log, or a name as workload/tiresias-testbed?seed=1.")
]
Form = Annotated[
    str | None, typer.Option("--format", metavar="F", help="Format of the file, instead of looking at it.")
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Leave out defective rows and jobs that do not fit, and count them.")
]
Start = Annotated[float | None, typer.Option("--from", metavar="S", help="First arrival to keep, s.")]
End = Annotated[float | None, typer.Option("--to", metavar="S", help="First arrival to leave out, s.")]
User = Annotated[str | None, typer.Option("--user", metavar="U", help="Keep this user's jobs.")]
Vc = Annotated[str | None, typer.Option("--vc", metavar="V", help="Keep this virtual cluster's jobs.")]
Load = Annotated[
    float, typer.Option("--load", metavar="X", help="Multiply the load: divide times between arrivals by X.")
]
Throughputs = Annotated[
    Path | None, typer.Option("--throughputs", metavar="FILE", help="Measured speeds in Gavel's layout.")
]
GpuType = Annotated[
    str | None, typer.Option("--gpu-type", metavar="T", help="GPU type in --throughputs; v100 by default.")
]


@dataclass(frozen=True)
class Reading:
    """What a command was told about a job log.

    Attributes
    ----------
    source : str
        File or name.
    form, throughputs, gpu_type : str or None or Path or None
        As for `load_workload`.
    lenient : bool
        Whether defective rows are left out and counted.
    start, end : float or None
        S, arrivals to keep, None for all.
    user, vc : str or None
        Whose jobs to keep, None for all.
    load : float
        Factor on the load.
    """

    source: str
    form: str | None = None
    lenient: bool = False
    start: float | None = None
    end: float | None = None
    user: str | None = None
    vc: str | None = None
    load: float = 1.0
    throughputs: Path | None = None
    gpu_type: str | None = None

    def read(self, machines: Cluster | None) -> Workload:
        """Return the jobs, cut and scaled.

        Parameters
        ----------
        machines : Cluster or None
            Cluster that the jobs have to fit, None for any.
        """
        from gangopt.instances.workload.catalogue import load_workload

        jobs = load_workload(
            self.source,
            format=self.form,
            cluster=machines,
            lenient=self.lenient,
            throughputs=self.throughputs,
            gpu_type=self.gpu_type,
        )
        jobs = jobs.slice(self.start, self.end, user=self.user, vc=self.vc)
        return jobs if self.load == 1.0 else jobs.scale_load(self.load)
