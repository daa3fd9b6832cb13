"""CSV logs of training losses and speeds."""

from __future__ import annotations

import os

import numpy as np

from gangopt.base.checks import LARGEST
from gangopt.base.errors import InputError
from gangopt.base.tables import read_table
from gangopt.instances.fitting.loss_log import LossLog
from gangopt.instances.fitting.speed_samples import MAX_TASKS, SpeedSamples

__all__ = ["read_losses", "read_speeds"]

STEP_COLUMNS = ("step", "k", "epoch")
PS_COLUMNS = ("p", "parameter_servers")
WORKER_COLUMNS = ("w", "workers")
SPEED_COLUMNS = ("speed", "steps_per_second", "seconds_per_step")


def read_losses(path: str | os.PathLike[str], steps_per_epoch: float | None = None) -> LossLog:
    """Read a log of training losses with a header and one row per recorded step.

    Parameters
    ----------
    path : str or path-like
        CSV file with a column `step` (or `k`) in steps or `epoch` in epochs, and a column `loss` in any unit.
    steps_per_epoch : float or None, optional
        N, steps in one epoch. By default, N is 1 for a column `epoch`, and for a column `step` the mean distance of
        recorded steps, so that each row counts as an epoch.

    Raises
    ------
    InputError
        If the file or its losses are invalid; the message gives the line and the column.
    """
    table = read_table(path, (STEP_COLUMNS, ("loss",)))
    column = table.required[0]
    numbers = np.array(table.numbers(column, 0, LARGEST))
    falling = np.flatnonzero(np.diff(numbers) <= 0)
    if falling.size:
        i = int(falling[0])
        raise InputError(f"{table.where(i + 1, column)} must be > {numbers[i]:g} (got {numbers[i + 1]:g})")
    if column == "epoch" and steps_per_epoch is None:
        steps_per_epoch = 1.0
    steps = numbers * steps_per_epoch if column == "epoch" and steps_per_epoch else numbers
    losses = np.array(table.numbers("loss", 0, LARGEST))
    try:
        return LossLog(steps, losses, steps_per_epoch)
    except InputError as error:
        raise InputError(f"{table.origin}: {error}") from None


def read_speeds(path: str | os.PathLike[str]) -> SpeedSamples:
    """Read measured training speeds with a header and one row per measurement; pairs may be measured repeatedly.

    Parameters
    ----------
    path : str or path-like
        CSV file with the columns `p` (or `parameter_servers`), `w` (or `workers`) and one of `speed` or
        `steps_per_second` (both in steps per second) or `seconds_per_step`.

    Raises
    ------
    InputError
        If the file is invalid; the message gives the line and the column.
    """
    table = read_table(path, (PS_COLUMNS, WORKER_COLUMNS, SPEED_COLUMNS))
    servers, workers, speed = table.required
    p, w = (np.array(table.integers(column, 1, MAX_TASKS)) for column in (servers, workers))
    numbers = np.array(table.numbers(speed, above=0, high=LARGEST))
    try:
        return SpeedSamples(p, w, 1 / numbers if speed == "seconds_per_step" else numbers)
    except InputError as error:
        raise InputError(f"{table.origin}: {error}") from None
