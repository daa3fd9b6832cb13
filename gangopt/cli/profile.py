"""Command `profile`: iteration time, model size and skew from a message log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gangopt.base.errors import InputError
from gangopt.base.interrupts import unless_interrupted
from gangopt.cli.options import AsJson
from gangopt.cli.output import print_json, require_whole

__all__ = ["HISTORY", "profile"]

HISTORY = "threshold/tiresias-figure3"
"""Instance from which PACKLIMIT is learned if `--limit` is not given."""


def profile(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="Columns time (s), source, destination and bytes.")],
    prefix: Annotated[
        str, typer.Option("--ps", metavar="PREFIX", help="Prefix of the names of parameter servers.")
    ] = "ps",
    limit: Annotated[
        float | None, typer.Option("--limit", metavar="S", help=f"PACKLIMIT; default: learned from {HISTORY}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Profile a training job from its message log.

    Estimates iteration time, model size and skew, and advises whether to consolidate the job.
    """
    from gangopt.instances.profiling.message_log import read_log
    from gangopt.instances.profiling.profile import profile as profile_of

    if limit is not None and not 0 <= limit <= 1:
        raise InputError(f"--limit must be from 0 to 1 (got {limit})")
    log = read_log(file)
    try:
        found = profile_of(log, prefix)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    threshold = _learned() if limit is None else limit
    record: dict[str, Any] = {
        "file": str(file),
        "messages": len(log.sources),
        "period": found.period,
        "iterations": found.iterations,
        "received": found.received,
        "workers": list(found.workers),
        "model_bytes": found.model_bytes,
        "skew": found.skew,
        "limit": threshold,
        "sensitive": found.skew > threshold,
        "servers": [
            {
                "name": server.name,
                "bytes": server.bytes,
                "share": server.share,
                "skew": server.skew,
                "tensors": [{"bytes": size, "count": count} for size, count in server.tensors],
            }
            for server in found.servers
        ],
    }
    require_whole()
    print_json(record) if as_json else typer.echo(_text(record))


def _learned() -> float:
    """Return the threshold that misclassifies the fewest cases of the published history."""
    import gangopt

    return float(unless_interrupted(gangopt.solve(gangopt.load(HISTORY))).solution.threshold)


def _text(record: dict[str, Any]) -> str:
    tensors = sum(item["count"] for server in record["servers"] for item in server["tensors"])
    advice = "above it: consolidate" if record["sensitive"] else "not above it: spread"
    servers, workers = len(record["servers"]), len(record["workers"])
    lines = [
        f"{record['messages']:,} messages, {servers} parameter servers, {workers} workers",
        f"period {record['period']:.6g} s, {record['iterations']:,} iterations",
        f"received {record['received']:.1%} of the expected messages",
        f"model {record['model_bytes'] / 2**20:.2f} MiB in {tensors:,} tensors",
        f"skew {record['skew']:.3f}, PACKLIMIT {record['limit']:.3f}, {advice}",
        *(
            f"  {server['name']}: {server['bytes'] / 2**20:.2f} MiB, {server['share']:.1%} of the model, "
            f"skew {server['skew']:.3f}"
            for server in record["servers"]
        ),
    ]
    return "\n".join(lines)
