"""Formats of job logs by name, and their recognition by the columns of a file."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from typing import cast

from gangopt.base.errors import InputError
from gangopt.base.plugins import Extensible
from gangopt.instances.workload.columns import COLUMNS
from gangopt.instances.workload.files import REQUIRED, headers_of, missing_column
from gangopt.instances.workload.formats import (
    adaptdl,
    elasticflow,
    gavel,
    helios,
    muri,
    openb,
    pai,
    philly,
    shockwave,
    tiresias,
)
from gangopt.instances.workload.reading import Draft, Format, Source
from gangopt.instances.workload.rows import header_of

__all__ = ["FORMATS", "format_named", "reader_of", "recognise"]

# muri and elasticflow come before tiresias, since their columns include those of tiresias
_READERS = (muri, elasticflow, tiresias, adaptdl, helios, openb, pai, gavel, shockwave, philly)

FORMATS: Mapping[str, Format] = Extensible(
    "format of job logs",
    "gangopt.workload_formats",
    Format,
    lambda item: item.name,
    tuple(module.FORMAT for module in _READERS),
)
"""Formats of job logs by name, in the order in which they are tried; those of entry points come last."""

_OTHERS = (
    (("num_switch", "num_node_p_switch", "num_gpu_p_node"), "a cluster of the Tiresias simulator"),
    (("sn", "cpu_milli", "memory_mib", "gpu"), "the nodes of an openb cluster"),
    (("machineid", "number of gpus"), "Philly's list of machines"),
    (("placement", "local_bsz", "step_time"), "step times by placement, for Pollux's simulator"),
    (("num_nodes", "num_replicas", "local_bsz", "step_time"), "step times by number of nodes, for Pollux's simulator"),
    (("global_batch_size",), "throughputs by number of GPUs, for ElasticFlow's simulator"),
    (("vc", "node num"), "the virtual clusters of Philly by their nodes"),
    (("id", "gpu_num", "job_num"), "a summary of the Helios clusters"),
    (("job_name", "inst_id", "user"), "the job table of PAI; the task table has the requests"),
)
"""Columns and descriptions of public files other than job logs."""


def format_named(name: str) -> Format:
    """Return a format by name; raise an InputError if it is unknown."""
    return FORMATS[name]


def reader_of(form: Format) -> Callable[[Source], Draft]:
    """Return the function that reads a format."""
    return cast("Callable[[Source], Draft]", importlib.import_module(form.module).read)


def recognise(data: bytes, origin: str) -> Format:
    """Return the format of a file, from its first line.

    Parameters
    ----------
    data : bytes
        Content of the file from `read_bytes`.
    origin : str
        Name of the file in messages.

    Raises
    ------
    InputError
        If the format is none of `FORMATS`; the message identifies other known public files.
    """
    if data.lstrip()[:1] in {b"[", b"{"}:
        if data.lstrip()[:1] == b"[":
            return FORMATS["philly"]
        raise InputError(f"{origin}: JSON object that is not a workload of gangopt; Philly's log is a list of jobs")
    tabs = data.lstrip(b"\n").split(b"\n", 1)[0].count(b"\t") + 1
    header = header_of(data)
    named = next((form for form in FORMATS.values() if form.required and set(form.required) <= set(header)), None)
    if named is not None:
        return named
    if header == ("duration",):
        raise InputError(f"{origin}: not a job log; it holds a sample of service times for Tiresias's Gittins index")
    held = next((what for columns, what in _OTHERS if set(columns) <= {name.lower() for name in header}), None)
    if held is not None:
        raise InputError(f"{origin}: not a job log; it holds {held}")
    if _is_task_row(header):
        return FORMATS["pai"]
    _refuse_other_spelling(data, origin)
    if tabs > 1:
        found = next((form for form in FORMATS.values() if form.separator == "\t" and tabs in form.fields), None)
        if found is None:
            raise InputError(f"{origin}: {tabs} tab-separated fields; gavel has 7 or 10, shockwave 12")
        return found
    columns = ", ".join(header[:6]) + (", ..." if len(header) > 6 else "")
    raise InputError(
        f"{origin}: unknown format with columns {columns}; {_nearest(header)}known: {', '.join(FORMATS)} and "
        f"gangopt ({', '.join(REQUIRED)} and optional columns such as duration)"
    )


def _refuse_other_spelling(data: bytes, origin: str) -> None:
    """Refuse tables in the own format with a missing column, and public formats with misspelled columns."""
    for names in headers_of(data).values():
        own = set(names) & set(COLUMNS)
        if len(own) > 1 and own & set(REQUIRED):
            raise InputError(f"{origin}: {missing_column(names)}; public formats: {', '.join(FORMATS)}")
        same = next((form for form in FORMATS.values() if form.required and set(form.required) <= set(names)), None)
        if same is not None:
            wanted = same.separator.join(same.required)
            raise InputError(f"{origin}: has the columns of format {same.name}; their spelling must be {wanted}")


def _nearest(header: tuple[str, ...]) -> str:
    """Describe the format of which the smallest part of the columns is missing, if that is less than half of them."""
    lacking = {
        form.name: [name for name in form.required if name not in header] for form in FORMATS.values() if form.required
    }
    name = min(lacking, key=lambda label: len(lacking[label]) / len(FORMATS[label].required))
    if 2 * len(lacking[name]) >= len(FORMATS[name].required):
        return ""
    return f"the closest format is {name}, which requires column {lacking[name][0]}; "


def _is_task_row(fields: tuple[str, ...]) -> bool:
    """Return whether the first line is a row of PAI's task table, which has no header.

    So that one invalid field does not hide the format, the status or the numbers (instances and times) must be valid.
    """
    if len(fields) != len(pai.HEADER):
        return False
    numbers = all(re.fullmatch(r"\d*\.?\d*", fields[place]) for place in (2, 4, 5))
    return fields[3] in pai.STATES or (numbers and fields[2] != "")
