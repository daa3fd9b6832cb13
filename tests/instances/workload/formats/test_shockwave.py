"""Traces of the Shockwave simulator."""

import numpy as np
import pytest

from gangopt.base.errors import InputError

ROWS = (
    "LM (batch size 10)\tpython3 main.py\twikitext2\t--steps\t1\t1345\t1\tgns\t1\t-1.000000\t1418\t0\n"
    "ResNet-18 (batch size 32)\tpython3 main.py\tcifar10\t--num_steps\t1\t1434\t2\tstatic\t1\t2\t3338\t55\n"
)


def test_jobs(read, counts):
    workload = read(ROWS, "a,b.trace")
    assert workload.source == "file a,b.trace, format shockwave"
    assert workload.ids == ("line1", "line2")
    assert workload.arrival.tolist() == [0, 55]
    assert workload.duration.tolist() == [1418, 3338]
    assert workload.gpus.tolist() == [1, 2]
    assert workload.texts("model") == ("LM", "ResNet-18")
    assert workload.numbers("batch").tolist() == [10, 32]
    np.testing.assert_array_equal(workload.numbers("deadline"), [np.nan, 55 + 2 * 3338])
    assert counts(workload) == {"changing-batches": (1, False)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tstatic\t", "\tfast\t", r"line 2: mode must be static, accordion or gns \(got 'fast'\)"),
        ("\t3338\t", "\t0\t", r"line 2: column duration must be a number > 0 and <= 1e15 \(got '0'\)"),
        ("\t55\n", "\t-1\n", r"line 2: column arrival_time must be a number from 0 to 1e15 \(got '-1'\)"),
        ("\t1434\t", "\tmany\t", r"line 2: column total_steps must be a number > 0 and <= 1e15 \(got 'many'\)"),
        (
            "\t1434\t2\t",
            "\t1434\t1.5\t",
            r"line 2: column scale_factor must be an integer from 1 to 1e15 \(got '1\.5'\)",
        ),
        ("\t1\t2\t3338", "\t1\t\t3338", r"line 2: column slo must be a number from -1 to 1e15 \(got ''\)"),
        ("ResNet-18 (batch size 32)", "", r"line 2: column job_type must be a name \(got ''\)"),
        ("\tstatic\t", "\t\t", r"line 2: column mode must be a name \(got ''\)"),
        ("\t55\n", "\n", r"line 2 must have 12 fields \(got 11\)"),
    ],
)
def test_defects(read, old, new, message):
    with pytest.raises(InputError, match=message):
        read(ROWS.replace(old, new))
    assert len(read(ROWS.replace(old, new), lenient=True)) == 1


def test_another_number_of_fields_is_refused(read):
    with pytest.raises(InputError, match=r"line 1 must have 12 tab-separated fields in format shockwave \(got 2\)"):
        read("a\tb\n", format="shockwave")
