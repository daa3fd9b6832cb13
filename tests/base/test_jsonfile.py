"""Strict JSON: every defect has its line, and files appear whole or not at all."""

import contextlib
import json
import os
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.base.jsonfile import dump_json, file_kind, parse_json, read_json, read_text, write_bytes, write_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_is_dumped_reads_back(value):
    assert parse_json(dump_json(value), "x") == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"x: not JSON, or cut off \(line 1, column 2"),
        ("", "x: not JSON, or cut off"),
        ("[1, 2", "x: not JSON, or cut off"),
        ("[NaN]", "x: NaN is not valid JSON"),
        ("[-Infinity]", "x: -Infinity is not valid JSON"),
        ("1e400", "x: 1e400 exceeds the range of a double"),
        ('{"a": 1, "a": 2}', r"x: duplicate key 'a' \(1 and 2\)"),
        ("9" * 400, "x: an integer of 400 digits; at most 300 are allowed"),
        ("[" * 100_000, "x: nested too deeply"),
    ],
)
def test_each_defect_of_a_text_has_its_message(text, message):
    with pytest.raises(InputError, match=message):
        parse_json(text, "x")


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        parse_json(text, "x")


def test_defects_of_a_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(InputError, match="is a directory"):
        read_json(tmp_path)
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"not UTF-8 text \(byte 0\)"):
        read_json(binary)
    with pytest.raises(InputError, match="cannot be read"):
        read_json("a\0b")


def test_a_file_that_is_too_large_is_refused_unread(tmp_path):
    large = tmp_path / "large.json"
    with large.open("wb") as stream:
        stream.truncate(600 * 1024 * 1024)
    with pytest.raises(InputError, match="629,145,600 bytes exceed"):
        read_text(large)


def test_byte_order_mark_is_no_content(tmp_path):
    file = tmp_path / "bom.json"
    file.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(file) == [1]


def test_writing_is_whole_or_nothing(tmp_path, monkeypatch):
    target = tmp_path / "out.json"
    write_json(target, {"a": [1, 2]})
    assert json.loads(target.read_text()) == {"a": [1, 2]}

    def fail(self, other):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(InputError, match="No space left on device"):
        write_json(target, {"a": 3})
    assert json.loads(target.read_text()) == {"a": [1, 2]}
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]


def test_writing_where_nothing_can_be_written(tmp_path):
    with pytest.raises(InputError, match="is a directory"):
        write_bytes(tmp_path, b"")
    with pytest.raises(InputError, match="cannot be written"):
        write_bytes(tmp_path / "no" / "where.json", b"")
    with pytest.raises(InputError, match="cannot be written as JSON"):
        dump_json(float("nan"))


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling.json"
    dangling.symlink_to(tmp_path / "later.json")
    write_bytes(dangling, b"there")
    assert (tmp_path / "later.json").read_bytes() == b"there"


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    file = tmp_path / "mine.json"
    file.write_text("old")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match=r"cannot be written \(no permission"):
        write_bytes(file, b"new")
    assert file.read_text() == "old"


def test_what_stands_at_a_path(tmp_path):
    file = tmp_path / "a"
    file.write_text("")
    os.mkfifo(tmp_path / "pipe")
    assert file_kind(file) == "file"
    assert file_kind(tmp_path) == "directory"
    assert file_kind("/dev/null") == file_kind(tmp_path / "pipe") == "stream"
    for absent in (tmp_path / "b", "x" * 5000, "a\0b", file / "below"):
        assert file_kind(absent) == "absent"


def test_what_stdout_goes_to_is_written_behind_what_it_has(tmp_path):
    target = tmp_path / "out"
    code = (
        "from gangopt.base.jsonfile import write_bytes as write; write('/dev/stdout', b'two'); write('/dev/null', b'x')"
    )
    with target.open("w") as stream:
        stream.write("one")
        stream.flush()
        subprocess.run([sys.executable, "-c", code], stdout=stream, check=True)
    assert target.read_text() == "onetwo"
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_names_that_no_file_can_have_are_refused_in_a_short_line():
    for attempt in (
        lambda: write_bytes("x" * 5000, b""),
        lambda: read_text("x" * 5000),
        lambda: write_bytes("a\0b", b""),
    ):
        with pytest.raises(InputError, match="cannot be") as error:
            attempt()
        assert len(str(error.value)) < 300
