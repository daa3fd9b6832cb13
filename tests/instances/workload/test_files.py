"""Files of this tool: written whole, read back equal, defects named."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.workload.catalogue import load_workload
from gangopt.instances.workload.columns import COLUMNS
from gangopt.instances.workload.notices import Notice
from gangopt.instances.workload.workload import Workload

ENDINGS = ["parquet", "csv", "json"]
LETTERS = st.characters(codec="utf-8", exclude_categories=("C",))
WORDS = st.text(LETTERS, min_size=1, max_size=6).filter(lambda text: text == text.strip())
TIMES = st.floats(0, 1e15)
POSITIVE = st.floats(1e-300, 1e15)


def column(spec):
    kinds = {
        "text": WORDS
        if spec.name != "speed"
        else st.sampled_from(["async 1.0 2.0 0.0 0.5", "sync 4.0 1.0 1.0 1.0 0.0 0.1"]),
        "whole": st.integers(int(spec.least), 10**15),
        "number": TIMES if spec.zero else POSITIVE,
        "flag": st.booleans(),
    }
    return kinds[spec.kind] if spec.required or spec.name == "app" else st.none() | kinds[spec.kind]


@st.composite
def workloads(draw):
    size = draw(st.integers(1, 4))
    columns = {name: draw(st.lists(column(spec), min_size=size, max_size=size)) for name, spec in COLUMNS.items()}
    columns["id"] = draw(st.lists(WORDS, min_size=size, max_size=size, unique=True))
    for name in draw(st.sets(st.sampled_from([name for name, spec in COLUMNS.items() if not spec.required]))):
        if name not in {"app", "phase"}:
            del columns[name]
    return Workload.from_columns(columns)


@given(workloads(), st.sampled_from(ENDINGS))
def test_what_is_written_is_read_back_equal(tmp_path_factory, workload, ending):
    path = tmp_path_factory.mktemp("w") / f"a.{ending}"
    workload.save(path)
    assert load_workload(path) == workload
    assert load_workload(path, format="gangopt", lenient=True) == workload


@pytest.mark.parametrize("ending", ENDINGS)
def test_methods_of_a_workload_are_short_for_the_public_functions(tmp_path, ending):
    workload = gangopt.load_workload("workload/optimus-uniform?seed=1")
    assert gangopt.Workload.load("workload/optimus-uniform?seed=1") == workload
    files = [tmp_path / f"{name}.{ending}" for name in ("function", "method")]
    gangopt.save_workload(workload, files[0])
    workload.save(files[1])
    assert files[0].read_bytes() == files[1].read_bytes()
    assert gangopt.Workload.load(files[0]) == gangopt.load_workload(files[1]) == workload


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_annotations_are_kept_and_notices_are_not(tmp_path, ending):
    columns = {"id": ["a"], "arrival": [0], "gpus": [1]}
    workload = Workload.from_columns(columns, name="n", description="d", source="s", notices=(Notice("x", 1, "y"),))
    path = tmp_path / f"a.{ending}"
    workload.save(path)
    again = Workload.load(path)
    assert (again.name, again.description, again.source, again.notices) == ("n", "d", "s", ())


def test_columns_without_values_are_left_out_and_units_are_stated(tmp_path):
    workload = Workload.from_columns({"id": ["a", "b"], "arrival": [0, 1.5], "gpus": [1, 2], "duration": [None, 3]})
    workload.save(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "id,arrival,gpus,duration\na,0.0,1,\nb,1.5,2,3.0\n"
    workload.save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["units"] == {"arrival": "s", "gpus": "GPUs", "duration": "s"}
    assert document["jobs"]["duration"] == [None, 3.0]
    workload.save(tmp_path / "a.parquet")
    assert list(pl.read_parquet_schema(tmp_path / "a.parquet")) == ["id", "arrival", "gpus", "duration"]


def test_files_that_cannot_be_written(tmp_path):
    workload = Workload.from_columns({"id": ["a"], "arrival": [0], "gpus": [1]})
    with pytest.raises(InputError, match=r"a.txt: suffix .txt, allowed: .parquet, .csv, .json"):
        workload.save(tmp_path / "a.txt")
    with pytest.raises(InputError, match="suffix missing"):
        workload.save(tmp_path / "a")
    for ending in ENDINGS:
        with pytest.raises(InputError, match="cannot be written"):
            workload.save(tmp_path / "absent" / f"a.{ending}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,arrival,gpus,work\na,0,1,1\nb,0,1,0\n",
            r"line 3: column work must be a number > 0 and <= 1e15 \(got '0'\)",
        ),
        (
            "id,arrival,gpus,deadline\na,0,1,1\nb,0,1,-1\n",
            r"line 3: column deadline must be a number from 0 to 1e15 \(got '-1'\)",
        ),
        ("id,arrival,gpus\na,0,1\nb,,1\n", r"line 3: column arrival must be a number from 0 to 1e15 \(got ''\)"),
        ("id,arrival,gpus\na,0,1\nb,0,0\n", r"line 3: column gpus must be an integer from 1 to 1e15 \(got '0'\)"),
        ("id,arrival,gpus\na,0,1\n,0,1\n", r"line 3: column id must be a name \(got ''\)"),
        ("id,arrival,gpus\na,0,1\na,0,1\n", "line 3: duplicate id 'a'"),
        (
            "id,arrival,gpus,network_intensive\na,0,1,true\nb,0,1,yes\n",
            r"line 3: column network_intensive must be true or false \(got 'yes'\)",
        ),
    ],
)
def test_defective_csv_rows(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"a.csv: {message}"):
        load_workload(path)
    kept = load_workload(path, lenient=True)
    assert kept.ids == ("a",)
    assert any(item.dropped for item in kept.notices)


def test_a_phase_without_an_app_and_a_speed_that_is_none_are_errors_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,arrival,gpus,phase\na,0,1,0\n")
    with pytest.raises(InputError, match=r"a\.csv: column app, row 0: missing app of a phase"):
        load_workload(path)
    path.write_text("id,arrival,gpus,extra\na,0,1,0\n")
    assert [item.name for item in load_workload(path).notices] == ["ignored-columns"]


def test_another_csv_is_not_taken_for_one_of_this_tool(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("job,arrival,gpus\na,0,1\n")
    with pytest.raises(
        InputError,
        match=r"a\.csv: missing column id; format gangopt requires id, arrival, gpus, and allows duration, work,",
    ):
        load_workload(path, format="gangopt")


GOOD = {"format": "gangopt-workload", "version": 1, "jobs": {"id": ["a"], "arrival": [0], "gpus": [1]}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, r"field version must be 1 \(got 2\)"),
        ({"version": True}, r"field version must be 1 \(got True\)"),
        ({"name": 3}, r"field name must be text \(got 3\)"),
        ({"more": 3}, "unknown field 'more'; allowed: format, version, name, description, source, units, jobs"),
        ({"jobs": []}, "field jobs must be an object with a list for each column"),
        ({"jobs": {"id": "a"}}, "field jobs must be an object with a list for each column"),
        (
            {"jobs": {"id": ["a"], "arrival": [0]}},
            r"missing column gpus \(size of the gang; a share of a GPU counts as one\)",
        ),
        (
            {"jobs": {"id": ["a"], "arrival": [0], "gpus": ["x"]}},
            r"column gpus, row 0: must be an integer from 1 to 1e15 \(got 'x'\)",
        ),
        ({"units": {"arrival": "ms"}}, r"field units: unit of arrival must be s \(got 'ms'\)"),
        ({"units": {"arrivals": "s"}}, "field units: unknown column 'arrivals'"),
        ({"units": {"id": "s"}}, r"field units: unit of id must be empty \(got 's'\)"),
        ({"units": "s"}, r"field units must be an object \(got 's'\)"),
    ],
)
def test_defective_json(tmp_path, change, message):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(GOOD))
    assert len(load_workload(path)) == 1
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError, match=f"a.json: {message}"):
        load_workload(path)


def test_files_that_are_cut_off(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(json.dumps(GOOD).encode() + b"\xff")
    with pytest.raises(InputError, match="not UTF-8 text"):
        load_workload(path)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(
        InputError,
        match=r"a\.parquet: not a parquet file \(parquet: File out of specification: The file must end with PAR1",
    ):
        load_workload(path)


def test_a_parquet_file_of_another_tool_needs_the_columns(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"id": [1, 2], "arrival": [3, 4], "gpus": [5, 6]}).write_parquet(path)
    assert load_workload(path).ids == ("1", "2")
    pl.DataFrame({"id": [1, 2]}).write_parquet(path)
    with pytest.raises(
        InputError, match=r"a\.parquet: missing column arrival \(when the job is submitted, on the trace's own clock\)"
    ):
        load_workload(path)


@pytest.mark.parametrize(
    "text",
    [
        "id,arrival,gpus,user\na;b,0,1,x y\n",
        "ID,Arrival,GPUs,User\na;b,0,1,x y\n",
        'id;arrival;gpus;user\n"a;b";0;1;x y\n',
        '\nGPUS\tID\tuser\tarrival\n1\t"a;b"\tx y\t0\n',
    ],
)
def test_other_separators_and_capitals_are_read(tmp_path, text):
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    workload = load_workload(path)
    assert (workload.ids, workload.gpus.tolist(), workload.texts("user")) == (("a;b",), [1], ("x y",))
    assert workload.notices == ()


def test_lines_are_counted_and_columns_named_in_other_spellings(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("\nID;Arrival;GPUs;Line;Queue\na;0;1;4;q\nb;0;x;4;q\n")
    with pytest.raises(InputError, match=r"line 4: column gpus must be an integer from 1 to 1e15 \(got 'x'\)"):
        load_workload(path)
    path.write_text("ID;Id;Arrival;GPUs\na;b;0;1\n")
    with pytest.raises(InputError, match="duplicate column id"):
        load_workload(path)


def test_lower_limits_are_kept_in_files_and_reported_again(tmp_path):
    workload = Workload.from_columns(
        {"id": ["a", "b", "c"], "arrival": [0, 0, 0], "gpus": [1, 1, 1], "duration": [5, 6, None]}
        | {"status": ["Running", "RUNNING", "Running"], "censored": [True, False, None]}
    )
    for ending in ("csv", "json", "parquet"):
        workload.save(tmp_path / f"jobs.{ending}")
        read = load_workload(tmp_path / f"jobs.{ending}")
        assert read == workload
        assert [(item.name, item.count) for item in read.notices if item.name[0] == "c"] == [("censored-durations", 1)]
        assert read.ended().ids == ("b",)
    bare = Workload.from_columns(workload.frame.drop("censored").to_dict(as_series=True))
    bare.save(tmp_path / "bare.csv")
    read = load_workload(tmp_path / "bare.csv")
    assert read == bare
    assert [item.count for item in read.notices if item.name == "censored-durations"] == [2]
    assert read.ended().ids == ()


def test_parquet_with_metadata_of_another_kind_is_refused(tmp_path):
    frame = Workload.from_columns({"id": ["a"], "arrival": [0], "gpus": [1]}).frame
    for notes, message in (("[]", "an object of text"), ('{"name": 3}', "an object of text"), ("{", "not JSON")):
        frame.write_parquet(tmp_path / "a.parquet", metadata={"gangopt-workload": notes})
        with pytest.raises(InputError, match=f"a.parquet: metadata gangopt-workload(:| must be) {message}"):
            load_workload(tmp_path / "a.parquet")


@pytest.mark.parametrize("other", [None, True, 7, 1.5, "x", [], [None], [[1]], {}, {"a": 1}])
def test_values_of_other_types_in_json_are_one_line(tmp_path, other):
    path = tmp_path / "jobs.json"
    good = {**GOOD, "name": "n", "units": {"arrival": "s"}}
    changes = [{**good, key: other} for key in good]
    changes += [{**good, "jobs": {**good["jobs"], key: other}} for key in ("id", "arrival", "gpus", "ps", "other")]
    changes += [{**good, "jobs": {**good["jobs"], key: [other]}} for key in ("id", "arrival", "gpus", "ps", "censored")]
    changes += [{**good, "units": {"arrival": other}}, other]
    for document in changes:
        path.write_text(json.dumps(document))
        try:
            found = load_workload(path, format="gangopt").gpus.tolist()
        except InputError as error:
            found = str(error).count("\n")
        assert found == 0 or found == document["jobs"]["gpus"]
