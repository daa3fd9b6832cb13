"""Certificates of an allocation as text for a terminal and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gangopt.base.errors import shorten
from gangopt.instances.fair_share.market import bundles_of
from gangopt.instances.fair_share.text import place_text
from gangopt.reporting.text import aligned, format_short
from gangopt.solvers.fair_share.certificates import Certificates, Given, SavedAllocation

__all__ = ["certificates_json", "certificates_text", "exchange"]

SHOWN = 20
"""Maximum number of printed apps or pairs below one heading."""


def exchange(before: Given, after: Given) -> tuple[int, ...] | None:
    """Return the exchange of bundles between apps that turns one allocation into another, or None.

    Parameters
    ----------
    before, after : Given
        GPUs of each app on each machine.

    Returns
    -------
    tuple of int or None
        Index of the former owner of the bundle of each app, None if no exchange does it. An app whose bundle is equal
        before and after keeps its own.
    """
    left = {i: row for i, row in enumerate(before) if after[i] != row}
    owners = []
    for i, row in enumerate(after):
        owner = i if i not in left else next((j for j, other in left.items() if other == row), None)
        if owner is None:
            return None
        owners.append(owner)
    return tuple(owners) if sorted(owners) == list(range(len(before))) else None


def certificates_json(saved: SavedAllocation, found: Certificates) -> dict[str, Any]:
    """Return the certificates as a JSON object; an infinite rho becomes the text `inf`.

    Parameters
    ----------
    saved : SavedAllocation
        The allocation.
    found : Certificates
        Its certificates.

    Returns
    -------
    dict
        `instance, problem, method, apps, certificates` with `PE`, `EF` and `SI`, and `seconds`; `holds` is null
        where the time limit left a property undecided.
    """
    labels = saved.market.apps
    return {
        "instance": saved.instance,
        "problem": saved.problem,
        "method": saved.method,
        "apps": _allocation(saved, saved.rows, found.rho),
        "certificates": {
            "PE": {"holds": found.pareto_efficient, "witness": _witness(saved, found)},
            "EF": {
                "holds": found.envy_free,
                "pairs": [
                    {
                        "app": labels[item.app],
                        "envies": labels[item.other],
                        "rho": _plain(item.rho),
                        "rho_there": _plain(item.rho_there),
                    }
                    for item in found.envy
                ],
            },
            "SI": {
                "holds": found.sharing_incentive,
                "apps": [{"app": labels[i], "rho": _plain(found.rho[i])} for i in found.above_one],
                "attainable": True if found.sharing_incentive else found.sharing_exists,
                "witness": _sharing(saved, found),
            },
        },
        "seconds": found.seconds,
    }


def _witness(saved: SavedAllocation, found: Certificates) -> dict[str, Any] | None:
    if found.dominating is None or found.dominating_rho is None:
        return None
    owners = exchange(saved.rows, found.dominating)
    labels = saved.market.apps
    moved = (
        None
        if owners is None
        else [{"app": labels[i], "takes_bundle_of": labels[j]} for i, j in enumerate(owners) if i != j]
    )
    return {"apps": _allocation(saved, found.dominating, found.dominating_rho), "exchange": moved}


def _sharing(saved: SavedAllocation, found: Certificates) -> dict[str, Any] | None:
    if found.sharing is None:
        return None
    values = [saved.market.value(i, row) for i, row in enumerate(found.sharing)]
    return {"apps": _allocation(saved, found.sharing, [1 / value for value in values])}


def _allocation(saved: SavedAllocation, rows: Given, rho: Sequence[float]) -> list[dict[str, Any]]:
    return [
        {
            "app": app,
            "gpus": sum(row),
            "rho": _plain(ratio),
            "bundle": [{"machine": saved.machines[m], "gpus": count} for m, count in bundle],
        }
        for app, row, ratio, bundle in zip(saved.market.apps, rows, rho, bundles_of(rows), strict=True)
    ]


def _plain(ratio: float) -> float | str:
    return ratio if math.isfinite(ratio) else str(ratio)


def certificates_text(saved: SavedAllocation, found: Certificates) -> str:
    """Return the certificates as lines for a terminal.

    Parameters
    ----------
    saved : SavedAllocation
        The allocation.
    found : Certificates
        Its certificates.

    Returns
    -------
    str
        One line for each property, then the witnesses of the properties that fail.
    """
    said = {True: "yes", False: "no", None: "not decided within the time limit"}
    lines = [
        f"{saved.instance}" + (f", {saved.method}" if saved.method else ""),
        "",
        f"PE  Pareto efficient   {said[found.pareto_efficient]}",
        f"EF  envy-free          {said[found.envy_free]}",
        f"SI  sharing incentive  {said[found.sharing_incentive]}",
    ]
    return "\n".join(lines + _pareto_lines(saved, found) + _envy_lines(saved, found) + _sharing_lines(saved, found))


def _pareto_lines(saved: SavedAllocation, found: Certificates) -> list[str]:
    if found.dominating is None or found.dominating_rho is None:
        return []
    owners = exchange(saved.rows, found.dominating)
    labels = saved.market.apps
    lines = ["", "PE fails: better for some apps and worse for none is"]
    if owners is not None:
        lines[-1] += " an exchange: " + _some(_moves(owners, labels))
    bundles = bundles_of(found.dominating)
    rows = [
        (_short(app), format_short(now), format_short(then), place_text(saved.machines, bundle))
        for app, now, then, bundle in zip(labels, found.rho, found.dominating_rho, bundles, strict=True)
    ]
    return lines + _app_table(("app", "rho", "rho then", "machines then"), rows)


def _app_table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    sides, widths = ("left", *("right" for _ in heads[2:]), "left"), (24, *(9 for _ in heads[2:]), 0)
    head, *lines = aligned([heads, *rows], sides, indent=2, widths=widths)
    return [head, *_cut(lines)]


def _moves(owners: tuple[int, ...], labels: tuple[str, ...]) -> list[str]:
    """Return one phrase for each app that takes the GPUs of another; a swap of two apps gives one phrase."""
    moves = []
    for i, j in enumerate(owners):
        if owners[j] == i < j:
            moves.append(f"{_short(labels[i])} and {_short(labels[j])} swap their GPUs")
        elif owners[j] != i:
            moves.append(f"{_short(labels[i])} takes the GPUs of {_short(labels[j])}")
    return moves


def _envy_lines(saved: SavedAllocation, found: Certificates) -> list[str]:
    if found.envy_free:
        return []
    labels = saved.market.apps
    lines = [
        f"  {_short(labels[item.app])} envies {_short(labels[item.other])}: "
        f"rho {format_short(item.rho_there)} with its GPUs, {format_short(item.rho)} with its own"
        for item in found.envy
    ]
    pairs = f"{len(found.envy):,} pair" + ("s" if len(found.envy) > 1 else "")
    return ["", f"EF fails: {pairs}", *_cut(lines)]


def _sharing_lines(saved: SavedAllocation, found: Certificates) -> list[str]:
    if found.sharing_incentive:
        return []
    labels = saved.market.apps
    above = [f"{_short(labels[i])} {format_short(found.rho[i])}" for i in found.above_one]
    exists = {
        True: "An allocation that gives every app its own:",
        False: "No allocation gives every app its own.",
        None: "It was not decided within the time limit whether any allocation gives every app its own.",
    }[found.sharing_exists]
    lines = ["", f"SI fails: rho above 1 for {_some(above)}", exists]
    if found.sharing is None:
        return lines
    values = [saved.market.value(i, row) for i, row in enumerate(found.sharing)]
    rows = [
        (_short(app), format_short(1 / value), place_text(saved.machines, bundle))
        for app, value, bundle in zip(labels, values, bundles_of(found.sharing), strict=True)
    ]
    return lines + _app_table(("app", "rho", "machines"), rows)


def _short(label: str) -> str:
    return shorten(label, 24)


def _some(items: list[str]) -> str:
    rest = len(items) - SHOWN
    return ", ".join(items[:SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")


def _cut(lines: list[str]) -> list[str]:
    rest = len(lines) - SHOWN
    return lines[:SHOWN] + ([f"  ... and {rest:,} more; --json gives all"] if rest > 0 else [])
