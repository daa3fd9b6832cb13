import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.document import validate
from gangopt.base.errors import InputError
from gangopt.catalogue import read_document, to_document
from gangopt.instances.bid.document import BidSolutionDocument
from gangopt.instances.bid.generate import random
from gangopt.instances.bid.instance import BidInstance, BidRow, BidSolution
from gangopt.topology import LOCALITIES

positive = st.floats(1e-3, 1e6)
levels = st.sampled_from(LOCALITIES)
words = st.text("abc é-7", max_size=9)


@st.composite
def apps(draw):
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    phase = [i for i, size in enumerate(sizes) for _ in range(size)]
    n, m = len(phase), draw(st.integers(1, 3))

    def column(entries):
        return np.array(draw(st.lists(entries, min_size=n, max_size=n)))

    return BidInstance(
        name="t" + draw(words),
        description=draw(words),
        source=draw(words),
        jobs=tuple(f"job{j}" for j in range(n)),
        phase=np.array(phase),
        iterations=column(positive),
        seconds=column(positive),
        max_gpus=column(st.integers(1, 9)),
        slowdown=column(st.lists(positive, min_size=4, max_size=4)),
        offer_gpus=np.array(draw(st.lists(st.integers(1, 9), min_size=m, max_size=m))),
        offer_levels=tuple(draw(st.lists(levels, min_size=m, max_size=m))),
        split=draw(st.sampled_from(["whole", "shared"])),
        elapsed=draw(st.floats(0, 1e6)),
        budget=draw(st.none() | positive),
        cluster_gpus=draw(st.integers(9, 20)),
        app_gpus=draw(st.none() | st.integers(1, 20)),
        contention=draw(positive),
    )


@given(apps())
def test_write_then_read_is_the_identity(instance):
    assert read_document(to_document(instance), "t") == instance


shares = st.integers(1, 9) | st.floats(0.01, 9)
rows = st.builds(
    BidRow,
    gpus=st.integers(1, 99),
    level=levels,
    rho=positive,
    seconds=st.lists(positive, max_size=3).map(tuple),
    shares=st.lists(shares, max_size=3).map(tuple),
    queues=st.lists(st.none() | st.integers(0, 9), max_size=3).map(tuple),
)


@given(st.lists(rows, max_size=3).map(tuple))
def test_writing_and_reading_a_table_is_the_identity(table):
    solution = BidSolution(table)
    document = BidSolutionDocument.from_solution(solution)
    again = validate(BidSolutionDocument, document.model_dump(mode="json"), "t").to_solution()
    assert again == solution
    assert [list(map(type, row.shares)) for row in again.rows] == [list(map(type, row.shares)) for row in table]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("phases",), [], "field phases: list should have at least 1 item"),
        (("phases", 0), [], "field phases.0: list should have at least 1 item"),
        (("phases", 0, 0, "iterations"), 0.0, "field phases.0.0.iterations: input should be greater than or equal to"),
        (("phases", 0, 0, "seconds"), "1", "field phases.0.0.seconds: input should be a valid number"),
        (("phases", 0, 0, "max_gpus"), 1.5, "field phases.0.0.max_gpus: input should be a valid integer"),
        (("phases", 0, 0, "slowdown", "rack"), 0.0, "field phases.0.0.slowdown.rack: input should be greater"),
        (("phases", 0, 0, "colour"), 1, "field phases.0.0.colour: extra inputs are not permitted"),
        (("offers",), [], "field offers: list should have at least 1 item"),
        (("offers", 0, "level"), "room", "field offers.0.level: input should be 'slot', 'machine', 'rack' or 'clu"),
        (("offers", 0, "gpus"), 0, "field offers.0.gpus: input should be greater than or equal to 1"),
        (("offers", 0, "gpus"), 99, r"offer_gpus\[0\] must be an integer from 1 to 16 \(got 99\)"),
        (("split",), "halves", "field split: input should be 'whole' or 'shared'"),
        (("contention",), None, "field contention: input should be a valid number"),
        (("budget",), 0.0, "field budget: input should be greater than 0"),
    ],
)
def test_a_defective_field_is_one_line(path, value, message):
    document = to_document(random(jobs=2))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError, match=message) as caught:
        read_document(document, "t")
    assert "\n" not in str(caught.value)


def test_what_a_job_does_not_say_is_the_prior():
    document = to_document(random(jobs=2))
    del document["phases"][0][0]["slowdown"]
    assert read_document(document, "t").slowdown[0].tolist() == [1.0, 1.0, 1.1, 1.3]
