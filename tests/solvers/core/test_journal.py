"""The journal of a comparison: a stopped one goes on, nothing is lost, and no foreign file is touched."""

import dataclasses
import json

import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import write_json
from gangopt.catalogue import to_document
from gangopt.solvers.core.row import Row

NAMES = ["parameters/random?blocks=6&servers=2&seed=1", "parameters/random?blocks=7&servers=3&seed=2"]
METHODS = ["exact", "lpt"]


def stable(comparison):
    """Rows without their times."""
    return [(row.instance, row.method, row.objective, row.best_bound, row.status, row.best) for row in comparison.rows]


def begun(names, journal, **options):
    """Compare the names and return the rows with the instances that were computed in this call."""
    computed = []
    comparison = gangopt.compare(
        names, METHODS, journal=journal, on_rows=lambda rows: computed.append(rows[0].instance), **options
    )
    return stable(comparison), computed


@pytest.fixture(scope="module")
def expected():
    return stable(gangopt.compare(NAMES, METHODS))


def test_a_stopped_comparison_goes_on_from_its_journal(tmp_path, expected):
    def stop_after_one(rows):
        raise KeyboardInterrupt

    journal = tmp_path / "rows"
    partial = gangopt.compare(NAMES, METHODS, journal=journal, on_rows=stop_after_one)
    assert partial.interrupted
    before = journal.read_text()
    assert begun(NAMES, journal) == (expected, [NAMES[1]])
    assert journal.read_text().startswith(before)
    assert begun(NAMES, journal) == (expected, [])


def test_a_torn_last_line_alone_is_dropped(tmp_path, expected):
    journal = tmp_path / "rows"
    begun(NAMES, journal)
    whole = journal.read_text()
    journal.write_text(whole[:-30])
    assert begun(NAMES, journal) == (expected, [NAMES[1]])
    assert len(journal.read_text().splitlines()) == 3
    journal.write_text("")
    assert begun(NAMES, journal) == (expected, NAMES)


def test_a_resumed_journal_keeps_its_file(tmp_path):
    """It is only added to: a kill between two writes cannot lose rows that were there."""
    journal = tmp_path / "rows"
    begun(NAMES, journal)
    inode, content = journal.stat().st_ino, journal.read_bytes()
    begun(NAMES, journal)
    assert (journal.stat().st_ino, journal.read_bytes()) == (inode, content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"fingerprint": "other"}\n', "rows of a comparison with other settings"),
        (b"[1]\n", "not a journal of a comparison"),
        (b"my shopping list\neggs\n", "not a journal of a comparison"),
        (b"eggs", "not a journal of a comparison"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "not a journal of a comparison"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, content, message):
    journal = tmp_path / "rows"
    journal.write_bytes(content)
    with pytest.raises(InputError, match=message):
        gangopt.compare(NAMES, ["lpt"], journal=journal)
    assert journal.read_bytes() == content


ROW = dataclasses.asdict(Row(NAMES[0], "parameters", "lpt", 1.0, None, None, False, 0.1, "feasible"))
WRONG = [
    {"instance": []},
    {"status": None},
    {"objective": "1"},
    {"seconds": None},
    {"proven": 1},
    {"reason": 3},
    {"metrics": []},
    {"metrics": {"a": "x"}},
]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("eggs", "line 2 is damaged"),
        ('{"task": 0}', "line 2 is damaged"),
        ('{"task": 0, "rows": [{"colour": 1}]}', "line 2 is damaged"),
        ('{"task": 0, "rows": []}', "line 2 is damaged"),
        ('{"task": 0, "rows": ""}', "line 2 is damaged"),
        *((json.dumps({"task": 0, "rows": [{**ROW, **change}]}), "line 2 is damaged") for change in WRONG),
        (json.dumps({"task": 7, "rows": [ROW]}), "line 2 names task 7; tasks are 0 to 1"),
        (json.dumps({"task": True, "rows": [ROW]}), "line 2 names task True; tasks are 0 to 1"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, message):
    journal = tmp_path / "rows"
    begun(NAMES, journal)
    head, _, last = journal.read_text().splitlines()
    content = f"{head}\n{line}\n{last}\n"
    journal.write_text(content)
    with pytest.raises(InputError, match=message):
        begun(NAMES, journal)
    assert journal.read_text() == content


def test_a_journal_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        gangopt.compare(NAMES, ["lpt"], journal=tmp_path / "no" / "rows")
    with pytest.raises(InputError, match="journal cannot be read or written"):
        gangopt.compare(NAMES, ["lpt"], journal=tmp_path)


HISTORY = "job,ratio,skew\na,1.0,0.1\nb,0.5,{}\n"
SPEEDS = "global_batch_size,1,2\n32,10,{}\n"


@pytest.mark.parametrize(
    ("name", "template", "values"),
    [
        ("parameters/blocks?file={file}&servers=2", "30,3,3,{}", (2, 4)),
        ("threshold/history?file={file}", HISTORY, (0.5, 0.05)),
        ("allocation/table?file={file}&gpus=2", SPEEDS, (18, 11)),
        ("allocation/table?file={folder}&gpus=2", SPEEDS, (18, 11)),
    ],
)
def test_rows_go_stale_when_a_file_named_in_an_argument_changes(tmp_path, name, template, values):
    folder = tmp_path / "data"
    folder.mkdir()
    file, journal = folder / "data.csv", tmp_path / "rows"
    name = name.format(file=file, folder=folder)
    file.write_text(template.format(values[0]))
    first = gangopt.compare([name], "exact", journal=journal)
    assert first.rows[0].proven
    assert gangopt.compare([name], "exact", journal=journal) == first
    file.write_text(template.format(values[1]))
    with pytest.raises(InputError, match="rows of a comparison with other settings or data"):
        gangopt.compare([name], "exact", journal=journal)


def test_rows_go_stale_when_an_instance_file_changes(tmp_path):
    file, journal = tmp_path / "mine.json", tmp_path / "rows"
    write_json(file, to_document(gangopt.load(NAMES[0])))
    gangopt.compare([file], "lpt", journal=journal)
    write_json(file, to_document(gangopt.load(NAMES[1])))
    with pytest.raises(InputError, match="rows of a comparison with other settings or data"):
        gangopt.compare([file], "lpt", journal=journal)
