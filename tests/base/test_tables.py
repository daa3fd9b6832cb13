import pytest

from gangopt.base import tables as strict_table
from gangopt.base.errors import InputError
from gangopt.base.tables import read_table


def test_columns_come_in_any_order_and_blank_lines_and_blanks_are_skipped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\ufeffb, a\n\n 2 ,x\n,\n-1e1,y\n", "utf-8")
    table = read_table(path, ("a", "b"))
    assert table.columns == ("b", "a")
    assert table.lines == (3, 5)
    assert table.texts("a") == ("x", "y")
    assert table.numbers("b", -10, 2) == [2, -10]


def test_more_rows_than_are_read_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(strict_table, "MAX_ROWS", 3)
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n2\n3\n")
    assert len(read_table(path, ("a",)).rows) == 3
    path.write_text("a\n1\n2\n3\n4\n")
    with pytest.raises(InputError, match=r"t\.csv: more than 3 rows"):
        read_table(path, ("a",))


def test_long_fields_are_cut_in_messages(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "x" * 500 + "\n")
    with pytest.raises(InputError, match=r"line 2, column a must be a number from 0 to 1 \(got 'x+\.\.\.x+'\)"):
        read_table(path, ("a",)).numbers("a", 0, 1)
