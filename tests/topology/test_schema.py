"""The schema of cluster files accepts what is written and refuses what is not read."""

import jsonschema
import pytest

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, cluster_names, cluster_schema, named_cluster

SCHEMA = jsonschema.Draft202012Validator(cluster_schema())


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(cluster_schema())


@pytest.mark.parametrize("name", [name for name in cluster_names() if len(named_cluster(name).gpus) < 500])
@pytest.mark.parametrize("edges", ["edges", "links"])
def test_written_clusters_fit(name, edges):
    SCHEMA.validate(named_cluster(name).to_node_link(edges=edges))


def set_level(data, value):
    data["nodes"][0]["level"] = value


def break_top(data):
    data["colour"] = 1


def break_both(data):
    data["links"] = data["edges"]


def break_neither(data):
    del data["edges"]


def break_version(data):
    data["graph"]["version"] = 2


def break_head(data):
    data["graph"]["colour"] = "red"


def break_level(data):
    set_level(data, "room")


def break_id(data):
    data["nodes"][0]["id"] = ""


def break_node_field(data):
    data["nodes"][0]["gpu_type"] = "V100"


def break_amount(data):
    next(node for node in data["nodes"] if node["level"] == "machine")["capacities"]["cpu"] = -1


def break_capacities(data):
    del next(node for node in data["nodes"] if node["level"] == "machine")["capacities"]


def break_type(data):
    next(node for node in data["nodes"] if node["level"] == "machine")["gpu_type"] = 3


def break_bandwidth(data):
    data["edges"][0]["bandwidth"] = 0


def break_edge(data):
    del data["edges"][0]["target"]


def break_multigraph(data):
    data["multigraph"] = True


DEFECTS = [value for name, value in list(globals().items()) if name.startswith("break_")]


@pytest.mark.parametrize("defect", DEFECTS)
def test_what_the_schema_refuses_the_reader_refuses(defect):
    data = Cluster.uniform(machines_per_rack=2, gpus_per_slot=2, capacities={"cpu": 4}).to_node_link()
    SCHEMA.validate(data)
    assert len(Cluster.from_node_link(data).gpus) == 4
    defect(data)
    assert not SCHEMA.is_valid(data)
    with pytest.raises(InputError):
        Cluster.from_node_link(data)


@pytest.mark.parametrize("field", ["name", "description", "source"])
def test_control_characters_in_annotations_are_refused(field):
    data = named_cluster("tiresias-testbed").to_node_link()
    data["graph"][field] = "a\x1b[31m"
    with pytest.raises(
        InputError, match=rf"the cluster's {field} must be printable text .*character 1 .* cannot be printed"
    ):
        Cluster.from_node_link(data)
