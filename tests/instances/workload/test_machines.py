"""Clusters of public lists of machines."""

import pytest

from gangopt.base.errors import InputError
from gangopt.instances.workload import machines as workload_machines
from gangopt.instances.workload.machines import load_machines
from gangopt.topology import named_cluster, save_cluster

TIRESIAS = "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n"
OPENB = "sn,cpu_milli,memory_mib,gpu,model\n"
PHILLY = "machineId, number of GPUs, single GPU mem\n"


@pytest.fixture
def load(tmp_path):
    def do(text):
        path = tmp_path / "machines.csv"
        path.write_text(text)
        return load_machines(path)

    return do


def test_names_and_node_link_files(tmp_path):
    cluster = named_cluster("themis-testbed")
    assert load_machines("themis-testbed") == cluster
    save_cluster(cluster, tmp_path / "c.json")
    assert load_machines(tmp_path / "c.json") == cluster
    with pytest.raises(InputError, match="unknown cluster 'themis'; did you mean 'themis-testbed'"):
        load_machines("themis")


def test_a_cluster_file_of_tiresias(load):
    cluster = load(TIRESIAS + "5,32,8,128,256")
    assert (len(cluster.racks), len(cluster.machines), len(cluster.gpus)) == (5, 160, 1280)
    assert cluster.capacities[0].tolist() == [128, 8, 256]
    assert cluster.source == "file machines.csv, cluster of the Tiresias simulator"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TIRESIAS + "1,0,8,1,1\n", "line 2: column num_node_p_switch: '0', a whole number from 1"),
        (TIRESIAS + "1,1,8,1,1\n1,1,8,1,1\n", "2 rows, a cluster file of the Tiresias simulator has one"),
        (TIRESIAS + "1000,1000,8,1,1\n", "8000000 GPUs, at most 1000000 are read"),
        (OPENB + "n0,1,1,x,T4\n", "line 2: column gpu: 'x', a whole number from 0"),
        (OPENB + "n0,1,1,1,T4\nn0,1,1,1,T4\n", "line 3: machine 'n0' stands on an earlier line too"),
        (OPENB + ",1,1,1,T4\n", "line 2: column sn: nothing"),
        (OPENB + "n0,1,-1,1,T4\n", "line 2: column memory_mib: '-1'"),
        (PHILLY + "m0,8, 24MB\n", "line 2: column single GPU mem: '24MB', a number above 0"),
        (PHILLY + "m0,8\n", "line 2: 2 fields, 3 are needed"),
        ("a,b\n1,2\n", "no list of machines has the columns 'a', 'b'; known: Tiresias's cluster file"),
    ],
)
def test_defects(load, text, message):
    with pytest.raises(InputError, match=message):
        load(text)


def test_a_limit_on_gpus(load, monkeypatch):
    monkeypatch.setattr(workload_machines, "MAX_GPUS", 7)
    with pytest.raises(InputError, match="more than 7 GPUs"):
        load(OPENB + "n0,1,1,8,T4\n")
