"""Allocation instances from CSV tables of measured throughput by GPU count."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangopt.base.arguments import number_in
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
        File name without suffix and batch size, as `bert-384`.
    speeds : tuple of float
        Steps per second by number of GPUs; nan where a count was not measured, shape (GPUs of the widest column,).
    """

    label: str
    speeds: tuple[float, ...]


def table(file: str, gpus: int, hours: float = 10.0, jobs: int | None = None, seed: int = 0) -> AllocationInstance:
    """Return all-reduce jobs whose throughput by GPU count was measured, on one pool of GPUs.

    The CSV has a header `global_batch_size,1,2,4,...` (GPU counts) and a row for each batch size with speeds in steps
    per second; `nan`, 0 or nothing is a count on which it does not run, and speeds may fall as GPUs are added. Workers
    are GPUs; there are no parameter servers: their count is 1, their demand 0.

    Parameters
    ----------
    file : str
        A CSV file, or a directory whose CSV files are joined in the order of their names.
    gpus : int
        GPUs in the pool, 1 or more.
    hours : float, optional
        Work of a job: hours it would run on the fewest GPUs that its row allows.
    jobs : int or None, optional
        None for one job a row, each with `hours` of work; else this many jobs, each with a random row and with work
        log-uniform from a tenth of `hours` to ten times `hours`.
    seed : int, optional
        Of numpy's default generator; used with `jobs`.

    Raises
    ------
    InputError
        If a file or argument is defective; says the file, line and column.
    """
    if not 1 <= gpus <= 10**9:
        raise InputError(f"table: gpus={gpus}, 1 to 1,000,000,000 is allowed")
    if not 0 < hours <= 1e6:
        raise InputError(f"table: hours={hours:g}, above 0 and at most 1e6 is allowed")
    if jobs is not None and not 1 <= jobs <= MAX_JOBS:
        raise InputError(f"table: jobs={jobs}, 1 to {MAX_JOBS:,} is allowed")
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
        By file name, then in the order of the rows.

    Raises
    ------
    InputError
        If a file is defective, or a directory has no CSV file.
    """
    folder = Path(path)
    if not folder.is_dir():
        return _curves(folder)
    files = sorted(item for item in folder.iterdir() if item.suffix == ".csv")
    if not files:
        raise InputError(f"{path}: no file that ends in .csv in this directory")
    curves = [curve for file in files for curve in _curves(file)]
    if len(curves) > MAX_CURVES:
        raise InputError(f"{path}: {len(curves)} rows in all, at most {MAX_CURVES:,} are read")
    return curves


def _curves(file: Path) -> list[Curve]:
    try:
        lines = list(csv.reader(io.StringIO(read_text(file))))
    except csv.Error as error:
        raise InputError(f"{file}: not a CSV file ({error})") from None
    if not lines:
        raise InputError(f"{file}: empty, a header {BATCH_COLUMN},1,2,... is needed")
    counts = _header(file, lines[0])
    curves: dict[str, Curve] = {}
    lines_of: dict[str, int] = {}
    for number, row in enumerate(lines[1:], start=2):
        if not row:
            continue
        if len(row) != len(counts) + 1:
            raise InputError(f"{file}, line {number}: {len(row)} fields, the header has {len(counts) + 1}")
        batch = _whole(row[0])
        if batch is None:
            raise InputError(f"{file}, line {number}, column {BATCH_COLUMN}: {row[0]!r}, a whole number is needed")
        if str(batch) in curves:
            raise InputError(
                f"{file}, line {number}: batch size {batch} stands twice, first on line {lines_of[str(batch)]}"
            )
        speeds = [math.nan] * counts[-1]
        for count, text in zip(counts, row[1:], strict=True):
            speeds[count - 1] = _speed(text, f"{file}, line {number}, {count} GPUs")
        if all(math.isnan(speed) for speed in speeds):
            raise InputError(f"{file}, line {number}: no speed at any GPU count")
        lines_of[str(batch)] = number
        curves[str(batch)] = Curve(f"{file.stem}-{batch}", tuple(speeds))
        if len(curves) > MAX_CURVES:
            raise InputError(f"{file}: more than {MAX_CURVES:,} rows")
    if not curves:
        raise InputError(f"{file}: a header and no row")
    return list(curves.values())


def _header(file: Path, fields: list[str]) -> list[int]:
    if not fields or fields[0].strip() != BATCH_COLUMN:
        raise InputError(f"{file}, line 1: the first column is {(fields or [''])[0]!r}, {BATCH_COLUMN} is needed")
    counts: list[int] = []
    for text in fields[1:]:
        count = _whole(text)
        if count is None or count > MAX_GPUS:
            raise InputError(f"{file}, line 1: GPU count {text!r}, a whole number from 1 to {MAX_GPUS:,} is needed")
        if counts and count <= counts[-1]:
            raise InputError(f"{file}, line 1: GPU count {count} after {counts[-1]}, ascending counts are needed")
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
        raise InputError(f"{where}: {shown(text)}, steps per second, or 0 or nan where it does not run, is needed")
    if value == 0:
        # nothing runs at 0 steps/s: tables mark counts that do not fit so
        return math.nan
    if not 1e-15 <= value <= 1e15:
        raise InputError(f"{where}: {text.strip()} steps/s, from 1e-15 to 1e15 is allowed; 0 or nan: does not run")
    return float(value)
