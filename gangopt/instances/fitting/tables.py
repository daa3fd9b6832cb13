"""Strict CSV logs of losses and speeds: named columns, plain decimal numbers, one line of complaint."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import read_text
from gangopt.instances.fitting.loss_log import LossLog
from gangopt.instances.fitting.speed_samples import SpeedSamples

__all__ = ["read_losses", "read_speeds"]

FloatArray = NDArray[np.float64]

STEP_COLUMNS = ("step", "k", "epoch")
LOSS_COLUMNS = ("loss",)
PS_COLUMNS = ("p", "parameter_servers")
WORKER_COLUMNS = ("w", "workers")
SPEED_COLUMNS = ("speed", "steps_per_second", "seconds_per_step")

MAX_ROWS = 5_000_000
LARGEST = 1e15
"""Largest magnitude of a number in a log; whole numbers are exact in double precision below it."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)


def read_losses(path: str | os.PathLike[str], steps_per_epoch: float | None = None) -> LossLog:
    """Read a log of training losses: a header, then one row a recorded step.

    Parameters
    ----------
    path : str or path-like
        CSV file with a column `step` (or `k`) counted in steps, or `epoch` counted in epochs, and a column `loss`
        in any unit.
    steps_per_epoch : float or None, optional
        N, steps in one epoch. By default an `epoch` column is taken with N = 1, so that a step is an epoch, and a
        `step` column with the mean distance of two recorded steps, so that a row is an epoch.

    Raises
    ------
    InputError
        If the file is not such a table, or its losses are not such a log; names the line and column.
    """
    origin = str(Path(path))
    columns, rows = _rows(path, (STEP_COLUMNS, LOSS_COLUMNS))
    numbers = _numbers(origin, columns, rows)
    steps, losses = numbers[:, 0], numbers[:, 1]
    if columns[0] == "epoch":
        steps_per_epoch = 1.0 if steps_per_epoch is None else steps_per_epoch
        steps = steps * steps_per_epoch
    falling = np.flatnonzero(np.diff(steps) <= 0)
    if falling.size:
        i = int(falling[0]) + 1
        raise InputError(
            f"{origin}: line {rows[i][0]}, column {columns[0]}: {numbers[i, 0]:g} after {numbers[i - 1, 0]:g}, "
            "steps have to increase"
        )
    try:
        return LossLog(steps, losses, steps_per_epoch)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None


def read_speeds(path: str | os.PathLike[str]) -> SpeedSamples:
    """Read measured training speeds: a header, then one row a measurement; a pair may be measured repeatedly.

    Parameters
    ----------
    path : str or path-like
        CSV file with the columns `p` (or `parameter_servers`), `w` (or `workers`) and one of `speed` or
        `steps_per_second` (both in steps per second) or `seconds_per_step`.

    Raises
    ------
    InputError
        If the file is not such a table; names the line and column.
    """
    origin = str(Path(path))
    columns, rows = _rows(path, (PS_COLUMNS, WORKER_COLUMNS, SPEED_COLUMNS))
    numbers = _numbers(origin, columns, rows)
    for column in (0, 1):
        broken = np.flatnonzero((numbers[:, column] < 1) | (numbers[:, column] != np.floor(numbers[:, column])))
        if broken.size:
            line, fields = rows[int(broken[0])]
            raise InputError(
                f"{origin}: line {line}, column {columns[column]}: {_shown(fields[column])}, a whole number of tasks, "
                "1 or more, is needed"
            )
    zeros = np.flatnonzero(numbers[:, 2] == 0)
    if zeros.size:
        line, _ = rows[int(zeros[0])]
        raise InputError(f"{origin}: line {line}, column {columns[2]}: 0, more than 0 is needed")
    speeds = 1 / numbers[:, 2] if columns[2] == "seconds_per_step" else numbers[:, 2]
    try:
        return SpeedSamples(numbers[:, 0].astype(np.int64), numbers[:, 1].astype(np.int64), speeds)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None


_Row = tuple[int, list[str]]


def _rows(path: str | os.PathLike[str], wanted: Sequence[Sequence[str]]) -> tuple[list[str], list[_Row]]:
    """Return the names of the wanted columns and, for each row, its line and its fields in that order."""
    origin = str(Path(path))
    lines = _lines(origin, read_text(path))
    if not lines:
        raise InputError(f"{origin}: empty, a header line is needed: {_header(wanted)}")
    header = [name.strip() for name in lines[0][1]]
    places = [_place(origin, header, names, wanted) for names in wanted]
    known = [name for names in wanted for name in names]
    for name in header:
        if name not in known:
            raise InputError(f"{origin}: column {_shown(name)} is not known; allowed: {_header(wanted)}")
    if len(lines) == 1:
        raise InputError(f"{origin}: a header and no rows")
    for line, fields in lines[1:]:
        if len(fields) != len(header):
            raise InputError(f"{origin}: line {line}: {len(fields)} fields, the header has {len(header)}")
    rows = [(line, [fields[place] for place in places]) for line, fields in lines[1:]]
    return [header[place] for place in places], rows


def _lines(origin: str, text: str) -> list[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines: list[_Row] = []
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                lines.append((reader.line_num, fields))
            if len(lines) > MAX_ROWS + 1:
                raise InputError(f"{origin}: more than {MAX_ROWS:,} rows")
    except csv.Error as error:
        raise InputError(f"{origin}: line {reader.line_num}: not CSV ({error})") from None
    return lines


def _place(origin: str, header: list[str], names: Sequence[str], wanted: Sequence[Sequence[str]]) -> int:
    found = [i for i, name in enumerate(header) if name in names]
    if not found:
        raise InputError(f"{origin}: column {' or '.join(names)} is missing; the header has to be {_header(wanted)}")
    if len(found) > 1:
        raise InputError(f"{origin}: columns {' and '.join(header[i] for i in found)} both given, one is needed")
    return found[0]


def _header(wanted: Sequence[Sequence[str]]) -> str:
    return ",".join("|".join(names) for names in wanted)


def _numbers(origin: str, columns: list[str], rows: list[_Row]) -> FloatArray:
    values = np.empty((len(rows), len(columns)))
    for i, (line, fields) in enumerate(rows):
        for c, field in enumerate(fields):
            values[i, c] = _number(f"{origin}: line {line}, column {columns[c]}", field.strip())
    return values


def _number(where: str, field: str) -> float:
    if not field:
        raise InputError(f"{where}: nothing, a number is needed")
    if not _NUMBER.fullmatch(field):
        kind = "not finite" if field.lower().lstrip("+-") in {"nan", "inf", "infinity"} else "not a number"
        raise InputError(f"{where}: {_shown(field)} is {kind}")
    value = float(field)
    if math.copysign(1.0, value) < 0 and value != 0:
        raise InputError(f"{where}: {_shown(field)} is negative, 0 or more is needed")
    if value > LARGEST:
        raise InputError(f"{where}: {_shown(field)} is larger than {LARGEST:g}")
    return value


def _shown(field: str) -> str:
    return repr(field if len(field) <= 40 else field[:37] + "...")
