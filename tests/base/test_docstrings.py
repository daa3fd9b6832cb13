"""Descriptions of parameters in docstrings."""

from gangopt.base.docstrings import descriptions


def documented(first, second, third):
    """Do something.

    Parameters
    ----------
    first, second : int
        Number of `things`, e.g. 3. More about
        them.
    third : str
        Name that is
        two lines long.

    Returns
    -------
    int : count
        Nothing of the kind.
    """


def test_first_sentence_of_each_parameter():
    assert descriptions(documented) == {
        "first": "Number of things, e.g. 3.",
        "second": "Number of things, e.g. 3.",
        "third": "Name that is two lines long.",
    }


def test_nothing_without_a_docstring():
    assert descriptions(lambda: None) == {}
