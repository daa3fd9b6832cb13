"""Things by name, with those of entry points behind this package's own."""

import os
import subprocess
import sys
import warnings
from dataclasses import dataclass

import pytest

from gangopt.base.errors import InputError
from gangopt.base.plugins import Extensible, PluginWarning, resolve

GROUP = "gangopt.test_things"
MODULE = """
class Thing:
    def __init__(self, name):
        self.name = name
one, two, other = Thing("one"), Thing("two"), 3
"""


@dataclass
class Own:
    """A thing of this package."""

    name: str


def install(folder, name, points, group=GROUP):
    """Put the metadata of a distribution into a folder, as an installer does."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "\n".join(f"{key} = {value}" for key, value in points)
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")


@pytest.fixture
def things(tmp_path, monkeypatch):
    """Return a function that installs distributions and returns the things by name, and what was warned of."""
    (tmp_path / "things_for_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import things_for_test

    def make(**distributions):
        for name, points in distributions.items():
            install(tmp_path, name, points)
        own = things_for_test.Thing("own")
        found = Extensible("thing", GROUP, things_for_test.Thing, lambda item: item.name, (own,))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            names = list(found)
        assert all(item.category is PluginWarning for item in caught)
        return found, names, [str(item.message) for item in caught]

    yield make
    sys.modules.pop("things_for_test")


def test_what_other_distributions_add_stands_behind_what_is_here(things):
    found, names, told = things(b=[("two", "things_for_test:two")], a=[("one", "things_for_test:one")])
    assert (names, told) == (["own", "one", "two"], [])
    assert len(found) == 3
    assert found["two"] is resolve("things_for_test:two")
    assert "one" in found
    assert "three" not in found
    with pytest.raises(InputError, match=r"unknown thing 'three'; (did you mean|known): .*"):
        found["three"]


@pytest.mark.parametrize(
    ("points", "told"),
    [
        (
            [("one", "no_such_module:x")],
            "one of G: cannot be loaded (ModuleNotFoundError: No module named 'no_such_mod",
        ),
        (
            [("one", "things_for_test:nothing")],
            "one of G: cannot be loaded (AttributeError: module 'things_for_test' h",
        ),
        ([("one", "things_for_test:other")], "one of G: things_for_test:other must be a Thing (got a int)"),
        (
            [("first", "things_for_test:one")],
            "first of G: things_for_test:one must have the name of the entry point (got 'one')",
        ),
        ([("own", "things_for_test:one")], "own of G: duplicate thing, already provided by gangopt"),
    ],
)
def test_an_entry_point_that_cannot_be_used_is_told_by_its_distribution_and_left_out(things, points, told):
    found, names, lines = things(broken=points, good=[("two", "things_for_test:two")])
    assert names == ["own", "two"]
    assert found["own"].name == "own"
    assert len(lines) == 1
    assert lines[0].startswith(f"distribution broken 1.0, entry point {told.replace('G', GROUP, 1)}")


def test_of_two_distributions_with_one_name_the_first_in_the_alphabet_is_kept(things):
    found, names, lines = things(z=[("one", "things_for_test:two")], a=[("one", "things_for_test:one")])
    assert names == ["own", "one"]
    assert found["one"] is resolve("things_for_test:one")
    assert lines == [
        f"distribution z 1.0, entry point one of {GROUP}: duplicate thing, already provided by distribution a 1.0"
    ]


def test_entry_points_are_not_looked_for_while_own_names_do(monkeypatch):
    def fail(**_):
        raise AssertionError("looked for")

    monkeypatch.setattr("importlib.metadata.entry_points", fail)
    found = Extensible("thing", GROUP, Own, lambda item: item.name, (Own("a"), Own("b")))
    assert found["b"] == Own("b")
    assert "a" in found
    assert next(iter(found)) == "a"
    with pytest.raises(AssertionError, match="looked for"):
        list(found)


def gangopt_with(folder, *words):
    """Run a command of gangopt with what is installed in a folder."""
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    code = "import sys; from gangopt.cli import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False)


def test_commands_tell_of_a_broken_entry_point_in_one_line_and_go_on(tmp_path):
    install(tmp_path, "broken-policies", [("mine", "no_such_module:x")], "gangopt.policies")
    install(tmp_path, "broken-problems", [("theirs", "gangopt:__version__")], "gangopt.problems")
    done = gangopt_with(tmp_path, "policies")
    assert done.returncode == 0
    assert done.stdout.startswith("fifo")
    assert done.stderr == (
        "gangopt: distribution broken-policies 1.0, entry point mine of gangopt.policies: cannot be loaded "
        "(ModuleNotFoundError: No module named 'no_such_module')\n"
    )
    done = gangopt_with(tmp_path, "list", "threshold")
    assert done.returncode == 0
    assert "threshold/tiresias-figure3" in done.stdout
    assert done.stderr == (
        "gangopt: distribution broken-problems 1.0, entry point theirs of gangopt.problems: gangopt:__version__ "
        "must be a Problem (got a str)\n"
    )
    assert gangopt_with(tmp_path, "--help").stderr == ""


RECORDS = """
from dataclasses import replace
from gangopt.registry.problem import Family
from gangopt.registry.records import problems
from gangopt.replays.registry import PolicyRecord
family = Family("random", "no_such_generators:random", "broken")
THEIRS = replace(problems["bid"], noun="theirs", library="no_such_library", families={"random": family})
MINE = PolicyRecord("mine", "no_such_policies:mine", "broken")
"""


def test_records_that_refer_to_nothing_are_left_out_of_lists(tmp_path):
    (tmp_path / "broken_records_for_test.py").write_text(RECORDS)
    install(tmp_path, "half", [("theirs", "broken_records_for_test:THEIRS")], "gangopt.problems")
    install(tmp_path, "other-half", [("mine", "broken_records_for_test:MINE")], "gangopt.policies")
    done = gangopt_with(tmp_path, "list", "*r*")
    assert done.returncode == 0
    assert "threshold/tiresias-figure3" in done.stdout
    missing = "cannot be loaded (ModuleNotFoundError: No module named"
    assert done.stderr.splitlines() == [
        f"gangopt: distribution half 1.0, problem theirs: {missing} 'no_such_library')",
        f"gangopt: distribution half 1.0, problem theirs: {missing} 'no_such_generators')",
    ]
    done = gangopt_with(tmp_path, "policies")
    assert (done.returncode, "mine" in done.stdout) == (0, False)
    assert done.stderr == f"gangopt: distribution other-half 1.0, policy mine: {missing} 'no_such_policies')\n"


def test_errors_in_own_records_are_raised(things):
    found, _, _ = things(a=[("one", "things_for_test:one")])
    with pytest.raises(KeyError, match="inside"):
        found.excuse("own", KeyError("inside"))
    with pytest.warns(
        PluginWarning, match=r"^distribution a 1\.0, thing one: cannot be loaded \(KeyError: 'inside'\)$"
    ):
        found.excuse("one", KeyError("inside"))
