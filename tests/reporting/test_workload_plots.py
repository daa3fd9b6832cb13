"""Panels of a workload's picture show its numbers."""

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.workload.summary import demand, summarise
from gangopt.instances.workload.workload import Workload
from gangopt.reporting.workload_plots import workload_chart


@pytest.mark.parametrize("stretch", [1.0, 400.0, 40_000.0])
def test_panels_hold_the_workload(stretch):
    workload = Workload.from_columns(
        {
            "id": [str(i) for i in range(30)],
            "arrival": np.arange(30) * stretch,
            "gpus": [1, 2, 16] * 10,
            "duration": np.linspace(10, 20_000, 30),
        },
        name="thirty",
    )
    figure = workload_chart(workload, cluster_gpus=64)
    panels = {axes.get_title(): axes for axes in figure.axes}
    assert list(panels) == [
        "arrivals",
        "sizes",
        "GPU demand if no job waited",
        "jobs and GPU time up to a duration",
        "bins: small up to 8 GPUs, long from 14,400 s",
        "bins: small up to 4 GPUs, long from 800 s",
    ]
    assert sum(bar.get_height() for bar in panels["arrivals"].patches) == 30
    unit = {1.0: "s", 400.0: "h", 40_000.0: "days"}[stretch]
    assert panels["arrivals"].get_xlabel() == f"time since the first arrival ({unit})"
    curve, line = panels["GPU demand if no job waited"].lines
    assert curve.get_ydata().tolist() == demand(workload)[1].tolist()
    assert set(line.get_ydata()) == {64}
    assert [bar.get_height() for bar in panels["sizes"].patches] == [10, 10, 10]
    shares = [bar.get_height() for bar in panels["bins: small up to 8 GPUs, long from 14,400 s"].patches]
    bins = summarise(workload).bins[0]
    assert shares == [item.share for item in bins] + [item.gpu_share for item in bins]
    assert panels["jobs and GPU time up to a duration"].lines[0].get_ydata()[-1] == 1


def test_unknown_durations_are_said_and_no_jobs_refused():
    workload = Workload.from_columns({"id": ["a"], "arrival": [0], "gpus": [1]})
    figure = workload_chart(workload)
    assert [axes.get_title() for axes in figure.axes] == ["arrivals", "sizes"]
    assert figure.get_suptitle() == "workload: 1 jobs, 1 GPUs in gangs; durations unknown"
    with pytest.raises(InputError, match="workload has no jobs, so there is nothing to plot"):
        workload_chart(workload.slice(1))
