"""Named instances with their optima, generators, clusters and file formats for `gangopt list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import InputError
from gangopt.catalogue import entry, families, names
from gangopt.instances.workload.catalogue import workload_templates
from gangopt.registry.records import problems
from gangopt.reporting.text import aligned, column_widths, format_number

if TYPE_CHECKING:
    from gangopt.instances.workload.machines import ClusterFormat
    from gangopt.instances.workload.reading import Format
    from gangopt.registry.problem import Family

__all__ = ["listing_json", "listing_text"]

WIDEST_NAME = 58
"""Width of the column of names; what follows a longer name is pushed to the right."""


def listing_json(pattern: str) -> dict[str, Any]:
    """Return the instances, families, clusters and formats that match a pattern.

    Parameters
    ----------
    pattern : str
        Shell pattern, or part of a name.

    Returns
    -------
    dict
        `instances`, `families`, `clusters`, `workload_formats` and `cluster_formats`, lists of records.

    Raises
    ------
    InputError
        If nothing matches.
    """
    from gangopt.instances.workload.machines import CLUSTER_FORMATS
    from gangopt.instances.workload.recognition import FORMATS
    from gangopt.topology import cluster_names, named_cluster

    instances = [vars(record) for name in names(pattern) if (record := entry(name)) is not None]
    word = pattern.strip("*").rstrip("/")
    made = [
        {"template": template, "summary": family.summary}
        for noun in problems
        for template, family in _families(noun)
        if (word == noun if word in problems else word in template)
    ]
    if word not in problems:
        made += [
            {"template": template, "summary": family.summary}
            for template, family in workload_templates()
            if word in template
        ]
    matching = cluster_names(pattern if any(mark in pattern for mark in "*?[") else f"*{pattern}*")
    clusters = [{"name": name, "description": named_cluster(name).description} for name in matching]
    logs, machines = ({}, {}) if word in problems else (FORMATS, CLUSTER_FORMATS)
    listing = {
        "instances": instances,
        "families": made,
        "clusters": clusters,
        "workload_formats": _named(logs, word),
        "cluster_formats": _named(machines, word),
    }
    if not any(listing.values()):
        raise InputError(f"nothing matches {pattern!r}; `gangopt list` lists everything")
    return listing


def _families(noun: str) -> list[tuple[str, Family]]:
    try:
        return list(families(noun))
    except Exception as error:  # a plugin with errors must not break the list
        problems.excuse(noun, error)
        return []


def _named(formats: Mapping[str, Format] | Mapping[str, ClusterFormat], word: str) -> list[dict[str, str]]:
    return [{"name": item.name, "summary": item.summary} for item in formats.values() if word in item.name]


def listing_text(pattern: str) -> str:
    """Return the listing as aligned lines.

    Parameters
    ----------
    pattern : str
        Shell pattern, or part of a name.

    Returns
    -------
    str
        Several lines without a trailing newline.
    """
    listing = listing_json(pattern)
    lines: list[str] = []
    if listing["instances"]:
        rows = [(item["name"], _proof(item), item["title"]) for item in listing["instances"]]
        lines += _section("instances", rows)
    if listing["families"]:
        lines += _section("families", [(item["template"], item["summary"]) for item in listing["families"]])
    if listing["clusters"]:
        lines += _section("clusters", [(item["name"], _sentence(item["description"])) for item in listing["clusters"]])
    for key, title in (("workload_formats", "formats of job logs"), ("cluster_formats", "formats of machine lists")):
        if listing[key]:
            lines += _section(title, [(item["name"], item["summary"]) for item in listing[key]])
    return "\n".join(lines).strip("\n")


def _proof(item: dict[str, Any]) -> str:
    if item["best"] is None:
        return "open"
    unit = f" {item['unit']}" if item["unit"] else ""
    best = item["best"] if item["best"] < 1e6 else round(item["best"])
    return f"{format_number(best)}{unit}, {item['status']}"


def _sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def _section(title: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    first, *widths = column_widths(rows)
    sides = ["left"] * len(rows[0])
    return [f"{title}:", *aligned(rows, sides, indent=2, widths=[min(WIDEST_NAME, first), *widths]), ""]
