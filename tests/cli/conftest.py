"""Refusals of the command line."""

import pytest


@pytest.fixture
def refused(call):
    """The one line of a refusal: exit 2, nothing on stdout, no traceback."""

    def invoke(*arguments):
        code, out, err = call(*arguments)
        assert code == 2
        assert out == ""
        assert err.startswith("gangopt: ")
        assert err.count("\n") == 1
        return err

    return invoke
