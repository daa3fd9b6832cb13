"""Suffixes of files."""

import pytest

from gangopt.base.errors import InputError
from gangopt.base.suffixes import check_suffix


def test_an_allowed_suffix_is_returned_in_lower_case():
    assert check_suffix("a.CSV", (".csv", ".json")) == ".csv"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.txt", r"a\.txt: suffix \.txt, allowed: \.csv, \.json"),
        ("a", "a: suffix missing, allowed"),
    ],
)
def test_other_suffixes_are_refused(name, message):
    with pytest.raises(InputError, match=message):
        check_suffix(name, (".csv", ".json"))
