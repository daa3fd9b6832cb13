"""Exported models keep the formulation's names and its optimum."""

import json
import shutil
import subprocess

import highspy
import pyomo.environ as pyo
import pytest

import gangopt
from gangopt.base.errors import InputError
from gangopt.instances.parameters.instance import ParametersInstance
from gangopt.solvers.export import _written as written
from gangopt.solvers.export import export

LINEAR = [
    (noun, name) for noun, problem in gangopt.problems.items() for name in problem.forms if problem.form(name).linear
]


def optimum_of(path):
    """Objective that HiGHS finds in a model file."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    highs.run()
    return highs.getInfo().objective_function_value


@pytest.mark.parametrize(("noun", "form"), LINEAR)
@pytest.mark.parametrize("file_format", ["lp", "mps"])
def test_a_model_file_has_the_same_optimum(noun, form, file_format, tmp_path, small_names):
    instance = gangopt.load(small_names[noun])
    file = tmp_path / f"model.{file_format}"
    assert export(instance, file, form=form, file_format=file_format) == form
    expected = gangopt.solve(instance, form=form).objective
    negated = file_format == "mps" and gangopt.problems[noun].sense == "maximise"
    found = gangopt.problems[noun].form(form).report(instance, -optimum_of(file) if negated else optimum_of(file))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("noun", "form"), LINEAR)
def test_json_holds_columns_and_rows_by_name(noun, form, tmp_path, small_names):
    file = tmp_path / "model.json"
    export(gangopt.load(small_names[noun]), file, form=form, file_format="json")
    record = json.loads(file.read_text())
    assert record["sense"] == gangopt.problems[noun].sense
    assert len({column["name"] for column in record["columns"]}) == len(record["columns"])
    assert all(0 <= index < len(record["columns"]) for row in record["rows"] for index, _ in row["terms"])


@pytest.mark.parametrize("noun", list(gangopt.problems))
def test_every_form_is_written_as_nl(noun, tmp_path, small_names):
    for name in gangopt.problems[noun].forms:
        file = tmp_path / f"{name}.nl"
        export(gangopt.load(small_names[noun]), file, form=name, file_format="nl")
        assert file.read_text().startswith("g3 ")


def test_a_form_that_is_not_linear_is_written_as_nl_only(tmp_path):
    with pytest.raises(InputError, match="formulation literal of allocation is not linear; export it as nl, not lp"):
        export(gangopt.load("allocation/optimus-figure4"), tmp_path / "m.lp", form="literal", file_format="lp")


def test_each_wrong_argument_has_its_message(tmp_path):
    with pytest.raises(InputError, match="unknown format 'gms'"):
        export(gangopt.load("parameters/random?blocks=4&servers=2"), tmp_path / "m", file_format="gms")
    with pytest.raises(InputError, match="unknown formulation of parameters 'x'"):
        export(gangopt.load("parameters/random?blocks=4&servers=2"), tmp_path / "m", form="x")
    with pytest.raises(InputError, match="is a directory"):
        export(gangopt.load("parameters/random?blocks=4&servers=2"), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def awkward():
    """Two servers, and blocks whose labels differ in signs, case and length only, or are in no ASCII letter."""
    labels = (
        "a b",
        "a_b",
        "a.b",
        "A_b",
        "\u30d6\u30ed\u30c3\u30af",
        "\u30d6\u30ed\u30c3\u30c9",
        "x" * 199 + "1",
        "x" * 199 + "2",
        "a_b_2",
    )
    return ParametersInstance(
        name="an awkward\u00e9 $name", shapes=tuple((size,) for size in range(9, 18)), servers=2, labels=labels
    )


@pytest.mark.parametrize("file_format", ["lp", "mps", "nl", "json"])
def test_labels_that_differ_in_signs_only_are_told_apart(awkward, file_format, tmp_path):
    file = tmp_path / f"model.{file_format}"
    export(awkward, file, form="assign", file_format=file_format)
    if file_format in {"lp", "mps"}:
        text = file.read_bytes().decode("ascii")
        assert max(map(len, text.split())) < 160
        assert optimum_of(file) == pytest.approx(gangopt.solve(awkward, form="assign").objective)


@pytest.mark.parametrize("file_format", ["lp", "mps"])
@pytest.mark.parametrize("maximised", [False, True])
def test_glpk_and_cbc_read_what_is_written(awkward, file_format, maximised, tmp_path):
    file = tmp_path / f"model.{file_format}"
    model = gangopt.problems["parameters"].form("assign").model(awkward)
    if maximised:
        turn_round(model)
    file.write_bytes(written(model, file_format))
    expected = optimum_of(file)
    if maximised:
        assert b"negated" in file.read_bytes().partition(b"\n")[0] or file_format == "lp"
    found = {"glpsol": glpk_optimum(file, file_format), "cbc": cbc_optimum(file)}
    # cbc prints the minimised value also of what is maximised
    assert {name: abs(value) for name, value in found.items() if value is not None} == {
        name: pytest.approx(abs(expected), abs=1e-6) for name, value in found.items() if value is not None
    }


def turn_round(model):
    """Make the model maximise the negated objective."""
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    objective.set_value(-objective.expr)
    objective.sense = pyo.maximize


def glpk_optimum(file, file_format):
    """Objective that glpsol finds, None where it is not installed."""
    if shutil.which("glpsol") is None:
        return None
    answer = file.with_suffix(".glpk")
    option = {"lp": "--lp", "mps": "--freemps"}[file_format]
    subprocess.run(["glpsol", option, file, "--write", answer], check=True, capture_output=True)
    status = next(line for line in answer.read_text().splitlines() if line.startswith("s "))
    return float(status.split()[-1])


def cbc_optimum(file):
    """Objective that cbc finds, None where it is not installed."""
    if shutil.which("cbc") is None:
        return None
    answer = file.with_suffix(".cbc")
    done = subprocess.run(
        ["cbc", file, "solve", "solution", answer, "quit"], check=True, capture_output=True, text=True
    )
    assert "Optimal solution found" in done.stdout
    return float(answer.read_text().splitlines()[0].split()[-1])
