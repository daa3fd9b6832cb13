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
        ("\tstatic\t", "\tfast\t", "line 2: mode 'fast', static, accordion or gns is needed"),
        ("\t3338\t", "\t0\t", "line 2: column duration: '0', a number above 0"),
        ("\t55\n", "\t-1\n", "line 2: column arrival_time: '-1', a number from 0"),
        ("\t1434\t", "\tmany\t", "line 2: column total_steps: 'many'"),
        ("\t1434\t2\t", "\t1434\t1.5\t", "line 2: column scale_factor: '1.5', a whole number from 1"),
        ("\t1\t2\t3338", "\t1\t\t3338", "line 2: column slo: nothing"),
        ("ResNet-18 (batch size 32)", "", "line 2: column job_type: nothing"),
        ("\tstatic\t", "\t\t", "line 2: column mode: nothing"),
        ("\t55\n", "\n", "line 2: 11 fields, 12 are needed"),
    ],
)
def test_defects(read, old, new, message):
    with pytest.raises(InputError, match=message):
        read(ROWS.replace(old, new))
    assert len(read(ROWS.replace(old, new), lenient=True)) == 1


def test_another_number_of_fields_is_refused(read):
    with pytest.raises(InputError, match="line 1 has 2 tabbed fields, format shockwave has 12"):
        read("a\tb\n", format="shockwave")
