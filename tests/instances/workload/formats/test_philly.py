"""The job log of Philly."""

import copy
import json

import numpy as np
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.workload.machines import load_machines


def attempt(start, end, machine="m1", gpus=2):
    detail = [{"ip": machine, "gpus": [f"gpu{i}" for i in range(gpus)]}]
    return {"start_time": start, "end_time": end, "detail": detail}


JOB = {
    "status": "Pass",
    "vc": "ee9e8c",
    "jobid": "application_1",
    "attempts": [
        attempt("2017-10-07 00:00:30", "2017-10-07 00:01:00"),
        attempt("2017-10-07 00:02:00", "2017-10-07 00:02:40", "m2"),
    ],
    "submitted_time": "2017-10-07 00:00:00",
    "user": "ce2f4c",
}


def job(label, **changes):
    return {**copy.deepcopy(JOB), "jobid": label, **changes}


def test_attempts_add_up(read, counts):
    workload = read(json.dumps([job("a"), job("b", submitted_time="2017-10-07 00:01:30", user=None)]), "log.json")
    assert workload.source == "file log.json, format philly"
    assert workload.ids == ("a", "b")
    assert workload.arrival.tolist() == [0, 90]
    assert workload.duration.tolist() == [70, 70]
    assert workload.gpus.tolist() == [2, 2]
    assert workload.numbers("start").tolist() == [30, 30]
    assert workload.texts("vc") == ("ee9e8c", "ee9e8c")
    assert workload.texts("user") == ("ce2f4c", None)
    assert workload.texts("status") == ("Pass", "Pass")
    assert counts(workload) == {}


def test_missing_and_none_times_and_gangs_that_change(read, counts):
    attempts = [
        attempt("2017-10-07 00:00:30", None, gpus=1),
        attempt("None", "2017-10-07 00:00:50"),
        {"detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1", "gpu2", "gpu3"]}, {"ip": "m2", "gpus": ["gpu0"]}]},
        attempt("2017-10-07 00:02:00", "2017-10-07 00:01:00", gpus=0),
        attempt("2017-10-07 00:03:00", "2017-10-07 00:03:05", gpus=0),
    ]
    workload = read(json.dumps([job("a", attempts=attempts)]))
    assert workload.gpus.tolist() == [5]
    assert workload.duration.tolist() == [5]
    assert workload.numbers("start").tolist() == [30]
    assert counts(workload) == {
        "attempts-differ": (1, False),
        "attempts-without-times": (3, False),
        "attempts-reversed": (1, False),
        "censored-durations": (1, False),
    }
    assert workload.numbers("censored").tolist() == [1]


def test_a_job_that_lacks_the_end_of_an_attempt_ran_for_longer(read, counts):
    running = job("r", attempts=[*JOB["attempts"], attempt("2017-10-07 00:03:00", None)])
    untimed = job("u", attempts=[*JOB["attempts"], attempt(None, None)])
    workload = read(json.dumps([job("a"), running, untimed]))
    assert workload.duration.tolist() == [70, 70, 70]
    assert workload.numbers("censored").tolist() == [0, 1, 0]
    assert counts(workload)["censored-durations"] == (1, False)
    assert workload.ended().ids == ("a", "u")


WRONG = (None, True, 7, 1.5, "x", [], [3], [None], {}, {"a": 1})


def replaced(value, inner):
    """A value with other types in its place, or in that of anything inside."""
    yield from inner
    if isinstance(value, dict):
        for key in value:
            yield from ({**value, key: other} for other in replaced(value[key], inner))
            yield {name: item for name, item in value.items() if name != key}
    if isinstance(value, list):
        for index in range(len(value)):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in replaced(value[index], inner))


def gpus_of(entry):
    """GPUs of a job whose attempts all have the right types, None where one has not."""
    try:
        labels = [
            {(place["ip"], label) for place in item.get("detail") or [] for label in place["gpus"]}
            for item in entry["attempts"]
        ]
        flat = [text for places in labels for pair in places for text in pair]
        listed = all(isinstance(p["gpus"], list) for a in entry["attempts"] for p in a.get("detail") or [])
    except (TypeError, KeyError, AttributeError):
        return None
    return [len(x) for x in labels if x][-1] if listed and all(isinstance(text, str) for text in flat) else None


def test_values_of_other_types_are_refused_or_change_no_count(read):
    accepted = 0
    for attempts in replaced(JOB["attempts"], WRONG):
        entry = job("b", attempts=attempts)
        workload = read(json.dumps([job("a"), entry]), lenient=True)
        if "b" in workload.ids:
            accepted += 1
            assert workload.gpus[workload.ids.index("b")] == gpus_of(entry), attempts
    assert 10 < accepted < 60


@pytest.mark.parametrize(
    ("detail", "message"),
    [
        (7, "entry 1: attempt 1: detail must be a list of objects with ip and gpus .got 7."),
        ([7], "attempt 1: detail must hold objects with ip and gpus .got 7."),
        ([{"gpus": ["gpu0"]}], "attempt 1: detail must hold objects with ip and gpus .got .*"),
        ([{"ip": "m1", "gpus": "gpu0"}], "attempt 1: gpus of machine m1 must be a list of GPU names .got 'gpu0'."),
        ([{"ip": "m1", "gpus": {"gpu0": 1}}], "attempt 1: gpus of machine m1 must be a list of GPU names .got .*."),
        ([{"ip": "m1", "gpus": ["gpu0", 1]}], "attempt 1: gpus of machine m1 must be a list of GPU names .got .*."),
        ([{"ip": "m1"}], "attempt 1: gpus of machine m1 must be a list of GPU names .got None."),
    ],
)
def test_gpus_of_other_types_are_defects(read, counts, detail, message):
    text = json.dumps([job("b", attempts=[{**JOB["attempts"][0], "detail": detail}]), job("a")])
    with pytest.raises(InputError, match=rf"{message} \(bad-attempts: 1"):
        read(text)
    workload = read(text, lenient=True)
    assert workload.ids == ("a",)
    assert counts(workload) == {"bad-attempts": (1, True)}


def test_times_and_names_of_other_types_are_defects(read):
    times = job("a", attempts=[attempt(7, None)])
    with pytest.raises(
        InputError, match=r"attempt 1: start_time must be a time such as 2017-10-07 01:11:39, None or null \(got 7\)"
    ):
        read(json.dumps([times]))
    with pytest.raises(InputError, match=r"entry 1: vc must be text or null \(got 7\)"):
        read(json.dumps([job("a", vc=7)]))


def test_a_gpu_that_stands_twice_counts_once(read, counts):
    twice = [{**JOB["attempts"][0], "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu0", "gpu1"]}]}]
    workload = read(json.dumps([job("a", attempts=twice)]))
    assert workload.gpus.tolist() == [2]
    assert counts(workload) == {"repeated-gpus": (1, False)}


def test_jobs_that_never_ran(read, counts):
    never = job("n", attempts=[attempt(None, None)])
    workload = read(json.dumps([job("a"), job("b", attempts=[]), job("c", attempts=[{"detail": None}]), never]))
    assert workload.ids == ("a", "n")
    np.testing.assert_array_equal(workload.duration, [70, np.nan])
    assert counts(workload) == {
        "no-gpus": (2, True),
        "attempts-without-times": (1, False),
        "never-ran": (1, False),
        "equal-arrivals": (1, False),
    }


@pytest.mark.parametrize(
    ("entry", "name", "message"),
    [
        (3, "bad-entries", "entry 2: must be an object with a jobid"),
        ({"status": "Pass"}, "bad-entries", "entry 2: must be an object with a jobid"),
        (job("", status="Pass"), "bad-entries", "entry 2: must be an object with a jobid"),
        (job("b", status="Done"), "unknown-states", r"entry 2: status must be Pass, Killed or Failed \(got 'Done'\)"),
        (
            job("b", submitted_time="None"),
            "bad-submitted_time",
            r"entry 2: submitted_time must be a time such as 2017-10-07 01:11:39 \(got 'None'\)",
        ),
        (
            job("b", submitted_time="2017-10-07T00:00:00"),
            "bad-submitted_time",
            r"entry 2: submitted_time must be a time such as 2017-10-07 01:11:39 \(got '2017-10-07T00:00:00'\)",
        ),
        (
            job("b", submitted_time=None),
            "bad-submitted_time",
            r"entry 2: submitted_time must be a time such as 2017-10-07 01:11:39 \(got None\)",
        ),
        (job("b", attempts=None), "bad-entries", "entry 2: attempts must be a list of objects"),
        (job("b", attempts=[1]), "bad-entries", "entry 2: attempts must be a list of objects"),
        (job("a"), "duplicate-ids", "entry 2: duplicate id 'a'"),
    ],
)
def test_defects(read, counts, entry, name, message):
    text = json.dumps([job("a"), entry])
    with pytest.raises(InputError, match=message):
        read(text)
    workload = read(text, lenient=True)
    assert workload.ids == ("a",)
    assert counts(workload)[name] == (1, True)


def test_fields_that_are_not_known_are_named(read, counts):
    assert counts(read(json.dumps([job("a", priority=3)])))["ignored-fields"] == (1, False)


def test_files_of_another_shape(read, tmp_path):
    with pytest.raises(InputError, match=r"log\.csv: no valid jobs among the 0 in the file"):
        read("[]")
    with pytest.raises(
        InputError, match="JSON object that is not a workload of gangopt; Philly's log is a list of jobs"
    ):
        read("{}")
    with pytest.raises(InputError, match=r"the file must be a list of jobs \(got a dict\)"):
        read("{}", format="philly")
    with pytest.raises(InputError, match="not JSON, or cut off"):
        read("[{")
    (tmp_path / "log.json").write_bytes(b'["\xff"]')
    from gangopt.instances.workload.catalogue import load_workload

    with pytest.raises(InputError, match=r"not UTF-8 text \(byte 2\)"):
        load_workload(tmp_path / "log.json")


def test_contradictions_between_log_and_machine_list_are_counted(read, counts, tmp_path):
    path = tmp_path / "cluster_machine_list"
    path.write_text("machineId, number of GPUs, single GPU mem\nm1,2, 12GB\nm10,8, 24GB\n")
    cluster = load_machines(path)
    assert cluster.machines == ("m1", "m10")
    assert cluster.capacities[:, list(cluster.resources).index("gpu_memory")].tolist() == [12, 24]
    third = {"detail": [{"ip": "m1", "gpus": ["gpu2"]}]}
    workload = read(json.dumps([job("a", attempts=[*JOB["attempts"], third])]), cluster=cluster)
    found = counts(workload)
    assert found["machines-not-in-cluster"] == (1, False)
    assert found["gpus-not-in-machine"] == (1, False)
    messages = {item.name: item.message for item in workload.notices}
    assert messages["machines-not-in-cluster"] == "entry 1: machine 'm2' is not in the cluster"
    assert messages["gpus-not-in-machine"] == "entry 1: GPUs gpu2 on machine m1, which has 2"
