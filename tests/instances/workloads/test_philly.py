"""The job log of Philly."""

import copy
import json

import numpy as np
import pytest

from gangopt.errors import InputError
from gangopt.instances.workload_machines import load_machines


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
    }


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
        (3, "bad-entries", "entry 2: an object with a jobid is needed"),
        ({"status": "Pass"}, "bad-entries", "entry 2: an object with a jobid is needed"),
        (job("", status="Pass"), "bad-entries", "entry 2: an object with a jobid"),
        (job("b", status="Done"), "unknown-states", "entry 2: status 'Done', Pass, Killed or Failed is needed"),
        (job("b", submitted_time="None"), "bad-submitted_time", "entry 2: submitted_time 'None' is no time"),
        (job("b", submitted_time="2017-10-07T00:00:00"), "bad-submitted_time", "entry 2: submitted_time .* is no time"),
        (job("b", submitted_time=None), "bad-submitted_time", "entry 2: submitted_time None is no time"),
        (job("b", attempts=None), "bad-entries", "entry 2: attempts have to be a list of objects"),
        (job("b", attempts=[1]), "bad-entries", "entry 2: attempts have to be a list of objects"),
        (job("a"), "duplicate-ids", "entry 2: id 'a' stands on an earlier entry too"),
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
    with pytest.raises(InputError, match="no job is left of the 0 in the file"):
        read("[]")
    with pytest.raises(
        InputError, match="one JSON object, but no workload of this tool; Philly's log is a list of jobs"
    ):
        read("{}")
    with pytest.raises(InputError, match="a list of jobs is needed, this is a dict"):
        read("{}", format="philly")
    with pytest.raises(InputError, match="not JSON, or cut off"):
        read("[{")
    (tmp_path / "log.json").write_bytes(b'["\xff"]')
    from gangopt.instances.workload_catalogue import load_workload

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
    assert messages["machines-not-in-cluster"] == "entry 1: machine 'm2' is not in it"
    assert messages["gpus-not-in-machine"] == "entry 1: GPUs gpu2 on machine m1 of 2"
