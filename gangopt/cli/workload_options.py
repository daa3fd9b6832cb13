"""Options that select, check and scale the jobs of a log, and the reading of the log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gangopt.instances.workload.workload import Workload
    from gangopt.topology import Cluster

__all__ = ["End", "Form", "GpuType", "Lenient", "Load", "Reading", "Source", "Start", "Throughputs", "User", "Vc"]

Source = Annotated[str, typer.Argument(metavar="FILE|NAME", help="Job log, or the name of a generated workload.")]
Form = Annotated[str | None, typer.Option("--format", metavar="F", help="Format of the log; default: detected.")]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Skip invalid rows and jobs too large for the cluster, and report how many.")
]
Start = Annotated[float | None, typer.Option("--from", metavar="S", help="Keep jobs that arrive at S s or later.")]
End = Annotated[float | None, typer.Option("--to", metavar="S", help="Keep jobs that arrive before S s.")]
User = Annotated[str | None, typer.Option("--user", metavar="U", help="Keep only the jobs of this user.")]
Vc = Annotated[str | None, typer.Option("--vc", metavar="V", help="Keep only the jobs of this virtual cluster.")]
Load = Annotated[
    float, typer.Option("--load", metavar="X", help="Scale the load by X: divide interarrival times by X.")
]
Throughputs = Annotated[
    Path | None, typer.Option("--throughputs", metavar="FILE", help="File of measured speeds in Gavel's layout.")
]
GpuType = Annotated[
    str | None, typer.Option("--gpu-type", metavar="T", help="GPU type to read from --throughputs; default: v100.")
]


@dataclass(frozen=True)
class Reading:
    """The options with which a job log is read.

    Attributes
    ----------
    source : str
        File or name.
    form, throughputs, gpu_type : str or None or Path or None
        Arguments of `load_workload`.
    lenient : bool
        Whether to skip and count invalid rows.
    start, end : float or None
        First arrival to keep and first one to skip, in s; None for no limit.
    user, vc : str or None
        User and virtual cluster whose jobs to keep, None for all.
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
        """Return the selected jobs with the scaled load.

        Parameters
        ----------
        machines : Cluster or None
            Cluster that the jobs must fit, None for no check.
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
