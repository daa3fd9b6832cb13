import itertools

import pytest

from gangopt.catalogue import load
from gangopt.formulations.deadline import LEAST_SECONDS_PER_COLUMN, OutOfTime, building_within, paced, require_time
from gangopt.registry.records import problems

SMALL = {
    "allocation/random?jobs=3&max_tasks=3&mode=async": ("literal", "choice", "counts"),
    "bid/random?jobs=3&gpus=4": ("jobs", "classes"),
    "fair_share/themis-figure5b": ("places", "patterns"),
    "interval/random?jobs=2&servers=2&max_tasks=2": ("classes", "joint"),
    "network_placement/four-machines": ("level", "literal"),
    "parameters/random?blocks=4&servers=2": ("assign", "groups"),
    "placement/optimus-figure10": ("tasks", "pieces", "levels"),
    "schedule/tiresias-figure7": ("slotted", "event"),
    "threshold/random?jobs=12": ("linear", "cut"),
}


def test_nothing_stops_without_a_limit():
    require_time(10**12)
    with building_within(lambda: None):
        require_time(10**12)
        assert list(paced(range(3000))) == list(range(3000))


def test_time_that_is_over_stops_the_build():
    with building_within(lambda: 0.0), pytest.raises(OutOfTime, match="the time limit was reached before"):
        require_time()
    require_time()


def test_columns_that_cannot_be_built_in_time_are_not_begun():
    with building_within(lambda: 1.0):
        require_time(int(0.9 / LEAST_SECONDS_PER_COLUMN))
        with pytest.raises(OutOfTime, match=r"300,000 columns take longer to build than the remaining 1 s"):
            require_time(300_000)


def test_items_are_yielded_until_the_time_is_over():
    left = itertools.chain([2.0, 1.0], itertools.repeat(0.0))
    items = paced(range(10_000))
    with building_within(lambda: next(left)):
        assert [next(items) for _ in range(200)] == list(range(200))
        with pytest.raises(OutOfTime):
            next(items)


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name, forms in SMALL.items() for form in forms],
)
def test_every_form_stops_between_two_rows_and_pyomo_logs_nothing(name, form, caplog):
    instance = load(name)
    build = problems[instance.noun].form(form).model
    looks = itertools.count()
    with building_within(lambda: 1e9 + next(looks)):
        build(instance)
    made = next(looks)
    assert made > 3
    for allowed in (1, made // 2, made - 1):
        left = itertools.chain(itertools.repeat(1e9, allowed), itertools.repeat(0.0))
        with building_within(lambda left=left: next(left)), pytest.raises(OutOfTime):
            build(instance)
    assert caplog.records == []


def test_errors_of_rules_are_still_logged(caplog):
    from pyomo.environ import ConcreteModel, Constraint

    model = ConcreteModel()
    with building_within(lambda: 1.0), pytest.raises(ZeroDivisionError):
        model.row = Constraint([1], rule=lambda _, i: 1 / (i - 1))
    assert "Rule failed" in caplog.text
