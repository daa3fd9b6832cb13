"""Readers of CSV logs: one clear line for each defect."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.fitting.loss import fit_loss
from gangopt.instances.fitting.speed import fit_speed
from gangopt.instances.fitting.tables import read_losses, read_speeds

LOSSES = "step,loss\n0,5\n10,4\n20,3\n30,2.5\n40,2.25\n50,2.2\n"
SPEEDS = "p,w,speed\n1,1,0.5\n1,2,0.8\n2,1,0.6\n2,4,1.5\n1,1,0.52\n"


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_losses_by_step_and_by_epoch(tmp_path):
    log = read_losses(write(tmp_path / "a.csv", LOSSES))
    assert log.steps.tolist() == [0, 10, 20, 30, 40, 50]
    assert log.losses[3] == 2.5
    assert log.epoch_steps == 10
    assert read_losses(tmp_path / "a.csv", 20).epoch_steps == 20
    by_epoch = write(tmp_path / "b.csv", "loss , epoch\n" + "".join(f"{9 - i},{i}\n" for i in range(7)))
    assert read_losses(by_epoch).epoch_steps == 1
    assert read_losses(by_epoch, 100).steps.tolist() == [0, 100, 200, 300, 400, 500, 600]
    assert read_losses(by_epoch, 100).epoch_steps == 100


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_blank_lines_quotes_and_line_ends_are_accepted(tmp_path, mark):
    text = mark + '"k","loss"\r\n\r\n' + "".join(f'{i}, "{9.5 - i}"\r\n' for i in range(7)).replace(' "', '"') + "\r\n"
    assert read_losses(write(tmp_path / "a.csv", text)).losses.tolist() == [9.5 - i for i in range(7)]


def test_speeds_in_either_unit_and_repeated_pairs(tmp_path):
    samples = read_speeds(write(tmp_path / "a.csv", SPEEDS))
    assert samples.parameter_servers.tolist() == [1, 1, 2, 2, 1]
    assert samples.workers.tolist() == [1, 2, 1, 4, 1]
    assert len(samples.pairs) == 4
    text = "seconds_per_step,workers,parameter_servers\n4,2,1\n"
    slow = read_speeds(write(tmp_path / "b.csv", text))
    assert (slow.pairs, slow.speeds.tolist()) == (((1, 2),), [0.25])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty, a header line is needed: step|k|epoch,loss"),
        ("\n\n", "empty, a header line"),
        ("step,loss\n", "a header and no rows"),
        ("step,l\n0,1\n", "column loss is missing; the header has to be step|k|epoch,loss"),
        ("step;loss\n0;1\n", "column step or k or epoch is missing"),
        ("step,k,loss\n0,0,1\n", "columns step and k both given, one is needed"),
        ("step,loss,accuracy\n0,1,1\n", "column 'accuracy' is not known; allowed: step|k|epoch,loss"),
        ("step,loss\n0,1\n1\n", "line 3: 1 fields, the header has 2"),
        ("step,loss\n0,1\n1,2,3\n", "line 3: 3 fields, the header has 2"),
        ("step,loss\n0,abc\n", "line 2, column loss: 'abc' is not a number"),
        ("step,loss\n0,\n", "line 2, column loss: nothing, a number is needed"),
        ("step,loss\n0,nan\n", "line 2, column loss: 'nan' is not finite"),
        ("step,loss\n0,-inf\n", "line 2, column loss: '-inf' is not finite"),
        ("step,loss\n0,1_0\n", "'1_0' is not a number"),
        ("step,loss\n0,٣\n", "is not a number"),
        ("step,loss\n0,-1\n", "line 2, column loss: '-1' is negative, 0 or more is needed"),
        ("step,loss\n-5,1\n", "line 2, column step: '-5' is negative"),
        ("step,loss\n0,1e16\n", "'1e16' is larger than 1e+15"),
        ("step,loss\n0,1e999\n", "'1e999' is larger than"),
        ('step,loss\n0,"1\n', "not CSV"),
        ("step,loss\n0,5\n\n3,4\n3,3\n", "line 5, column step: 3 after 3, steps have to increase"),
        (LOSSES[:20] + "0,3\n", "3 points, at least 6 are needed"),
        (b"step,loss\n0,\xff\n", "not UTF-8 text (byte 12)"),
        ("step,loss\n0," + "x" * 99 + "\n", "'" + "x" * 37 + "...' is not a number"),
    ],
)
def test_each_defect_of_a_loss_file_has_its_line(tmp_path, text, message):
    with pytest.raises(InputError) as caught:
        read_losses(write(tmp_path / "a.csv", text))
    assert str(caught.value).startswith(f"{tmp_path / 'a.csv'}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0,1,1", "line 2, column p: '0', a whole number of tasks, 1 or more, is needed"),
        ("1,2.5,1", "line 2, column w: '2.5', a whole number of tasks"),
        ("1,1,0", "line 2, column speed: 0, more than 0 is needed"),
        ("1,1,-3", "line 2, column speed: '-3' is negative"),
        ("1,1,1e-20", "speeds[0]: 1e-20 steps/s"),
        ("2000000,1,1", "parameter_servers[0]: 2e+06, a whole number from 1 to 1,000,000"),
    ],
)
def test_each_defect_of_a_speed_file_has_its_line(tmp_path, row, message):
    with pytest.raises(InputError) as caught:
        read_speeds(write(tmp_path / "a.csv", f"p,w,speed\n{row}\n"))
    assert message in str(caught.value)


def test_absent_files_and_directories_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_losses(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a directory"):
        read_speeds(tmp_path)


def test_too_many_rows_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gangopt.instances.fitting.tables.MAX_ROWS", 3)
    with pytest.raises(InputError, match="more than 3 rows"):
        read_losses(write(tmp_path / "a.csv", LOSSES))


PIECES = st.sampled_from(
    [
        "step",
        "loss",
        "epoch",
        "p",
        "w",
        "speed",
        ",",
        "\n",
        '"',
        "\r",
        "0",
        "1",
        "2.5",
        "-",
        "e",
        "nan",
        "\x00",
        "é",
        " ",
    ]
)
NUMBERS = st.one_of(
    st.integers(-2, 50).map(str),
    st.floats(width=64).map(repr),
    st.sampled_from(["", "1e400", "-0", "0x1", "1e-400", "NaN", "1,", '"', "٣"]),
)


def table(header, columns):
    row = st.lists(NUMBERS, min_size=columns, max_size=columns).map(",".join)
    return st.lists(row, max_size=12).map(lambda rows: "\n".join([header, *rows]))


@given(
    st.one_of(
        st.lists(PIECES, max_size=40).map("".join).map(str.encode),
        st.binary(max_size=60),
        table("step,loss", 2).map(str.encode),
        table("p,w,speed", 3).map(str.encode),
        table("p,w,seconds_per_step", 3).map(str.encode),
    )
)
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_hostile_files_give_one_clear_line_or_a_fit(tmp_path, content):
    path = write(tmp_path / "fuzz.csv", content)
    for use in (lambda: fit_loss(read_losses(path)).b0, lambda: sum(fit_speed(read_speeds(path), "async").theta)):
        try:
            total, complaint = use(), ""
        except InputError as error:
            total, complaint = 1.0, str(error)
        assert 0 < total < np.inf
        assert "\n" not in complaint
