"""Loading of workloads: named generators, files of gangopt, and public logs of known formats."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from gangopt.base.arguments import bind, join_name, split_name, unknown
from gangopt.base.errors import InputError
from gangopt.base.family import Family
from gangopt.instances.workload.notices import Tally
from gangopt.instances.workload.signs import signs_of
from gangopt.instances.workload.workload import Workload

if TYPE_CHECKING:
    from gangopt.topology import Cluster

__all__ = ["FAMILIES", "PREFIX", "is_workload_name", "load_workload", "workload_templates"]

PREFIX = "workload/"
"""Prefix of the names of generated workloads."""

_HOME = "gangopt.instances.workload.generate"

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family("tiresias-testbed", f"{_HOME}.tiresias:tiresias_testbed", "480 jobs of the Tiresias testbed"),
            Family("optimus-uniform", f"{_HOME}.optimus:optimus_uniform", "nine jobs of the Optimus testbed"),
            Family("optimus-poisson", f"{_HOME}.optimus:optimus_poisson", "Optimus's jobs, 3 an interval"),
            Family("optimus-bursts", f"{_HOME}.optimus:optimus_bursts", "Optimus's jobs, arriving in bursts"),
            Family("themis-1", f"{_HOME}.themis:themis_1", "THEMIS workload 1: apps of jobs of 1 and 2 GPUs"),
            Family("themis-2", f"{_HOME}.themis:themis_2", "THEMIS workload 2: Hyperband-shaped apps"),
            Family("philly-like", f"{_HOME}.philly:philly_like", "jobs with Philly's heavy tail"),
        )
    }
)
"""Generators of workloads by name."""


def workload_templates() -> list[tuple[str, Family]]:
    """Return the name with arguments and defaults, and the record, of each generator."""
    return [
        (f"{PREFIX}{family.name}?{'&'.join(item.describe() for item in family.parameters().values())}", family)
        for family in FAMILIES.values()
    ]


def is_workload_name(text: str) -> bool:
    """Return whether a text names a generated workload rather than a file."""
    return text.startswith(PREFIX) and not Path(text).exists()


def load_workload(
    name_or_path: str | os.PathLike[str],
    *,
    format: str | None = None,
    cluster: Cluster | None = None,
    lenient: bool = False,
    throughputs: str | os.PathLike[str] | None = None,
    gpu_type: str | None = None,
) -> Workload:
    """Return a generated workload by name, or the workload in a file.

    Parameters
    ----------
    name_or_path : str or path-like
        `workload/<generator>?<arguments>`, or the path of a file.
    format : str or None, optional
        One of `FORMATS`, or `gangopt` for its own files; None recognises the format.
    cluster : Cluster or None, optional
        Cluster that every job must fit.
    lenient : bool, optional
        Skip invalid rows and jobs that do not fit, and count them in `notices`, instead of raising.
    throughputs : str, path-like or None, optional
        Table in Gavel's layout, for formats with steps but no running times.
    gpu_type : str or None, optional
        GPU type in that table; v100 by default.

    Raises
    ------
    InputError
        If the name is unknown, or the file is invalid or of unknown format; the message gives the file, the line or
        entry, and the defect.
    """
    text = os.fspath(name_or_path)
    if isinstance(name_or_path, str) and is_workload_name(text):
        if format is not None or throughputs is not None:
            raise InputError(f"{text}: generated workloads do not accept format or throughputs")
        workload = _generate(text)
    else:
        workload = _read(Path(text), format, cluster, lenient, throughputs, gpu_type)
        workload = replace(workload, notices=(*workload.notices, *signs_of(workload.frame)))
    if cluster is None:
        return workload
    from gangopt.instances.workload.fit import check_fit

    return check_fit(workload, cluster, lenient)


def _generate(text: str) -> Workload:
    base, arguments = split_name(text.removeprefix(PREFIX))
    if base not in FAMILIES:
        raise unknown("workload", text, [f"{PREFIX}{name}" for name in FAMILIES])
    family = FAMILIES[base]
    values = bind(family.parameters(), arguments, text)
    workload: Workload = family.generator()(**values)
    return replace(workload, name=f"{PREFIX}{join_name(base, values)}")


def _read(
    path: Path,
    name: str | None,
    cluster: Cluster | None,
    lenient: bool,
    throughputs: str | os.PathLike[str] | None,
    gpu_type: str | None,
) -> Workload:
    from gangopt.instances.workload.files import NATIVE, is_native, read_native
    from gangopt.instances.workload.reading import Source, finish
    from gangopt.instances.workload.recognition import FORMATS, format_named, reader_of, recognise
    from gangopt.instances.workload.rows import read_bytes

    if name is not None and name not in {NATIVE, *FORMATS}:
        raise unknown("format of job logs", name, [NATIVE, *FORMATS])
    data = read_bytes(path)
    table = None if throughputs is None else Path(throughputs)
    source = Source(path, data, Tally(str(path), lenient), cluster, table, gpu_type)
    if name == NATIVE or (name is None and is_native(data)):
        return read_native(source)
    form = recognise(data, str(path)) if name is None else format_named(name)
    return finish(reader_of(form)(source), source, form)
