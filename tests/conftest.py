"""Settings for every test: reproducible random examples, no deadline on a busy machine."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "gangopt", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)
settings.load_profile("gangopt")


@pytest.fixture(scope="session")
def small_names():
    """One instance of every decision that each of its forms solves in well under a second."""
    return {
        "allocation": "allocation/random?jobs=3&nodes=3&max_tasks=4",
        "bid": "bid/random?jobs=3&gpus=4",
        "auction": "auction/untruthful-floor",
        "fair_share": "fair_share/themis-figure5b",
        "interval": "interval/one-server",
        "network_placement": "network_placement/four-machines",
        "parameters": "parameters/random?blocks=5&servers=2&seed=3",
        "placement": "placement/random?servers=3&jobs=2&seed=1",
        "schedule": "schedule/tiresias-figure7",
        "threshold": "threshold/random?jobs=8&seed=1",
    }


@pytest.fixture
def call(capsys):
    """The command line as a function: exit code, stdout and stderr of a call."""
    from gangopt.cli import run

    def invoke(*arguments):
        code = run([str(item) for item in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return invoke
