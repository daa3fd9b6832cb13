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
        (TIRESIAS + "1,0,8,1,1\n", r"line 2: column num_node_p_switch must be an integer from 1 to 1e15 \(got '0'\)"),
        (
            TIRESIAS + "1,1,8,1,1\n1,1,8,1,1\n",
            r"machines\.csv: a cluster file of the Tiresias simulator must have one row \(got 2\)",
        ),
        (TIRESIAS + "1000,1000,8,1,1\n", r"machines\.csv: 8,000,000 GPUs exceed the limit of 1,000,000"),
        (OPENB + "n0,1,1,x,T4\n", r"line 2: column gpu must be an integer from 0 to 1e15 \(got 'x'\)"),
        (OPENB + "n0,1,1,1,T4\nn0,1,1,1,T4\n", "line 3: duplicate machine 'n0'"),
        (OPENB + ",1,1,1,T4\n", r"line 2: column sn must be a name \(got ''\)"),
        (OPENB + "n0,1,-1,1,T4\n", r"line 2: column memory_mib must be a number from 0 to 1e15 \(got '-1'\)"),
        (
            PHILLY + "m0,8, 24MB\n",
            r"line 2: column single GPU mem must be a number > 0 and <= 1e15 \(got '24MB'\) \(bad-single GPU mem:",
        ),
        (PHILLY + "m0,8\n", r"line 2 must have 3 fields \(got 2\)"),
        (
            "a,b\n1,2\n",
            r"machines\.csv: unknown machine list with columns 'a', 'b'; known: Tiresias's cluster file, openb's",
        ),
    ],
)
def test_defects(load, text, message):
    with pytest.raises(InputError, match=message):
        load(text)


def test_a_limit_on_gpus(load, monkeypatch):
    monkeypatch.setattr(workload_machines, "MAX_GPUS", 7)
    with pytest.raises(InputError, match=r"machines\.csv: exceeds the limit of 7 GPUs"):
        load(OPENB + "n0,1,1,8,T4\n")
