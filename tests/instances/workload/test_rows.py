"""The text of logs: line ends, quotes, ragged rows, encodings, numbers and times."""

import gzip

import polars as pl
import pytest

from gangopt.base.errors import InputError
from gangopt.instances.workload import rows as workload_rows
from gangopt.instances.workload.notices import Tally
from gangopt.instances.workload.rows import header_of, read_bytes, read_rows


def rows_of(text, tmp_path, lenient=False, **options):
    path = tmp_path / "log.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_rows(read_bytes(path), Tally("log.csv", lenient), **options)


def test_line_ends_byte_order_mark_blank_lines_and_blanks(tmp_path):
    rows = rows_of(b"\xef\xbb\xbfa, b\r\n\r\n1, x\r\n\r\n2,\r\n", tmp_path)
    rows.numbers("a", whole=True)
    rows.names("b", optional=True)
    assert rows.frame.rows(named=True) == [{"a": 1, "b": "x", "line": 3}, {"a": 2, "b": None, "line": 5}]


def test_quotes_may_hold_separators_but_no_line_ends(tmp_path):
    rows = rows_of('a,"b"\n1,"x, ""y"""\n2,z\n', tmp_path)
    assert rows.frame["b"].to_list() == ['x, "y"', "z"]
    assert rows.frame["line"].to_list() == [2, 3]
    with pytest.raises(InputError, match="line 2: fields must not span several lines"):
        rows_of('a,b\n1,"x\ny"\n', tmp_path)
    with pytest.raises(InputError, match="line 2: not CSV"):
        rows_of('a,b\n1,"x"y\n', tmp_path)


def test_quotes_in_tabbed_files_are_text(tmp_path):
    rows = rows_of('1\t"x\n2\ty"\n', tmp_path, separator="\t", header=("a", "b"))
    assert rows.frame["b"].to_list() == ['"x', 'y"']
    assert rows.frame["line"].to_list() == [1, 2]


def test_ragged_rows_raise_or_are_counted(tmp_path):
    text = "a,b\n1,2\n3\n4,5,6\n7,8"
    with pytest.raises(InputError, match=r"log\.csv: line 3 must have 2 fields \(got 1\)"):
        rows_of(text, tmp_path)
    rows = rows_of(text, tmp_path, lenient=True)
    assert rows.frame["line"].to_list() == [2, 5]
    assert [(item.name, item.count, item.dropped) for item in rows.tally.notices] == [("ragged-rows", 2, True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,a\n1,2\n", r"log\.csv: duplicate column 'a'"),
        ("a,\n1,2\n", r"log\.csv: unnamed column in the header"),
        ("a,b\n", r"log\.csv: no rows after the header"),
        (b"a,b\n1,\xff\n", r"not UTF-8 text \(byte 6\)"),
    ],
)
def test_defective_tables(text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        rows_of(text, tmp_path)


def test_no_rows_are_left_without_a_header(tmp_path):
    with pytest.raises(InputError, match=r"log\.csv: no rows"):
        rows_of("a\tb\n", tmp_path, lenient=True, separator="\t", header=("a", "b", "c"))


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"absent\.csv: no such file"):
        read_bytes(tmp_path / "absent.csv")
    with pytest.raises(InputError, match=r"must be a file \(is a directory\)"):
        read_bytes(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_bytes("a\0b")
    empty = tmp_path / "empty.csv"
    empty.write_text(" \n")
    with pytest.raises(InputError, match=r"empty\.csv: empty file; expected a log of jobs"):
        read_bytes(empty)
    empty.write_text("a,b")
    assert read_bytes(empty, limit=1) == b"a"
    monkeypatch.setattr(workload_rows, "MAX_BYTES", 2)
    with pytest.raises(InputError, match="3 bytes exceed the limit of 2"):
        read_bytes(empty)


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ("x", {}, "line 2: column a must be a number from 0 to 1e15 .got 'x'"),
        ("", {}, "line 2: column a must be a number from 0 to 1e15 .got ''"),
        ("-1", {}, "must be a number from 0 to 1e15 .got '-1'"),
        ("nan", {}, "must be a number from 0 to 1e15 .got 'nan'"),
        ("inf", {}, "must be a number from 0 to 1e15 .got 'inf'"),
        ("1e16", {}, "must be a number from 0 to 1e15 .got '1e16'"),
        ("0", {"above": 0}, "must be a number > 0 and <= 1e15 .got '0'"),
        ("1.5", {"whole": True, "least": 1}, "must be an integer from 1 to 1e15 .got '1.5'"),
        ("0", {"whole": True, "least": 1}, "must be an integer from 1 to 1e15 .got '0'"),
        ("x", {"optional": True}, "must be a number from 0 to 1e15 .got 'x'"),
        ("9" * 70, {}, r"'9{37}\.\.\.'"),
    ],
)
def test_numbers(value, options, message, tmp_path):
    text = f"a,b\n{value},1\n5,2\n"
    with pytest.raises(InputError, match=rf"{message}.*\(bad-a: 1; a lenient" if "9{" not in message else message):
        rows_of(text, tmp_path).numbers("a", **options)
    rows = rows_of(text, tmp_path, lenient=True)
    rows.numbers("a", **options)
    assert rows.frame["a"].to_list() == [5]
    assert rows.tally.notices[0].dropped


def test_optional_fields_are_unknown_values(tmp_path):
    rows = rows_of("a,b,c\n,,None\n1,x,2017-10-07 01:11:39\n", tmp_path)
    rows.numbers("a", optional=True)
    rows.names("b", optional=True)
    rows.times("c", optional=True)
    assert rows.frame.rows() == [(None, None, None, 2), (1.0, "x", 1507338699.0, 3)]
    assert rows.frame.schema["c"] == pl.Float64


def test_names_and_times_are_needed_unless_optional(tmp_path):
    with pytest.raises(InputError, match=r"line 3: column b must be a name \(got ''\)"):
        rows_of("a,b\n1,x\n2, \n", tmp_path).names("b")
    for value in ("", "None", "7 October", "2017-13-01 00:00:00"):
        with pytest.raises(InputError, match=r"line 2: column b must be a time such as 2017-10-07 01:11:39"):
            rows_of(f"a,b\n1,{value}\n", tmp_path).times("b")


def test_other_columns_are_named(tmp_path):
    rows = rows_of("a,b,c\n1,2,3\n", tmp_path)
    rows.ignore_others(["a"])
    assert [(item.name, item.count, item.message) for item in rows.tally.notices] == [
        ("ignored-columns", 2, "ignored columns: 'b', 'c'")
    ]


def test_header_is_that_of_the_first_line_with_text():
    assert header_of(b'\n "a" ,b\n1,2') == ("a", "b")


def test_a_packed_file_that_grows_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "zeros.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 100_000))
    monkeypatch.setattr(workload_rows, "MAX_BYTES", 1000)
    with pytest.raises(InputError, match=r"zeros\.csv\.gz: exceeds the limit of 1,000 bytes unpacked"):
        read_bytes(path)


def test_a_packed_git_lfs_pointer_is_named_as_such(tmp_path):
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 10\n"))
    with pytest.raises(InputError, match=r"jobs\.csv\.gz is a Git LFS pointer, not the data"):
        read_bytes(path)
