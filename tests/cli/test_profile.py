"""`gangopt profile`: what a log of messages tells, in text and as JSON."""

import json

import pytest
import typer
from typer.testing import CliRunner

import gangopt
from gangopt.base.errors import InputError
from gangopt.cli.profile import HISTORY, profile
from gangopt.instances.profiling.message_log import generate_log, write_log

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(profile)


@pytest.fixture
def written(tmp_path):
    def write(model, **arguments):
        path = tmp_path / f"{model}.csv"
        write_log(generate_log(model, **arguments), path)
        return str(path)

    return write


def run(*arguments):
    done = CliRunner().invoke(app, list(arguments))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_json_holds_the_profile(written):
    record = json.loads(run(written("vgg16", loss=0.05, duplicates=0.05), "--json"))
    assert record["model_bytes"] == pytest.approx(527.8 * 2**20, rel=0.01)
    assert record["period"] == pytest.approx(1, rel=0.02)
    assert record["iterations"] == 20
    assert record["sensitive"] is True
    assert record["skew"] == pytest.approx(0.743, abs=0.001)
    assert record["limit"] == gangopt.solve(gangopt.load(HISTORY)).solution.threshold
    assert record["workers"] == ["worker0", "worker1", "worker2", "worker3"]
    assert [server["name"] for server in record["servers"]] == ["ps0", "ps1", "ps2", "ps3"]
    assert sum(server["bytes"] for server in record["servers"]) == record["model_bytes"]
    assert all(tensor["count"] >= 1 for server in record["servers"] for tensor in server["tensors"])


def test_text_tells_what_to_do(written):
    text = run(written("resnet50", servers=2))
    assert "model 97.70 MiB in 268 tensors" in text
    assert "skew 0.092, PACKLIMIT 0.378, not above it: spread" in text
    assert "2 parameter servers, 4 workers" in text
    assert "received 100.0% of the expected messages" in text
    assert "above it: consolidate" in run(written("alexnet"))


def test_a_limit_that_is_given_is_used(written):
    path = written("resnet50")
    assert json.loads(run(path, "--limit", "0.05", "--json"))["sensitive"] is True
    with pytest.raises(InputError, match=r"--limit must be from 0 to 1 \(got 1.5\)"):
        run(path, "--limit", "1.5")
    with pytest.raises(InputError, match=r"--limit must be from 0 to 1 \(got nan\)"):
        run(path, "--limit", "nan")


def test_a_defect_names_the_file(written, tmp_path):
    path = written("alexnet")
    with pytest.raises(InputError, match=rf"^{path}: log: no message from a process named server"):
        run(path, "--ps", "server")
    broken = tmp_path / "broken.csv"
    broken.write_text("time,source\n0,a\n")
    with pytest.raises(InputError, match=rf"^{broken}: missing column destination"):
        run(str(broken))
