"""Allocation instances from CSV tables of measured throughput by GPU count."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangopt.base.arguments import number_in
from gangopt.base.checks import integer, number
from gangopt.base.errors import InputError, shown
from gangopt.base.jsonfile import read_text
from gangopt.instances.allocation.instance import AllocationInstance

__all__ = ["Curve", "read_throughputs", "table"]

BATCH_COLUMN = "global_batch_size"
MAX_GPUS = 4_096
MAX_CURVES = 10_000
MAX_JOBS = 100_000


@dataclass(frozen=True)
class Curve:
    """Measured speed of one model at one batch size.

    Attributes
    ----------
    label : str
        File name without suffix, and batch size, e.g. `bert-384`.
    speeds : tuple of float
        Steps per second on 1, 2, ... GPUs, up to the largest count of the file; nan if not measured.
    """

    label: str
    speeds: tuple[float, ...]


def table(file: str, gpus: int, hours: float = 10.0, jobs: int | None = None, seed: int = 0) -> AllocationInstance:
    """Return all-reduce jobs with measured throughput by GPU count, on one pool of GPUs.

    The CSV has a header `global_batch_size,1,2,4,...` (GPU counts) and a row for each batch size with speeds in steps
    per second; `nan`, 0 or an empty field marks a count on which the job does not run. Speeds may fall as GPUs are
    added. Workers are GPUs; there are no parameter servers: their count is 1 and their demand 0.

    Parameters
    ----------
    file : str
        A CSV file, or a directory whose CSV files are joined in the order of their names.
    gpus : int
        GPUs in the pool, at least 1.
    hours : float, optional
        Work of a job, in hours on the fewest GPUs that its row allows.
    jobs : int or None, optional
        None for one job per row, each with `hours` of work; otherwise the number of jobs, each with a random row and
        with work log-uniform from a tenth of `hours` to ten times `hours`.
    seed : int, optional
        Seed of the random number generator; used only with `jobs`.

    Raises
    ------
    InputError
        If a file or argument is invalid; the message names the file, line and column.
    """
    integer("allocation/table: gpus", gpus, 1, 10**9)
    number("allocation/table: hours", hours, above=0, high=1e6)
    if jobs is not None:
        integer("allocation/table: jobs", jobs, 1, MAX_JOBS)
    curves = read_throughputs(file)
    rng = np.random.default_rng(seed)
    if jobs is None:
        rows, work = np.arange(len(curves)), np.full(len(curves), hours)
        labels = tuple(curve.label for curve in curves)
    else:
        rows, work = rng.integers(0, len(curves), jobs), hours * 10 ** rng.uniform(-1, 1, jobs)
        labels = tuple(f"job-{j}-{curves[row].label}" for j, row in enumerate(rows.tolist()))
    slowest = np.array([next(speed for speed in curve.speeds if not math.isnan(speed)) for curve in curves])
    J = len(labels)
    return AllocationInstance(
        name="allocation/table",
        description=f"{J} all-reduce jobs with measured throughput on {gpus} GPUs",
        source=f"throughput tables {Path(file).name}",
        resources=("gpu",),
        units=("GPU",),
        capacity=np.array([float(gpus)]),
        jobs=labels,
        steps=work * 3600.0 * slowest[rows],
        mode=("table",) * J,
        theta=np.zeros((J, 5)),
        batch=np.zeros(J),
        tables=tuple(np.array([curve.speeds]) for curve in curves),
        table_labels=tuple(curve.label for curve in curves),
        table=rows,
        worker_demand=np.ones((J, 1)),
        ps_demand=np.zeros((J, 1)),
        max_workers=np.array([len(curves[row].speeds) for row in rows.tolist()]),
        max_ps=np.ones(J, dtype=np.int64),
    )


def read_throughputs(path: str) -> list[Curve]:
    """Return the curves of a CSV file, or of every CSV file in a directory.

    Parameters
    ----------
    path : str
        File or directory.

    Returns
    -------
    list of Curve
        Curves ordered by file name, then by row.

    Raises
    ------
    InputError
        If a file is invalid, or a directory has no CSV file.
    """
    folder = Path(path)
    if not folder.is_dir():
        return _curves(folder)
    files = sorted(item for item in folder.iterdir() if item.suffix == ".csv")
    if not files:
        raise InputError(f"{path}: no CSV file in this directory")
    curves = [curve for file in files for curve in _curves(file)]
    if len(curves) > MAX_CURVES:
        raise InputError(f"{path}: too many rows, at most {MAX_CURVES:,} are allowed (got {len(curves)})")
    return curves


def _curves(file: Path) -> list[Curve]:
    try:
        lines = list(csv.reader(io.StringIO(read_text(file))))
    except csv.Error as error:
        raise InputError(f"{file}: not a CSV file ({error})") from None
    if not lines:
        raise InputError(f"{file}: the file is empty; it must have a header {BATCH_COLUMN},1,2,...")
    counts = _header(file, lines[0])
    curves: dict[str, Curve] = {}
    lines_of: dict[str, int] = {}
    for line, row in enumerate(lines[1:], start=2):
        if not row:
            continue
        where = f"{file}, line {line}"
        if len(row) != len(counts) + 1:
            raise InputError(f"{where}: a row must have {len(counts) + 1} fields, as the header has (got {len(row)})")
        batch = _whole(row[0])
        if batch is None:
            raise InputError(f"{where}: {BATCH_COLUMN} must be an integer >= 1 (got {row[0]!r})")
        if str(batch) in curves:
            raise InputError(f"{where}: duplicate batch size {batch}, first on line {lines_of[str(batch)]}")
        speeds = [math.nan] * counts[-1]
        for count, text in zip(counts, row[1:], strict=True):
            speeds[count - 1] = _speed(text, f"{where}, {count} GPUs")
        if all(math.isnan(speed) for speed in speeds):
            raise InputError(f"{where}: no speed for any GPU count")
        lines_of[str(batch)] = line
        curves[str(batch)] = Curve(f"{file.stem}-{batch}", tuple(speeds))
        if len(curves) > MAX_CURVES:
            raise InputError(f"{file}: too many rows, at most {MAX_CURVES:,} are allowed")
    if not curves:
        raise InputError(f"{file}: no rows after the header")
    return list(curves.values())


def _header(file: Path, fields: list[str]) -> list[int]:
    if not fields or fields[0].strip() != BATCH_COLUMN:
        raise InputError(f"{file}, line 1: the first column must be {BATCH_COLUMN} (got {(fields or [''])[0]!r})")
    counts: list[int] = []
    for text in fields[1:]:
        count = _whole(text)
        if count is None or count > MAX_GPUS:
            raise InputError(f"{file}, line 1: a GPU count must be an integer from 1 to {MAX_GPUS:,} (got {text!r})")
        if counts and count <= counts[-1]:
            raise InputError(f"{file}, line 1: GPU counts must ascend (got {count} after {counts[-1]})")
        counts.append(count)
    if not counts:
        raise InputError(f"{file}, line 1: no GPU count after {BATCH_COLUMN}")
    return counts


def _whole(text: str) -> int | None:
    stripped = text.strip()
    return int(stripped) if stripped.isascii() and stripped.isdigit() and 0 < int(stripped[:16]) < 10**15 else None


def _speed(text: str, where: str) -> float:
    stripped = text.strip().lower()
    if stripped in {"", "nan"}:
        return math.nan
    value = number_in(stripped)
    if value is None:
        raise InputError(f"{where}: a speed must be a number, or nan if the job does not run (got {shown(text)})")
    if value == 0:
        # tables also use a speed of 0 for counts on which a job does not run
        return math.nan
    if not 1e-15 <= value <= 1e15:
        raise InputError(f"{where}: a speed must be 0 or from 1e-15 to 1e15 steps/s (got {text.strip()})")
    return float(value)
