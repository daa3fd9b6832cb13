"""Arguments in names: split, joined, converted, and refused in words."""

import re
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.arguments import bind, join_name, number_in, parameters_of, split_name, unknown
from gangopt.base.errors import InputError


def family(
    jobs: int,
    *,
    load: float = 0.9,
    mode: Literal["async", "sync"] = "sync",
    skip: bool = False,
    file: str = "",
    top: int | None = None,
) -> None:
    """Stand for a generator."""


PARAMETERS = parameters_of(family)


def test_a_name_is_split_and_joined():
    assert split_name("random?jobs=3&seed=1") == ("random", {"jobs": "3", "seed": "1"})
    assert split_name("plain") == ("plain", {})
    assert join_name("random", {"jobs": 3, "skip": True, "load": 0.5}) == "random?jobs=3&skip=true&load=0.5"
    assert join_name("plain", {}) == "plain"


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers()))
def test_joining_then_splitting_is_the_identity(values):
    assert split_name(join_name("x", values)) == ("x", {key: str(value) for key, value in values.items()})


@pytest.mark.parametrize("text", ["x?", "x?a", "x?=1", "x?a=", "x?a=1&"])
def test_a_malformed_argument_is_refused(text):
    with pytest.raises(InputError, match="must have the format key=value"):
        split_name(text)


def test_a_repeated_argument_is_refused():
    with pytest.raises(InputError, match="duplicate argument 'a'"):
        split_name("x?a=1&a=2")


def test_values_are_converted_in_signature_order():
    given_values = {"skip": "true", "jobs": "12", "load": "1", "mode": "async", "file": "a.csv", "top": "4"}
    bound = bind(PARAMETERS, given_values, "x")
    assert bound == {"jobs": 12, "load": 1.0, "mode": "async", "skip": True, "file": "a.csv", "top": 4}
    assert list(bound) == ["jobs", "load", "mode", "skip", "file", "top"]
    assert isinstance(bound["load"], float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"jobs": "1", "sped": "2"},
            "x: unknown argument 'sped'; accepted: jobs=<int>, load=0.9, mode=sync, skip=false, .file=<str>., .top",
        ),
        ({}, "x: missing argument jobs=<int>"),
        ({"jobs": "many"}, r"x: jobs must be an integer \(got many\)"),
        ({"jobs": "1_000"}, r"x: jobs must be an integer \(got 1_000\)"),
        ({"jobs": "9" * 41}, "jobs must be an integer"),
        ({"jobs": "\uff14"}, "x: jobs must be an integer .got \uff14"),
        ({"jobs": "1.0"}, r"x: jobs must be an integer \(got 1.0\)"),
        ({"jobs": "1", "load": "\u0664"}, "x: load must be a finite number .got \u0664"),
        ({"jobs": "1", "load": "nan"}, r"x: load must be a finite number \(got nan\)"),
        ({"jobs": "1", "load": "inf"}, r"x: load must be a finite number \(got inf\)"),
        ({"jobs": "1", "skip": "yes"}, r"x: skip must be true or false \(got yes\)"),
        ({"jobs": "1", "mode": "both"}, r"x: mode must be async or sync \(got both\)"),
    ],
)
def test_each_wrong_value_has_its_message(values, message):
    with pytest.raises(InputError, match=message):
        bind(PARAMETERS, values, "x")


def test_unknown_words_get_near_matches_or_the_short_list():
    assert str(unknown("method", "exakt", ["exact", "paa"])) == "unknown method 'exakt'; did you mean 'exact'?"
    guess = str(unknown("network", "vgg1", ["vgg11", "vgg16", "vgg19"]))
    assert re.fullmatch(r"unknown network 'vgg1'; did you mean 'vgg\d+', 'vgg\d+' or 'vgg\d+'\?", guess)
    assert "known: exact, paa" in str(unknown("method", "zzz", ["exact", "paa"]))
    assert str(unknown("method", "zzz", [str(n) for n in range(99)])) == "unknown method 'zzz'"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        (" -3 ", -3),
        ("1.5e3", 1500.0),
        ("1e400", None),
        ("nan", None),
        ("1_000", None),
        ("\uff11\uff12", None),
        ("", None),
        ("0x1", None),
        ("1" * 41, None),
    ],
)
def test_numbers_are_ascii_and_finite(text, value):
    found = number_in(text)
    assert found == value
    assert type(found) is type(value)


def test_long_words_are_cut_in_every_message():
    long = "x" * 5000
    for refused in (
        lambda: split_name(f"a?{long}"),
        lambda: split_name(f"a?{long}=1&{long}=2"),
        lambda: bind(PARAMETERS, {long: "1"}, long),
        lambda: bind(PARAMETERS, {"jobs": long}, long),
        lambda: bind(PARAMETERS, {"jobs": "1", "mode": long}, long),
    ):
        with pytest.raises(InputError) as error:
            refused()
        assert len(str(error.value)) < 700
    assert len(str(unknown("method", long, ["exact"]))) < 200
