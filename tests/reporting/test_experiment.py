"""Tables of experiments: text, JSON and files."""

import json

import pytest

from gangopt.base.errors import InputError
from gangopt.reporting.experiment import ExperimentTable
from gangopt.reporting.plots import new_figure

TABLE = ExperimentTable(
    "made",
    "a made-up table",
    {"method": "", "time": "s", "share": "%"},
    ({"method": "a", "time": 12345.6, "share": 1.5}, {"method": "longer", "time": 0.123456, "share": None}),
    ("one note",),
)


def test_text():
    assert TABLE.text() == (
        "a made-up table\n\n"
        "method  time (s)  share (%)\n"
        "a         12,346        1.5\n"
        "longer    0.1235          -\n\n"
        "one note"
    )


def test_files(tmp_path):
    TABLE.write(tmp_path / "table.json")
    record = json.loads((tmp_path / "table.json").read_text())
    assert record["rows"][1] == {"method": "longer", "time": 0.123456, "share": None}
    assert record["units"] == {"method": "", "time": "s", "share": "%"}
    TABLE.write(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "method,time,share\na,12345.6,1.5\nlonger,0.123456,\n"
    with pytest.raises(InputError, match=r"suffix \.txt, allowed: \.csv, \.json, \.html"):
        TABLE.write(tmp_path / "table.txt")


def test_html(tmp_path):
    TABLE.write(tmp_path / "a.html", lambda _: new_figure(3, 2)[0])
    html = (tmp_path / "a.html").read_text()
    assert "<title>gangopt experiment made</title>" in html
    assert "<tr><td class=left>a</td><td>12,346</td><td>1.5</td></tr>" in html
    assert "<p>one note</p><svg" in html
    TABLE.write(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text() == TABLE.html()
