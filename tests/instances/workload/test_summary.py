"""Numbers of a workload, against counting by hand and second by second."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.instances.workload.notices import Notice
from gangopt.instances.workload.summary import bin_of, demand, earliest_starts, summarise
from gangopt.instances.workload.text import notice_lines, seconds_text, summary_text
from gangopt.instances.workload.workload import Workload

JOBS = {
    "id": ["a", "b", "c", "d", "e"],
    "arrival": [0, 10, 10, 20, 3600],
    "gpus": [1, 8, 16, 16, 1],
    "duration": [7200, 14400, 14399, 86400, None],
    "user": ["u", "v", "u", None, "w"],
    "model": ["m"] * 5,
}


def test_numbers_of_five_jobs():
    summary = summarise(Workload.from_columns(JOBS, name="five", description="by hand"))
    assert (summary.jobs, summary.users, summary.models, summary.vcs, summary.apps) == (5, 3, 1, 0, 0)
    assert (summary.gpus, summary.known_durations) == (42, 4)
    assert (summary.first_arrival, summary.last_arrival, summary.mean_gap) == (0, 3600, 900)
    work = 7200 + 8 * 14400 + 16 * 14399 + 16 * 86400
    assert summary.gpu_hours == pytest.approx(work / 3600)
    assert summary.mean_demand == pytest.approx(work / 3600)
    assert summary.peak_demand == 41
    assert summary.duration_quantiles[0] == 7200
    assert summary.duration_quantiles[-1] == 86400
    assert [(size.gpus, size.jobs) for size in summary.sizes] == [(1, 2), (8, 1), (16, 2)]
    assert sum(size.gpu_hours for size in summary.sizes) == pytest.approx(summary.gpu_hours)
    assert [(item.name, item.jobs) for item in summary.bins[0]] == [("SS", 1), ("SL", 1), ("LS", 1), ("LL", 1)]
    assert [item.jobs for item in summary.bins[1]] == [0, 1, 0, 3]
    assert sum(item.gpu_share for item in summary.bins[0]) == pytest.approx(1)
    record = summary.as_dict()
    assert record["bins"][0]["most_gpus"] == 8
    assert record["bins"][1]["bins"][3]["jobs"] == 3


def test_text_of_five_jobs():
    text = summary_text(summarise(Workload.from_columns(JOBS, name="five", description="by hand")), cluster_gpus=1000)
    assert "workload five: by hand\n  5 jobs, 3 users, 1 model; gangs of 42 GPUs together" in text
    assert "arrivals  0 s to 3,600 s (60 min), mean gap 15 min" in text
    assert "durations of 4 jobs  2 h to 24 h" in text
    assert "% of the cluster's 1,000" in text
    assert "bins: small up to 8 GPUs, long from 4 h; jobs and GPU time\n    SS 25.0% 0.4%" in text


def test_nothing_known_and_nothing_there():
    plain = Workload.from_columns({"id": ["a"], "arrival": [5], "gpus": [2]})
    summary = summarise(plain)
    assert summary.bins == ((), ())
    assert summary.sizes[0].gpu_hours is None
    assert (summary.mean_gap, summary.peak_demand, summary.mean_demand) == (None, None, None)
    text = summary_text(summary)
    assert "durations unknown" in text
    assert text.startswith("workload without a name\n")
    assert "2         1  100.0%    unknown" in text
    empty = summarise(plain.slice(6))
    assert empty.first_arrival is None
    assert "no jobs; gangs of 0 GPUs" in summary_text(empty)


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (172_800, "2.0 days")]
)
def test_times_read_well(seconds, text):
    assert seconds_text(seconds) == text


def test_notices_as_lines():
    notices = (Notice("odd", 1200, "line 2: odd"), Notice("bad", 1, "line 3: bad", dropped=True))
    assert notice_lines(notices) == ["odd: 1,200; line 2: odd", "bad: 1 skipped; line 3: bad"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4), st.none() | st.integers(1, 6)), min_size=1, max_size=8))
def test_demand_second_by_second(jobs):
    arrival, gpus, duration = zip(*jobs, strict=True)
    ids = [str(index) for index in range(len(jobs))]
    workload = Workload.from_columns({"id": ids, "arrival": arrival, "gpus": gpus, "duration": duration})
    times, wanted = demand(workload)
    for second in range(17):
        by_hand = sum(g for a, g, d in jobs if d is not None and a <= second < a + d)
        place = np.searchsorted(times, second, side="right") - 1
        assert (wanted[place] if place >= 0 else 0) == by_hand
    assert not len(wanted) or wanted[-1] == 0


def test_phases_begin_when_the_earlier_ones_have_ended():
    workload = Workload.from_columns(
        {
            "id": list("abcdef"),
            "arrival": [0, 0, 0, 1, 5, 2],
            "gpus": [1] * 6,
            "duration": [3, 4, 2, 1, 1, None],
            "app": ["x", "x", "x", None, "x", "y"],
            "phase": [0, 0, 1, None, 4, 0],
        }
    )
    start = dict(zip(workload.ids, earliest_starts(workload), strict=True))
    assert start == {"a": 0, "b": 0, "c": 4, "d": 1, "e": 6, "f": 2}


def test_bins_at_their_bounds():
    assert bin_of(np.array([8, 9, 8, 9]), np.array([14399.0, 14399.0, 14400.0, 14400.0])).tolist() == [0, 2, 1, 3]
