"""Reading of small logs that are written on the spot."""

import pytest

from gangopt.instances.workload.catalogue import load_workload


@pytest.fixture
def read(tmp_path):
    """Write a text to a file and read it; options as of load_workload."""

    def do(text, name="log.csv", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return load_workload(path, **options)

    return do


@pytest.fixture
def counts():
    """Return the notices of a workload as count by name."""

    def do(workload):
        return {item.name: (item.count, item.dropped) for item in workload.notices}

    return do
