"""Clusters and states in terminals and notebooks."""

import base64
import html

import pytest

from gangopt.reporting.plots import to_png
from gangopt.topology import State, draw, load_cluster, render


@pytest.fixture
def state():
    cluster = load_cluster("tiresias-testbed")
    state = State(cluster)
    state.allocate("ann", ["m0.g0", "m0.g1"], shares={"m1.g0": 0.5})
    state.close("m2", "drained")
    return state


def image(subject):
    found = subject._repr_html_()
    assert found.startswith(f'<img alt="{html.escape(repr(subject))}" src="data:image/png;base64,')
    return base64.b64decode(found.partition("base64,")[2].removesuffix('">'))


def test_clusters_print_their_tree_and_show_their_picture():
    cluster = load_cluster("tiresias-testbed")
    assert str(cluster) == render(cluster)
    assert image(cluster) == to_png(draw(cluster))


def test_states_print_what_is_held_and_show_their_picture(state):
    assert str(state).splitlines() == [
        repr(state),
        "cluster tiresias-testbed",
        "  ann: 2 GPUs, 1 shared GPUs",
        "  m2 is unavailable: drained",
    ]
    assert image(state) == to_png(draw(state)) != image(State(state.cluster))


def test_other_resources_are_named():
    cluster = load_cluster("optimus-testbed")
    cpu = next(name for name in cluster.resources if name != "gpu")
    state = State(cluster)
    state.allocate("bob", amounts={0: {cpu: 1.0}, 1: {cpu: 1.0}})
    assert "  bob: 2 machines with other resources" in str(state)
