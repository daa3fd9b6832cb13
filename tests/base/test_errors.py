"""Values and names in messages: on one line, and cut when long."""

from hypothesis import given
from hypothesis import strategies as st

from gangopt.base.errors import LONGEST_SHOWN, shorten, shown


def test_short_texts_stay_and_long_ones_lose_their_middle():
    assert shorten("a name") == "a name"
    assert shorten("two\nlines\t and  more") == "two lines and more"
    assert shorten("a" * 50 + "b" * 50, 40) == "a" * 27 + "..." + "b" * 10
    assert shown([1, "x"]) == "[1, 'x']"


@given(st.text(max_size=400), st.integers(10, 100))
def test_no_text_is_longer_than_asked(text, longest):
    line = shorten(text, longest)
    assert len(line) <= longest
    assert "\n" not in line
    assert len(shown(text)) <= LONGEST_SHOWN
