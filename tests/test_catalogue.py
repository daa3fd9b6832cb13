"""From names and files to instances: every way in, and every way it can go wrong."""

import copy
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gangopt
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import dump_json, parse_json, write_json
from gangopt.catalogue import entries, entry, families, load, names, read_document, to_document
from gangopt.registry.problem import resolve
from gangopt.registry.records import problems
from gangopt.topology import Cluster, State, save_cluster

EVERY = names()


def test_every_decision_has_named_instances_and_families():
    for noun in problems:
        assert entries(noun), noun
        assert list(families(noun)), noun


@pytest.mark.parametrize("name", EVERY)
def test_every_name_loads_and_survives_its_file(name):
    instance = load(name)
    assert instance.name == name
    document = to_document(instance)
    again = read_document(parse_json(dump_json(document), "x"), "x")
    assert again == instance
    assert hash(again) == hash(instance)
    schema = resolve(problems[instance.noun].document).model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)


@pytest.mark.parametrize("name", EVERY)
def test_every_index_record_says_where_it_comes_from(name):
    record = entry(name)
    assert record.source
    assert record.title
    assert record.unit == problems[name.partition("/")[0]].unit
    assert record.status in {"optimal", "best known", "open"}
    assert (record.best is None) == (record.status == "open" and record.bound is None) or record.status == "open"
    if record.status == "optimal":
        assert record.best == pytest.approx(record.bound, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in EVERY if entry(name).solution])
def test_every_stored_solution_is_worth_what_the_index_says(name):
    record, instance = entry(name), load(name)
    problem = problems[instance.noun]
    folder = resolve("gangopt.catalogue:_folder")(instance.noun)
    document = resolve(problem.solution_document).model_validate(json.loads((folder / record.solution).read_text()))
    solution = document.to_solution()
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == pytest.approx(record.best, rel=1e-9)


def test_names_match_patterns_and_words():
    assert gangopt.names("parameters/*") == [name for name in EVERY if name.startswith("parameters/")]
    assert gangopt.names("resnet50") == [name for name in EVERY if "resnet50" in name]
    assert gangopt.names("placement") == gangopt.names("placement/*")
    assert gangopt.names("nothing*") == []


def test_a_name_is_canonical_and_enough_to_rebuild():
    one = load("parameters/random?servers=3&blocks=7&seed=5")
    two = load("parameters/random?seed=5&blocks=7&servers=3")
    assert one.name == two.name == load(one.name).name
    assert one == two


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the name of an instance must not be empty; `gangopt list` prints the names"),
        ("parameters", "'parameters' is a problem, not an instance; `gangopt list parameters` prints its instances"),
        ("parameters/resnet5-p10", r"unknown network 'resnet5'; did you mean 'resnet50', 'resnet152' or 'resnet101'\?"),
        ("parameters/rsnet", "unknown instance 'parameters/rsnet'"),
        ("parameters/random?bloks=3", r"parameters/random\?bloks=3: unknown argument 'bloks'; accepted: "),
        ("parameters/random?blocks", "argument 'blocks' must have the format key=value"),
        (
            "parameter/resnet50-p10",
            "unknown instance or file 'parameter/resnet50-p10'; did you mean 'parameters/resnet50-p10'",
        ),
        ("nowhere.json", "nowhere.json: no such file"),
        ("a\0b", "unknown instance or file"),
    ],
)
def test_a_wrong_name_says_what_is_right(name, message):
    with pytest.raises(InputError, match=message):
        load(name)


def test_a_directory_is_no_instance(tmp_path):
    with pytest.raises(InputError, match="is a directory"):
        load(tmp_path)


@pytest.fixture
def document():
    return to_document(load("parameters/random?blocks=3&servers=2"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noun": None}, r"f\.json: field noun must name a problem, one of allocation, auction, bid, fair_share,"),
        (
            {"noun": "parking"},
            r"f\.json: field noun: unknown problem 'parking'; known: allocation,",
        ),
        ({"version": 2}, r"f\.json: field version must be 1 \(got 2\)"),
        ({"version": True}, r"f\.json: field version must be 1 \(got True\)"),
        ({"colour": "red"}, "f.json: field colour: extra inputs are not permitted"),
        ({"name": ""}, "f.json: field name: string should have at least 1 character"),
    ],
)
def test_each_defect_of_the_common_fields_has_its_message(document, change, message, tmp_path):
    broken = {**document, **change}
    with pytest.raises(InputError, match=message):
        read_document(broken, "f.json")


def test_a_file_that_is_no_object_is_refused(tmp_path):
    file = tmp_path / "list.json"
    write_json(file, [1, 2])
    with pytest.raises(InputError, match=r"list\.json: an instance file must hold a JSON object \(got list\)"):
        load(file)


def paths_of(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of(item, (*path, key))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from paths_of(item, (*path, index))


ODD = st.sampled_from(
    [None, True, -1, 0, 0.5, 1e300, -1e300, 10**40, "", "x", [], {}, [[]], float("nan"), float("inf")]
)


@pytest.mark.parametrize("noun", list(problems))
@given(data=st.data())
def test_a_file_with_any_value_anywhere_is_read_or_refused(noun, small_names, data):
    broken = copy.deepcopy(to_document(load(small_names[noun])))
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(paths_of(broken))))
        if not path:
            continue
        parent = broken
        for key in path[:-1]:
            parent = parent[key]
        if data.draw(st.booleans()) and isinstance(parent, dict):
            del parent[path[-1]]
        else:
            parent[path[-1]] = data.draw(ODD)
    answer = read_or_refused(broken)
    if isinstance(answer, str):
        assert answer.startswith("f.json: ")
        assert "\n" not in answer
    else:
        assert read_document(to_document(answer), "f.json") == answer


def read_or_refused(document):
    """The instance of a document, or the line that refuses it."""
    try:
        return read_document(document, "f.json")
    except InputError as error:
        return str(error)


@pytest.mark.parametrize("given", [None, 3, ["allocation/optimus-testbed"], b"allocation"])
def test_what_is_neither_name_nor_path_is_refused(given):
    with pytest.raises(InputError, match=r"an instance must be given by name or path \(got "):
        gangopt.load(given)
    with pytest.raises(InputError, match=r"pattern must be text, e\.g\. 'allocation/\*' \(got "):
        gangopt.names(given)


def test_families_take_a_cluster_and_its_state():
    cluster = Cluster.uniform(machines_per_rack=3, gpus_per_slot=4, capacities={"cpu": 16, "memory": 64})
    state = State(cluster)
    state.close("m1")
    for name in ("placement/random?jobs=2", "interval/random?jobs=2"):
        instance = load(name, cluster=cluster, state=state)
        assert instance.cluster == cluster
        assert instance.capacity[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("placement/optimus-figure10", "takes neither cluster nor state; only families of instances do"),
        ("parameters/random?blocks=3", "cluster is not an argument of this family"),
        ("placement/random?jobs=2&cluster=themis-testbed", "cluster is also given in the name"),
    ],
)
def test_a_cluster_for_what_takes_none(name, message):
    with pytest.raises(InputError, match=message):
        load(name, cluster=Cluster.uniform(machines_per_rack=1, gpus_per_slot=1))


def test_a_cluster_file_is_relative_to_the_instance_file(tmp_path):
    save_cluster(Cluster.uniform(machines_per_rack=1, gpus_per_slot=2, capacities={"cpu": 64}), tmp_path / "lab.json")
    document = to_document(load("placement/optimus-figure10")) | {"cluster": "lab.json", "state": {}}
    document["resources"] = [{"name": "cpu", "unit": "core"}]
    for job in document["jobs"]:
        job["worker"] = job["parameter_server"] = {"cpu": 1}
    (tmp_path / "made.json").write_text(json.dumps(document), encoding="utf-8")
    assert load(tmp_path / "made.json").machines == ("m0",)
    (tmp_path / "lab.json").unlink()
    with pytest.raises(InputError, match=r"made\.json: field cluster: .*lab\.json"):
        load(tmp_path / "made.json")
