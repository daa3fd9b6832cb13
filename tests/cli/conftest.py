"""The command line as a function: exit code, stdout and stderr of a call."""

import pytest

from gangopt.cli import run


@pytest.fixture
def call(capsys):
    def invoke(*arguments):
        code = run([str(item) for item in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return invoke


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
