"""Gangs as plain arrays say what a workload of the same jobs says."""

from __future__ import annotations

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.workload.columns import COLUMNS
from gangopt.instances.workload.job_table import Gangs
from gangopt.instances.workload.workload import Workload

ARRIVAL, GPUS, DURATION = np.array([5.0, 0.0, 5.0, 1.0]), np.array([1, 2, 3, 4]), np.array([10.0, 20.0, 30.0, 40.0])


def test_gangs_and_workloads_agree_on_every_column():
    gangs = Gangs(ARRIVAL, GPUS, DURATION)
    columns = {"id": ["0", "1", "2", "3"], "arrival": ARRIVAL, "gpus": GPUS, "duration": DURATION}
    workload = Workload.from_columns(columns)
    assert gangs.order.tolist() == [1, 3, 0, 2]
    assert (gangs.ids, len(gangs)) == (workload.ids, len(workload))
    for name in ("arrival", "gpus", "duration"):
        np.testing.assert_array_equal(getattr(gangs, name), getattr(workload, name))
    for column in COLUMNS.values():
        if column.kind == "text":
            assert gangs.texts(column.name) == workload.texts(column.name)
        else:
            np.testing.assert_array_equal(gangs.numbers(column.name), workload.numbers(column.name))
        if workload.has(column.name):
            gangs.require(column.name)
        else:
            with pytest.raises(InputError, match=f"rigid gangs have no {column.name}"):
                gangs.require(column.name)
