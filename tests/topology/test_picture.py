"""The picture: a square a GPU, in the colour of its owner, without pyplot."""

import io
import subprocess
import sys

import matplotlib.figure
import pytest
from matplotlib.collections import PolyCollection

from gangopt.base.errors import InputError
from gangopt.topology import Cluster, MachineGroup, State, draw, named_cluster

MIXED = Cluster.from_groups(
    [MachineGroup(2, 4, slots=2), MachineGroup(2), MachineGroup(3, 1)], machines_per_rack=[3, 4], name="costs $5"
)


def layers(figure):
    """Racks, machines with GPUs, machines without, GPUs, as far as there are any."""
    return [item for item in figure.axes[0].collections if isinstance(item, PolyCollection)]


def colours(figure):
    return [tuple(colour[:3]) for colour in layers(figure)[-1].get_facecolor()]


def legend(figure):
    found = figure.axes[0].get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def png(figure):
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=50)
    return stream.getvalue()


def test_one_shape_for_each_rack_machine_and_gpu():
    figure = draw(MIXED)
    assert [len(layer.get_paths()) for layer in layers(figure)] == [2, 5, 2, 11]
    assert set(colours(figure)) == {(1, 1, 1)}
    assert legend(figure) == []


def test_gpus_do_not_overlap_and_lie_in_their_machine_and_rack():
    figure = draw(MIXED)
    racks, filled, _, squares = layers(figure)
    boxes = [path.get_extents() for path in squares.get_paths()]
    assert len({(round(box.x0, 6), round(box.y0, 6)) for box in boxes}) == len(boxes)
    for a in range(len(boxes)):
        for b in range(a):
            overlap = min(boxes[a].x1, boxes[b].x1) - max(boxes[a].x0, boxes[b].x0)
            assert overlap < 1e-9 or boxes[a].y0 != boxes[b].y0
    machines = [path.get_extents() for path in filled.get_paths()]
    for gpu, box in enumerate(boxes):
        rack = racks.get_paths()[MIXED.gpu_rack[gpu]].get_extents()
        assert rack.x0 < box.x0
        assert box.x1 < rack.x1
        assert rack.y0 < box.y0
        assert box.y1 < rack.y1
        assert sum(m.x0 < box.x0 and box.x1 < m.x1 and m.y0 < box.y0 and box.y1 < m.y1 for m in machines) == 1


def test_colours_follow_owners():
    state = State(MIXED)
    state.allocate("j10", [0, 9])
    state.allocate("j2", ["m0.g1"])
    figure = draw(MIXED, state.gpu_owners)
    shades = colours(figure)
    assert shades[0] == shades[9] != shades[1]
    assert shades[2] == (1, 1, 1)
    assert legend(figure) == ["j2", "j10", "free"]


def test_owners_by_gpu():
    by_label = draw(MIXED, {"m0.g0": "a", 9: "a"})
    assert png(by_label) == png(draw(MIXED, ["a", *[None] * 8, "a", None]))


def test_the_same_input_gives_the_same_picture():
    owners = [f"j{gpu % 3}" for gpu in range(11)]
    assert png(draw(MIXED, owners)) == png(draw(MIXED, owners))


def test_many_owners_have_distinct_colours_and_a_short_legend():
    cluster = named_cluster("tiresias-testbed")
    figure = draw(cluster, [f"j{gpu}" for gpu in range(60)])
    assert len(set(colours(figure))) == 60
    assert legend(figure)[-2:] == ["j23", "and 36 more"]


def test_hundreds_of_machines_have_no_labels():
    figure = draw(named_cluster("philly-2017"))
    assert [text.get_text() for text in figure.axes[0].texts] == ["r0"]
    assert png(figure)


def test_labels_are_cut_and_taken_literally():
    cluster = Cluster.from_groups([MachineGroup(1, 1, name="n" * 40)], name="a $x^$ b")
    figure = draw(cluster)
    assert figure.axes[0].texts[1].get_text() == "n" * 23 + "…"
    assert png(figure)


def test_drawing_into_given_axes():
    figure = matplotlib.figure.Figure()
    axes = figure.add_subplot()
    assert draw(MIXED, ax=axes) is figure
    assert len(figure.axes) == 1


def test_pyplot_is_not_loaded():
    code = (
        "import sys; from gangopt.topology import draw, named_cluster; draw(named_cluster('themis-testbed')); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("owners", "message"),
    [
        (["a"], r"owners must be one owner or None for each of 11 GPUs \(got \['a'\]\)"),
        ("a" * 11, r"owners must be one owner or None for each of 11 GPUs \(got 'aaaaaaaaaaa'\)"),
        (5, r"owners must be one owner or None for each of 11 GPUs \(got 5\)"),
        ([5] * 11, r"the owner of GPU 'm0\.g0' must be non-empty printable text \(got 5\)"),
        ({"x": "a"}, "unknown GPU 'x'"),
    ],
)
def test_bad_owners(owners, message):
    with pytest.raises(InputError, match=message):
        draw(MIXED, owners)


def test_a_state_shows_shares_other_resources_and_closed_machines():
    cluster = Cluster.from_groups([MachineGroup(2, 2), MachineGroup(1, capacities={"cpu": 8, "memory": 16}, name="c")])
    state = State(cluster)
    state.allocate("a", ["m0.g0"], {"c0": {"cpu": 2, "memory": 8}})
    state.allocate("b", shares={"m0.g1": 0.25}, amounts={"c0": {"cpu": 6}})
    state.close("m1")
    figure = draw(state)
    racks, filled, bare, squares, strips, closed = layers(figure)
    assert [len(item.get_paths()) for item in (racks, filled, bare, squares, strips, closed)] == [1, 2, 1, 4, 3, 1]
    assert legend(figure) == ["a", "b", "free", "unavailable"]
    # a holds half of the memory, b three quarters of the cores: together more than all, so both are scaled
    body = bare.get_paths()[0].get_extents().width - 0.3
    widths = sorted(path.get_extents().width for path in strips.get_paths())
    assert widths == pytest.approx(sorted([0.25, 0.4 * body, 0.6 * body]))


def test_thousands_of_machines_are_summarised():
    cluster = Cluster.uniform(racks=50, machines_per_rack=40, gpus_per_slot=8)
    state = State(cluster)
    for k in range(100):
        state.allocate(f"j{k}", range(160 * k, 160 * k + 8 * (k % 5 + 1)))
    figure = draw(state)
    racks, filled, strips = layers(figure)
    assert [len(item.get_paths()) for item in (racks, filled)] == [50, 2000]
    assert len(strips.get_paths()) == 300
    assert len(legend(figure)) == 25
    assert legend(figure)[-2:] == ["77 others", "free"]
    assert png(figure)


def test_owners_beside_a_state():
    with pytest.raises(InputError, match="owners must be left out for a state"):
        draw(State(MIXED), {"m0.g0": "a"})
