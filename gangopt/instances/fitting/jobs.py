"""Fitted functions as jobs of an allocation instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gangopt.base.errors import InputError
from gangopt.base.types import Floats
from gangopt.instances.fitting.speed import SpeedFit

if TYPE_CHECKING:
    from gangopt.instances.allocation.document import AllocationDocument

__all__ = ["put_job", "speed_fields", "to_job", "to_speed_arrays"]


THETA_COLUMNS = 5


def to_speed_arrays(fits: Sequence[SpeedFit]) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return fitted speeds as the fields `mode`, `theta` and `batch` of an `AllocationInstance`.

    Parameters
    ----------
    fits : sequence of SpeedFit
        One fit per job.
    """
    theta = np.zeros((len(fits), THETA_COLUMNS))
    for row, fit in zip(theta, fits, strict=True):
        row[: len(fit.theta)] = fit.theta
    return tuple(fit.mode for fit in fits), theta, np.array([fit.batch or 0.0 for fit in fits])


def to_job(
    label: str,
    fit: SpeedFit,
    *,
    steps: float,
    worker: dict[str, float],
    parameter_server: dict[str, float],
    max_workers: int,
    max_ps: int,
    progress: float = 0.0,
) -> dict[str, Any]:
    """Return a fitted job as an entry of `jobs` in an allocation file.

    Parameters
    ----------
    label : str
        Name of the job.
    fit : SpeedFit
        Its fitted speed.
    steps : float
        Remaining steps Q.
    worker : dict of str to float
        Demand of one worker by resource, in the resource's unit.
    parameter_server : dict of str to float
        Demand of one parameter server by resource.
    max_workers : int
        Largest number of workers w.
    max_ps : int
        Largest number of parameter servers p.
    progress : float, optional
        Share of the steps that are done, from 0 to 1.

    Returns
    -------
    dict
        JSON values.

    Raises
    ------
    InputError
        If a value is invalid in an allocation file; the message gives the field.
    """
    from gangopt.base.document import validate
    from gangopt.instances.allocation.document import Job

    record = {
        "label": label,
        "steps": steps,
        "worker": worker,
        "parameter_server": parameter_server,
        "max_workers": max_workers,
        "max_parameter_servers": max_ps,
        "progress": progress,
        "source": f"speed fitted to {fit.samples} measurements of {fit.pairs} pairs",
        **speed_fields(fit),
    }
    return validate(Job, record, "job").model_dump(exclude_none=True)


def speed_fields(fit: SpeedFit) -> dict[str, Any]:
    """Return the fields of an allocation job for a fitted speed, as JSON values."""
    return {"mode": fit.mode, "theta": list(fit.theta), "batch": fit.batch, "table": None}


def put_job(document: AllocationDocument, label: str, fields: dict[str, Any]) -> AllocationDocument:
    """Return an allocation file with changed fields of a job, or with a new job at the end.

    Parameters
    ----------
    document : AllocationDocument
        Content of the file.
    label : str
        Name of the job to change, or of a new job.
    fields : dict of str to object
        Fields to set; all required ones for a new job.

    Returns
    -------
    AllocationDocument
        The changed file, from which a valid instance can be made.

    Raises
    ------
    InputError
        If a field of a new job is missing, or the instance is invalid.
    """
    from gangopt.base.document import validate
    from gangopt.instances.allocation.document import AllocationDocument

    record = document.model_dump()
    place = next((i for i, job in enumerate(record["jobs"]) if job["label"] == label), None)
    if place is None:
        known = ", ".join(job["label"] for job in record["jobs"][:5])
        missing = [name for name in ("steps", "mode", "worker") if name not in fields]
        if missing:
            raise InputError(
                f"job {label!r} is not in the file ({known}); a new job also requires {', '.join(missing)}"
            )
        record["jobs"].append({"label": label, **fields})
    else:
        record["jobs"][place] |= fields
    changed = validate(AllocationDocument, record, document.name)
    changed.to_instance()
    return changed
