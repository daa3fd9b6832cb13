"""Exported models keep the formulation's names and its optimum."""

import json

import highspy
import pytest

import gangopt
from gangopt.errors import InputError
from gangopt.solvers.export import export

LINEAR = [
    (noun, name) for noun, problem in gangopt.problems.items() for name, form in problem.forms.items() if form.linear
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
    expected = gangopt.solve(instance, form=form)
    assert optimum_of(file) == pytest.approx(expected.objective, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("noun", "form"), LINEAR)
def test_json_holds_columns_and_rows_by_name(noun, form, tmp_path, small_names):
    file = tmp_path / "model.json"
    export(gangopt.load(small_names[noun]), file, form=form, file_format="json")
    record = json.loads(file.read_text())
    assert record["sense"] == "minimise"
    assert len({column["name"] for column in record["columns"]}) == len(record["columns"])
    assert all(0 <= index < len(record["columns"]) for row in record["rows"] for index, _ in row["terms"])


@pytest.mark.parametrize("noun", list(gangopt.problems))
def test_every_form_is_written_as_nl(noun, tmp_path, small_names):
    for name in gangopt.problems[noun].forms:
        file = tmp_path / f"{name}.nl"
        export(gangopt.load(small_names[noun]), file, form=name, file_format="nl")
        assert file.read_text().startswith("g3 ")


def test_a_form_that_is_not_linear_is_written_as_nl_only(tmp_path):
    with pytest.raises(InputError, match="form literal of allocation is not linear: write it as nl, not as lp"):
        export(gangopt.load("allocation/optimus-figure4"), tmp_path / "m.lp", form="literal", file_format="lp")


def test_each_wrong_argument_has_its_message(tmp_path):
    with pytest.raises(InputError, match="unknown format 'gms'"):
        export(gangopt.load("parameters/random?blocks=4&servers=2"), tmp_path / "m", file_format="gms")
    with pytest.raises(InputError, match="unknown form of parameters 'x'"):
        export(gangopt.load("parameters/random?blocks=4&servers=2"), tmp_path / "m", form="x")
    with pytest.raises(InputError, match="is a directory"):
        export(gangopt.load("parameters/random?blocks=4&servers=2"), tmp_path)
    assert list(tmp_path.iterdir()) == []
