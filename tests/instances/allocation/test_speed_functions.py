"""Speed functions against the paper's equations, worked by hand."""

import pytest

from gangopt.instances.allocation.speed_functions import async_step_seconds, speed, sync_step_seconds


def test_async_speed_is_equation_3():
    # 4 / (1 + 2 * 4/2 + 0.5 * 4 + 0.25 * 2) = 4 / 7.5
    assert speed("async", [1.0, 2.0, 0.5, 0.25], 2, 4) == pytest.approx(4 / 7.5)
    assert async_step_seconds([1.0, 2.0, 0.5, 0.25], 2, 4) == pytest.approx(7.5 / 4)


def test_sync_speed_is_equation_4():
    # 1 / (1 * 40/8 + 2 + 3 * 8/12 + 0.5 * 8 + 0.25 * 12) = 1 / 16
    theta = [1.0, 2.0, 3.0, 0.5, 0.25]
    assert speed("sync", theta, 12, 8, batch=40) == pytest.approx(1 / 16)
    assert sync_step_seconds(theta, 40, 12, 8) == pytest.approx(16)


def test_more_workers_can_be_slower():
    theta = [1.0, 0.0, 0.0, 1.0, 0.0]
    assert speed("sync", theta, 1, 3, batch=9) > speed("sync", theta, 1, 9, batch=9)
