"""Jobs of Microsoft's Philly, from a JSON list of jobs with several attempts, some without times."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import parse_json
from gangopt.instances.workload.notices import Tally
from gangopt.instances.workload.reading import Draft, Format, Source
from gangopt.instances.workload.rows import Rows
from gangopt.instances.workload.shown import shown

if TYPE_CHECKING:
    from gangopt.topology import Cluster

__all__ = ["FORMAT", "read"]

FORMAT = Format(
    "philly",
    "Philly cluster_job_log: JSON list of jobs with attempts",
    "gangopt.instances.workload.formats.philly",
)

_FIELDS = ("status", "vc", "jobid", "attempts", "submitted_time", "user")
_STATES = ("Pass", "Killed", "Failed")
_NO_TIME = (None, "None", "")
_CLOCK = "%Y-%m-%d %H:%M:%S"
_TIME = "a time such as 2017-10-07 01:11:39"


def read(source: Source) -> Draft:
    """Return the jobs of a Philly log; time 0 is the first submission in the file.

    The duration of a job is the total length of its attempts, its start that of the first attempt, and its gang that of
    the last attempt with GPUs. Attempts that lack start or end (absent or None), or end before they start, add nothing
    (`attempts-without-times`, `attempts-reversed`); the duration is then a lower limit (`censored-durations`), unless
    they lack both. Jobs whose attempts differ in GPUs are counted (`attempts-differ`). Jobs without GPUs are skipped
    (`no-gpus`); the duration of a job without timed attempts is unknown (`never-ran`). GPUs and times of the wrong type
    are errors (`bad-attempts`). Times are local and no time zone is applied.

    Given a cluster, GPUs on machines that it does not have (`machines-not-in-cluster`) and GPU numbers that their
    machine does not have (`gpus-not-in-machine`) are counted.

    References
    ----------
    Jeon et al.: Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads, USENIX ATC 2019.
    """
    import polars as pl

    tally = source.tally
    try:
        entries = parse_json(source.data.decode("utf-8"), tally.origin)
    except UnicodeDecodeError as error:
        raise InputError(f"{tally.origin}: not UTF-8 text (byte {error.start})") from None
    if not isinstance(entries, list):
        raise InputError(f"{tally.origin}: the file must be a list of jobs (got a {type(entries).__name__})")
    records = []
    for number, entry in enumerate(entries, start=1):
        where = f"entry {number}"
        defect = _defect(entry)
        if defect is not None:
            tally.refuse(defect[0], 1, f"{where}: {defect[1]}")
            continue
        if source.cluster is not None:
            _check_machines(entry, where, source.cluster, tally)
        record = _record(entry, where, tally)
        if record is not None:
            records.append({"line": number, **record})
    if not records:
        raise InputError(f"{tally.origin}: no valid jobs among the {len(entries)} in the file")
    rows = Rows(pl.DataFrame(records, infer_schema_length=None), tally, "entry")
    first = pl.col("submitted").min()
    columns = {
        "id": pl.col("jobid"),
        "arrival": pl.col("submitted") - first,
        "gpus": pl.col("gpus"),
        "duration": pl.col("seconds"),
        "censored": pl.col("censored"),
        "user": pl.col("user"),
        "vc": pl.col("vc"),
        "start": pl.when(pl.col("started") >= first).then(pl.col("started") - first),
        "status": pl.col("status"),
    }
    return Draft(rows, columns, "jobs of a Philly log, s since the first submission")


def _record(entry: dict[str, Any], where: str, tally: Tally) -> dict[str, Any] | None:
    """Return the job of a valid entry, or None if it has no GPUs."""
    others = [key for key in entry if key not in _FIELDS]
    tally.warn("ignored-fields", len(others), f"{where}: ignored fields: {', '.join(map(shown, others))}")
    attempts = entry["attempts"]
    sizes = [size for attempt in attempts if (size := _gpus(attempt, where, tally))]
    if not sizes:
        tally.warn("no-gpus", 1, f"{where}: no attempt has GPUs", dropped=True)
        return None
    tally.warn(
        "attempts-differ", int(len(set(sizes)) > 1), f"{where}: attempts have {sizes} GPUs; the last one is used"
    )
    seconds, started, whole = _run(attempts, where, tally)
    tally.warn("never-ran", int(seconds == 0), f"{where}: no attempt has a start and an end; its duration is unknown")
    return {
        "jobid": entry["jobid"].strip(),
        "submitted": _seconds(entry["submitted_time"]),
        "started": started,
        "seconds": seconds or None,
        "censored": seconds > 0 and not whole,
        "gpus": sizes[-1],
        "user": _name(entry.get("user")),
        "vc": _name(entry.get("vc")),
        "status": entry["status"],
    }


def _defect(entry: object) -> tuple[str, str] | None:
    """Return name and description of the first defect of an entry, or None if it is valid."""
    if not isinstance(entry, dict) or _name(entry.get("jobid")) is None:
        return "bad-entries", "must be an object with a jobid"
    if entry.get("status") not in _STATES:
        return "unknown-states", f"status must be Pass, Killed or Failed (got {shown(entry.get('status'))})"
    if _seconds(entry.get("submitted_time")) is None:
        return "bad-submitted_time", f"submitted_time must be {_TIME} (got {shown(entry.get('submitted_time'))})"
    return _field_defect(entry)


def _field_defect(entry: dict[str, Any]) -> tuple[str, str] | None:
    for field in ("user", "vc"):
        if not isinstance(entry.get(field), str | None):
            return "bad-entries", f"{field} must be text or null (got {shown(entry[field])})"
    attempts = entry.get("attempts")
    if not isinstance(attempts, list) or not all(isinstance(item, dict) for item in attempts):
        return "bad-entries", "attempts must be a list of objects"
    for number, attempt in enumerate(attempts, start=1):
        words = _attempt_defect(attempt)
        if words is not None:
            return "bad-attempts", f"attempt {number}: {words}"
    return None


def _attempt_defect(attempt: dict[str, Any]) -> str | None:
    """Describe the first invalid GPU or time of an attempt, or return None if it is valid."""
    for field in ("start_time", "end_time"):
        value = attempt.get(field)
        if value not in _NO_TIME and _seconds(value) is None:
            return f"{field} must be {_TIME}, None or null (got {shown(value)})"
    detail = attempt.get("detail")
    if detail is None:
        return None
    if not isinstance(detail, list):
        return f"detail must be a list of objects with ip and gpus (got {shown(detail)})"
    for item in detail:
        if not isinstance(item, dict) or _name(item.get("ip")) is None:
            return f"detail must hold objects with ip and gpus (got {shown(item)})"
        gpus = item.get("gpus")
        if not isinstance(gpus, list) or not all(_name(label) for label in gpus):
            return f"gpus of machine {item['ip']} must be a list of GPU names (got {shown(gpus)})"
    return None


def _run(attempts: list[dict[str, Any]], where: str, tally: Tally) -> tuple[float, float | None, bool]:
    """Return the total running time in s, the first start, and whether no part of the running time is missing."""
    total, starts, whole = 0.0, [], True
    for attempt in attempts:
        start, end = _seconds(attempt.get("start_time")), _seconds(attempt.get("end_time"))
        if start is not None:
            starts.append(start)
        if start is None or end is None:
            whole &= start is None and end is None
            tally.warn(
                "attempts-without-times",
                1,
                f"{where}: an attempt without start or end adds no running time",
            )
        elif end < start:
            whole = False
            tally.warn("attempts-reversed", 1, f"{where}: an attempt ends before it starts; it adds no running time")
        else:
            total += end - start
    return total, min(starts, default=None), whole


def _seconds(value: object) -> float | None:
    """Return a local time in seconds since 1970, or None if the value is not a time."""
    if not isinstance(value, str) or len(value) != 19:
        return None
    try:
        return (datetime.strptime(value, _CLOCK) - datetime(1970, 1, 1)).total_seconds()
    except ValueError:
        return None


def _gpus(attempt: dict[str, Any], where: str, tally: Tally) -> int:
    """Return the number of distinct GPUs of an attempt."""
    labels = [(machine, label) for machine, gpus in _places(attempt) for label in gpus]
    again = len(labels) - len(set(labels))
    tally.warn("repeated-gpus", again, f"{where}: duplicate GPU in an attempt, counted once")
    return len(set(labels))


def _places(attempt: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the machines of a valid attempt with their GPU labels."""
    return [(item["ip"].strip(), item["gpus"]) for item in attempt.get("detail") or []]


def _name(value: object) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _check_machines(entry: dict[str, Any], where: str, cluster: Cluster, tally: Tally) -> None:
    sizes = {label: int(size) for label, size in zip(cluster.machines, cluster.gpus_per_machine, strict=True)}
    for machine, gpus in (place for attempt in entry["attempts"] for place in _places(attempt)):
        if machine not in sizes:
            tally.warn("machines-not-in-cluster", 1, f"{where}: machine {shown(machine)} is not in the cluster")
        elif len(gpus) > sizes[machine] or any(_position(label) >= sizes[machine] for label in gpus):
            message = f"{where}: GPUs {', '.join(gpus)} on machine {machine}, which has {sizes[machine]}"
            tally.warn("gpus-not-in-machine", 1, message)


def _position(label: str) -> int:
    digits = label.removeprefix("gpu")
    return int(digits) if digits.isdecimal() else 0
