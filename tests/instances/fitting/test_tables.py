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
        ("", "empty file; the header must have step|k|epoch,loss"),
        ("\n\n", "empty file; the header"),
        ("step,loss\n", "no rows after the header"),
        ("step,l\n0,1\n", "missing column loss; the header must have step|k|epoch,loss"),
        ("step;loss\n0;1\n", "missing column step or k or epoch"),
        ("step,k,loss\n0,0,1\n", "columns step and k exclude each other; the header must have step|k|epoch,loss"),
        ("step,loss,accuracy\n0,1,1\n", "unknown column 'accuracy'; the header must have step|k|epoch,loss"),
        ("step,loss\n0,1\n1\n", "line 3 must have 2 fields (got 1)"),
        ("step,loss\n0,1\n1,2,3\n", "line 3 must have 2 fields (got 3)"),
        ("step,loss\n0,abc\n", "line 2, column loss must be a number from 0 to 1e15 (got 'abc')"),
        ("step,loss\n0,\n", "line 2, column loss must be a number from 0 to 1e15 (got '')"),
        ("step,loss\n0,nan\n", "line 2, column loss must be a number from 0 to 1e15 (got 'nan')"),
        ("step,loss\n0,-inf\n", "line 2, column loss must be a number from 0 to 1e15 (got '-inf')"),
        ("step,loss\n0,1_0\n", "must be a number from 0 to 1e15 (got '1_0')"),
        ("step,loss\n0,٣\n", "must be a number"),
        ("step,loss\n0,-1\n", "line 2, column loss must be a number from 0 to 1e15 (got '-1')"),
        ("step,loss\n-5,1\n", "line 2, column step must be a number from 0 to 1e15 (got '-5')"),
        ("step,loss\n0,1e16\n", "must be a number from 0 to 1e15 (got '1e16')"),
        ("step,loss\n0,1e999\n", "must be a number from 0 to 1e15 (got '1e999')"),
        ('step,loss\n0,"1\n', "not CSV"),
        ("step,loss\n0,5\n\n3,4\n3,3\n", "line 5, column step must be > 3 (got 3)"),
        (LOSSES[:20] + "0,3\n", "a loss curve must have at least 6 points (got 3)"),
        (b"step,loss\n0,\xff\n", "not UTF-8 text (byte 12)"),
        ("step,loss\n0," + "x" * 99 + "\n", "(got '" + "x" * 41 + "..." + "x" * 14 + "')"),
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
        ("0,1,1", "line 2, column p must be an integer from 1 to 1,000,000 (got '0')"),
        ("1,2.5,1", "line 2, column w must be an integer from 1 to 1,000,000 (got '2.5')"),
        ("1,1,0", "line 2, column speed must be a number > 0 and <= 1e15 (got '0')"),
        ("1,1,-3", "line 2, column speed must be a number > 0 and <= 1e15 (got '-3')"),
        ("1,1,1e-20", "speeds[0] must be a number from 1e-15 to 1e15 (got 1e-20)"),
        ("2000000,1,1", "line 2, column p must be an integer from 1 to 1,000,000 (got '2000000')"),
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
    monkeypatch.setattr("gangopt.base.tables.MAX_ROWS", 3)
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
