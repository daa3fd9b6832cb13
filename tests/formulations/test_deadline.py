import itertools

import pytest

from gangopt.formulations.deadline import LEAST_SECONDS_PER_COLUMN, OutOfTime, building_within, paced, require_time


def test_nothing_stops_without_a_limit():
    require_time(10**12)
    with building_within(lambda: None):
        require_time(10**12)
        assert list(paced(range(3000))) == list(range(3000))


def test_time_that_is_over_stops_the_build():
    with building_within(lambda: 0.0), pytest.raises(OutOfTime, match="the time was over before the model was built"):
        require_time()
    require_time()


def test_columns_that_cannot_be_built_in_time_are_not_begun():
    with building_within(lambda: 1.0):
        require_time(int(0.9 / LEAST_SECONDS_PER_COLUMN))
        with pytest.raises(OutOfTime, match=r"300,000 columns take longer to build than the 1 s that are left"):
            require_time(300_000)


def test_items_are_yielded_until_the_time_is_over():
    left = itertools.chain([2.0, 1.0], itertools.repeat(0.0))
    items = paced(range(10_000))
    with building_within(lambda: next(left)):
        assert [next(items) for _ in range(2000)] == list(range(2000))
        with pytest.raises(OutOfTime):
            next(items)
