"""Versions for reports of faults."""

import importlib.metadata
import platform
import re
import tomllib
from pathlib import Path

import gangopt
from gangopt.base import versions


def test_versions_name_gangopt_python_and_every_library():
    found = gangopt.show_versions()
    assert found["gangopt"] == gangopt.__version__
    assert found["python"] == platform.python_version()
    assert found["pyomo"] == importlib.metadata.version("pyomo")
    lines = repr(found).splitlines()
    assert len(lines) == len(found)
    assert lines[0].split() == ["gangopt", gangopt.__version__]


def test_missing_library_is_named_as_such(monkeypatch):
    monkeypatch.setattr(versions, "_LIBRARIES", ("no-such-distribution",))
    assert gangopt.show_versions()["no-such-distribution"] == "not installed"


def test_every_dependency_is_listed():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {re.split(r"[\[<>=]", item)[0] for item in project["dependencies"]}
    assert needed <= set(gangopt.show_versions())
