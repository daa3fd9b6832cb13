"""The installed package; `make wheel` runs this file alone, away from the source tree."""

from importlib.metadata import distributions, entry_points, version
from pathlib import Path

import pytest

import gangopt

NOUNS = [noun for noun, problem in gangopt.problems.items() if problem.instance.startswith("gangopt.")]
installed = pytest.mark.skipif(not any(distributions(name="gangopt")), reason="gangopt is not installed")


@installed
def test_version_of_the_distribution():
    assert version("gangopt") == gangopt.__version__


@installed
def test_command_is_an_entry_point():
    (command,) = entry_points(group="console_scripts", name="gangopt")
    assert callable(command.load())


def test_package_is_typed():
    assert (Path(gangopt.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("noun", NOUNS)
def test_named_instances_are_installed(noun):
    names = [name for name in gangopt.names(f"{noun}/*") if "?" not in name]
    assert names
    assert gangopt.load(names[0]).noun == noun


def test_compare_and_replay():
    table = gangopt.compare(["parameters/resnet50-p4"], ["exact", "paa"])
    assert [row.proven for row in table.rows] == [True, False]
    workload = gangopt.Workload.from_columns({"id": ["a", "b"], "arrival": [0, 0], "gpus": [1, 1], "duration": [2, 4]})
    assert gangopt.replay(workload, 1, "srsf").metrics["avg_jct"] == 4
