"""Which jobs an empty cluster can hold, against the definition spelled out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.workload.fit import check_fit, unplaceable
from gangopt.instances.workload.workload import Workload
from gangopt.topology import Cluster, MachineGroup

CLUSTER = Cluster.from_groups(
    [
        MachineGroup(2, 4, capacities={"cpu": 16, "memory": 64}, gpu_type="V100", name="a"),
        MachineGroup(1, 8, capacities={"cpu": 8, "memory": 256}, gpu_type="T4", name="b"),
    ],
    name="mixed",
)


def one(**columns):
    return Workload.from_columns({"id": ["j"], "arrival": [0], **{key: [value] for key, value in columns.items()}})


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"gpus": 16}, None),
        ({"gpus": 17}, "needs 17 GPUs, but the cluster has 16"),
        ({"gpus": 9, "gpu_type": "V100"}, "needs 9 GPUs, but the cluster has 8 of type V100"),
        ({"gpus": 9, "gpu_type": "V100|T4"}, None),
        ({"gpus": 1, "gpu_type": "A10"}, "needs 1 GPUs, but the cluster has 0 of type A10"),
        ({"gpus": 8, "workers": 1}, None),
        (
            {"gpus": 8, "workers": 1, "gpu_type": "V100"},
            "has 1 workers of 8 GPUs of type V100, but only 0 of them fit the machines",
        ),
        ({"gpus": 12, "workers": 4}, None),
        ({"gpus": 15, "workers": 5}, "has 5 workers of 3 GPUs, but only 4 of them fit the machines"),
        (
            {"gpus": 1, "workers": 1, "cpu": 17},
            "has 1 workers of 1 GPUs, 17 cores, but only 0 of them fit the machines",
        ),
        (
            {"gpus": 4, "workers": 4, "memory": 800},
            "has 4 workers of 1 GPUs, 200 GB, but only 1 of them fit the machines",
        ),
        ({"gpus": 4, "workers": 4, "memory": 300, "ps": 2}, None),
        ({"gpus": 4, "workers": 4, "memory": 800, "ps": 2}, "needs 800 GB, but the cluster has 384"),
        ({"gpus": 1, "cpu": 40}, None),
        ({"gpus": 1, "cpu": 2000}, "needs 2000 cores, but the cluster has 40"),
        ({"gpus": 1, "cpu": 33, "gpu_type": "V100"}, "needs 33 cores, but the cluster has 32 on machines of type V100"),
        ({"gpus": 1, "memory": 257, "gpu_type": "T4"}, "needs 257 GB, but the cluster has 256 on machines of type T4"),
        ({"gpus": 1, "workers": 1, "cpu": 0, "memory": 0}, None),
    ],
)
def test_reasons(columns, reason):
    workload = one(**columns)
    assert unplaceable(workload, CLUSTER) == ({} if reason is None else {0: reason})
    if reason is None:
        assert check_fit(workload, CLUSTER) is workload
    else:
        with pytest.raises(InputError, match=f"job j cannot be placed on mixed: {reason} .unplaceable: 1; a lenient"):
            check_fit(workload, CLUSTER)
        with pytest.raises(InputError, match="none of the 1 jobs can be placed: job j cannot be placed on mixed"):
            check_fit(workload, CLUSTER, lenient=True)


def test_lenient_leaves_the_others():
    workload = Workload.from_columns({"id": ["a", "b", "c"], "arrival": [0, 1, 2], "gpus": [17, 2, 18]})
    kept = check_fit(workload, CLUSTER, lenient=True)
    assert kept.ids == ("b",)
    notice = kept.notices[-1]
    assert (notice.name, notice.count, notice.dropped) == ("unplaceable", 2, True)
    assert "job a cannot be placed" in notice.message


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=5).filter(any), st.integers(1, 20), st.none() | st.integers(1, 6)
)
def test_against_the_definition(machines, gpus, workers):
    cluster = Cluster.from_groups([MachineGroup(1, size, name=f"m{i}x") for i, size in enumerate(machines)])
    fits = sum(machines) >= gpus
    if workers is not None:
        fits &= sum(size * workers // gpus for size in machines) >= workers
    assert (unplaceable(one(gpus=gpus, workers=workers), cluster) == {}) == fits
