"""Clusters and states in terminals and notebooks."""

import base64

import pytest

from gangopt.reporting.plots import to_png
from gangopt.topology import Cluster, State, draw, load_cluster, render


@pytest.fixture
def state():
    cluster = load_cluster("tiresias-testbed")
    state = State(cluster)
    state.allocate("ann", ["m0.g0", "m0.g1"], shares={"m1.g0": 0.5})
    state.close("m2", "drained")
    return state


def test_clusters_print_their_tree_and_show_their_picture():
    cluster = load_cluster("tiresias-testbed")
    assert str(cluster) == render(cluster)
    assert cluster._repr_html_().startswith("<svg")
    assert "<!-- m14 -->" in cluster._repr_html_()


def test_states_print_what_is_held_and_show_their_picture(state):
    assert str(state).splitlines() == [
        repr(state),
        "cluster tiresias-testbed",
        "  ann: 2 GPUs, shares of 1 GPUs",
        "  m2 is unavailable: drained",
    ]
    assert "<!-- ann -->" in state._repr_html_()
    assert state._repr_html_() != State(state.cluster)._repr_html_()


def test_other_resources_are_named():
    cluster = load_cluster("optimus-testbed")
    cpu = next(name for name in cluster.resources if name != "gpu")
    state = State(cluster)
    state.allocate("bob", amounts={0: {cpu: 1.0}, 1: {cpu: 1.0}})
    assert "  bob: 0 GPUs, other resources on 2 machines" in str(state)


def test_large_clusters_are_images():
    cluster = Cluster.uniform(racks=1, machines_per_rack=401, gpus_per_slot=1)
    found = cluster._repr_html_()
    assert found.startswith("<img alt='' src='data:image/png;base64,")
    image = base64.b64decode(found.partition("base64,")[2].rstrip("'>"))
    assert image == to_png(draw(cluster).get_figure(root=True))
