"""Traces of the Gavel simulator, of seven and of ten fields."""

import json

import numpy as np
import pytest

from gangopt.base.errors import InputError

SEVEN = (
    "Transformer (batch size 128)\tpython3 train.py\t-step\t1\t5600\t0.000000\t1\n"
    "A3C\tpython3 main.py\t--max-steps\t0\t90\t20.5\t4\n"
)
TEN = (
    "ResNet-18 (batch size 32)\tpython3 main.py\tcifar10\t--num_steps\t1\t1000\t2\t1\t-1.000000\t0\n"
    "LM (batch size 10)\tpython3 main.py\twikitext2\t--steps\t1\t500\t1\t1\t1.5\t30\n"
)


@pytest.fixture
def speeds(tmp_path):
    def write(table):
        path = tmp_path / "speeds.json"
        path.write_text(json.dumps(table))
        return path

    return write


def test_seven_fields(read, counts):
    workload = read(SEVEN, "a.trace")
    assert workload.source == "file a.trace, format gavel"
    assert workload.ids == ("line1", "line2")
    assert workload.arrival.tolist() == [0, 20.5]
    assert workload.gpus.tolist() == [1, 4]
    assert workload.numbers("steps").tolist() == [5600, 90]
    assert workload.texts("model") == ("Transformer", "A3C")
    np.testing.assert_array_equal(workload.numbers("batch"), [128, np.nan])
    assert counts(workload) == {"no-durations": (2, False)}


def test_ten_fields_with_throughputs_and_deadlines(read, counts, speeds):
    table = {
        "v100": {"('ResNet-18 (batch size 32)', 2)": {"null": 4.0, "('A3C', 1)": [1, 2]}, "('A3C', 1)": {"null": 0}}
    }
    table["k80"] = {"('LM (batch size 10)', 1)": {"null": 2}, "('ResNet-18 (batch size 32)', 2)": {"null": 1}}
    workload = read(TEN, throughputs=speeds(table))
    np.testing.assert_array_equal(workload.duration, [250, np.nan])
    assert counts(workload) == {"no-throughput": (1, False)}
    assert "LM (batch size 10) on 1 GPUs has no throughput > 0 on v100" in workload.notices[0].message
    old = read(TEN, throughputs=speeds(table), gpu_type="k80")
    assert old.duration.tolist() == [1000, 250]
    np.testing.assert_array_equal(old.numbers("deadline"), [np.nan, 30 + 1.5 * 250])


def test_a_speed_of_zero_is_no_speed(read, counts, speeds):
    table = {"v100": {"('A3C', 4)": {"null": 0}, "('Transformer (batch size 128)', 1)": {"null": 2}}}
    workload = read(SEVEN, throughputs=speeds(table))
    np.testing.assert_array_equal(workload.duration, [2800, np.nan])
    assert counts(workload) == {"no-throughput": (1, False)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t20.5\t4", "\t20.5\t0", r"line 2: column scale_factor must be an integer from 1 to 1e15 \(got '0'\)"),
        ("\t90\t", "\t0\t", r"line 2: column total_steps must be a number > 0 and <= 1e15 \(got '0'\)"),
        ("\t20.5\t", "\tsoon\t", r"line 2: column arrival_time must be a number from 0 to 1e15 \(got 'soon'\)"),
        ("A3C\t", "\t", r"line 2: column job_type must be a name \(got ''\)"),
        ("\t20.5\t4", "\t20.5", r"line 2 must have 7 fields \(got 6\)"),
    ],
)
def test_defects(read, old, new, message):
    with pytest.raises(InputError, match=message):
        read(SEVEN.replace(old, new))
    assert len(read(SEVEN.replace(old, new), lenient=True)) == 1


def test_an_slo_below_minus_one_is_a_defect(read):
    with pytest.raises(InputError, match=r"line 2: column slo must be a number from -1 to 1e15 \(got '-2'\)"):
        read(TEN.replace("1.5", "-2"))


def test_another_number_of_fields_is_refused(read):
    with pytest.raises(InputError, match=r"log\.csv: 3 tab-separated fields; gavel has 7 or 10, shockwave 12"):
        read("a\tb\tc\n")
    with pytest.raises(InputError, match=r"line 1 must have 7 or 10 tab-separated fields .* \(got 3\)"):
        read("a\tb\tc\n", format="gavel")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], r"speeds\.json: throughput table must be an object of GPU types with their job types"),
        ({"v100": 3}, r"speeds\.json: throughput table must be an object of GPU types with their job types"),
        ({"k80": {}}, r"speeds\.json: unknown GPU type 'v100'; known: k80"),
        ({"v100": {"A3C, 1": {"null": 1}}}, "v100, entry 'A3C, 1' must have a job type, its GPUs and a speed"),
        ({"v100": {"(1, 1)": {"null": 1}}}, r"v100, entry '\(1, 1\)'"),
        (
            {"v100": {"('A3C', 1)": {"null": -1}}},
            r"""v100, entry "\('A3C', 1\)" must have a job type, its GPUs and a speed""",
        ),
        (
            {"v100": {"('A3C', 1)": {"null": True}}},
            r"""speeds\.json: v100, entry "\('A3C', 1\)" must have a job type, its GPUs and a speed""",
        ),
        ({"v100": {"('A3C', 1)": {}}}, "a speed"),
        (
            {"v100": {"('A3C', 1)": {"null": 2}, "('A3C',1)": {"null": 0}}},
            r"""v100, entries "\('A3C', 1\)" and "\('A3C',1\)": different speeds for one job \(2 and 0 steps/s\)""",
        ),
    ],
)
def test_defective_throughput_tables(read, speeds, table, message):
    with pytest.raises(InputError, match=message):
        read(SEVEN, throughputs=speeds(table))


@pytest.mark.parametrize("key", ["('A3C', True)", "('A3C', 0)", "(" * 5000, "-" * 100_000 + "1", "('A3C', 1", "A3C"])
def test_keys_of_other_kinds_are_refused(read, speeds, key):
    with pytest.raises(InputError, match=r"speeds\.json: v100, entry .* must have a job type, its GPUs and a speed"):
        read(SEVEN, throughputs=speeds({"v100": {key: {"null": 1}}}))
