"""The named instances as files of version 1 described them mean the same as those of today."""

from pathlib import Path

import pytest

import gangopt.instances.library
from gangopt import load
from gangopt.base.jsonfile import read_json
from gangopt.registry.problem import resolve
from gangopt.registry.records import problems

LIBRARY = Path(gangopt.instances.library.__path__[0])
FOLDER = Path(__file__).parent / "version1"
FILES = sorted(FOLDER.glob("*/*.json"))


def test_every_named_file_on_a_cluster_has_its_former_version():
    for folder in FOLDER.iterdir():
        names = {path.name for path in (LIBRARY / folder.name).glob("*.json")}
        assert {path.name for path in folder.iterdir()} == {
            name for name in names if name != "index.json" and not name.endswith(".solution.json")
        }


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_named_instance_equals_its_former_version(path):
    content = read_json(path)
    assert content["version"] == 1
    former, now = load(path), load(content["name"])
    document = resolve(problems[now.noun].document)
    assert document.from_instance(former).model_dump() == document.from_instance(now).model_dump()
    assert former.state == now.state
