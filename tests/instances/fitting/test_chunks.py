"""Data chunks: equal within one, fewest moves, round-robin."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangopt.base.errors import InputError
from gangopt.instances.fitting.chunks import reassign_chunks

OWNERS = st.lists(st.one_of(st.none(), st.integers(0, 4)), max_size=8)
WORKERS = st.permutations(range(6)).flatmap(lambda ids: st.integers(1, 4).map(lambda n: ids[:n]))


def sizes(owners, workers):
    held = Counter(owners)
    return [held[worker] for worker in workers]


def test_a_first_assignment_is_plain_round_robin():
    assert reassign_chunks([None] * 7, [4, 1, 9]).owners == (4, 1, 9, 4, 1, 9, 4)


def test_a_worker_more_takes_only_what_it_is_due():
    before = reassign_chunks([None] * 9, [0, 1])
    after = reassign_chunks(before.owners, [0, 1, 2])
    assert sizes(after.owners, [0, 1, 2]) == [3, 3, 3]
    assert after.moved == (6, 7, 8)
    assert after.chunks_of(2) == (6, 7, 8)


def test_a_worker_less_gives_its_chunks_to_the_others_in_turn():
    before = reassign_chunks([None] * 9, [0, 1, 2])
    after = reassign_chunks(before.owners, [0, 1])
    assert after.moved == (2, 5, 8)
    assert [after.owners[chunk] for chunk in after.moved] == [0, 1, 0]


def test_nothing_moves_when_nothing_has_changed():
    before = reassign_chunks([None] * 10, [3, 5, 7])
    assert reassign_chunks(before.owners, [7, 5, 3]).moved == ()


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=80), WORKERS)
def test_every_chunk_has_an_owner_and_shares_differ_by_at_most_one(owners, workers):
    after = reassign_chunks(owners, workers)
    counts = sizes(after.owners, workers)
    assert sum(counts) == len(owners)
    assert max(counts) - min(counts) <= 1
    assert after.moved == tuple(i for i, owner in enumerate(after.owners) if owner != owners[i])


@given(OWNERS.filter(lambda owners: len(owners) <= 6), WORKERS.filter(lambda ids: len(ids) <= 3))
@settings(max_examples=60)
def test_no_equal_assignment_moves_fewer_chunks(owners, workers):
    least = min(
        sum(new != old for new, old in zip(assignment, owners, strict=True))
        for assignment in product(workers, repeat=len(owners))
        if max(sizes(assignment, workers)) - min(sizes(assignment, workers)) <= 1
    )
    assert len(reassign_chunks(owners, workers).moved) == least


@pytest.mark.parametrize(
    ("workers", "message"),
    [([], "workers must not be empty"), ([1, 2, 1], "workers: duplicate worker 1")],
)
def test_bad_workers_are_refused(workers, message):
    with pytest.raises(InputError, match=message):
        reassign_chunks([0, 1], workers)
