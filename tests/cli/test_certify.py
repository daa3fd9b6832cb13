"""`gangopt certify`: figure 5 of THEMIS from the command line, in text and as JSON, and its exit codes."""

from __future__ import annotations

import json

import pytest

import gangopt
from gangopt.base.jsonfile import read_json, write_json
from gangopt.catalogue import to_document
from gangopt.cli import run
from gangopt.reporting.certificates import exchange


@pytest.fixture
def saved(tmp_path, capsys):
    def solve(name, method):
        path = tmp_path / f"{name.partition('/')[2]}-{method}.json"
        assert run(["solve", name, "--method", method, "-o", str(path)]) == 0
        capsys.readouterr()
        return str(path)

    return solve


def text_of(capsys, *arguments):
    assert run(["certify", *arguments]) == 0
    return capsys.readouterr().out


def test_figure_5_instance_1_breaks_the_sharing_incentive_of_both(saved, capsys):
    path = saved("fair_share/themis-figure5a", "drf")
    text = text_of(capsys, path)
    assert "SI  sharing incentive  no" in text
    assert "EF  envy-free          yes" in text
    assert "SI fails: rho above 1 for A1-vgg16 1.289, A2-vgg16 1.289" in text
    record = json.loads(text_of(capsys, path, "--json"))
    assert [item["app"] for item in record["certificates"]["SI"]["apps"]] == ["A1-vgg16", "A2-vgg16"]
    assert record["certificates"]["SI"]["attainable"] is True
    assert [item["rho"] for item in record["certificates"]["SI"]["witness"]["apps"]] == [1.0, 1.0]
    assert record["certificates"]["EF"] == {"holds": True, "pairs": []}


def test_figure_5_instance_2_breaks_two_properties_by_a_swap(saved, capsys):
    path = saved("fair_share/themis-figure5b", "drf")
    text = text_of(capsys, path)
    assert "PE  Pareto efficient   no" in text
    assert "is an exchange: A1-inception-v3 and A2-vgg16 swap their GPUs" in text
    assert "EF fails: 1 pair\n  A2-vgg16 envies A1-inception-v3: rho 1 with its GPUs, 1.289 with its own" in text
    record = json.loads(text_of(capsys, path, "--json"))
    assert record["instance"] == "fair_share/themis-figure5b"
    assert (record["problem"], record["method"]) == ("fair_share", "drf")
    efficient = record["certificates"]["PE"]
    assert efficient["holds"] is False
    assert efficient["witness"]["exchange"] == [
        {"app": "A1-inception-v3", "takes_bundle_of": "A2-vgg16"},
        {"app": "A2-vgg16", "takes_bundle_of": "A1-inception-v3"},
    ]
    assert [item["rho"] for item in efficient["witness"]["apps"]] == [1.0, 1.0]
    (pair,) = record["certificates"]["EF"]["pairs"]
    assert (pair["app"], pair["envies"], pair["rho_there"]) == ("A2-vgg16", "A1-inception-v3", 1.0)
    assert pair["rho"] == pytest.approx(103.6 / 80.4)


@pytest.mark.parametrize("case", ["a", "b"])
def test_the_optimum_of_figure_5_has_all_three(case, saved, capsys):
    text = text_of(capsys, saved(f"fair_share/themis-figure5{case}", "exact"))
    assert [line.split()[-1] for line in text.splitlines()[2:5]] == ["yes", "yes", "yes"]
    assert "fails" not in text


def test_outcomes_of_auctions(saved, capsys):
    text = text_of(capsys, saved("auction/themis-figure5b", "proportional"))
    assert [line.split()[-1] for line in text.splitlines()[2:5]] == ["yes", "yes", "yes"]
    # what payments take away is left over, so that somebody could have more
    record = json.loads(text_of(capsys, saved("auction/three-apps-two-racks", "themis"), "--json"))
    assert (record["problem"], record["method"]) == ("auction", "themis")
    assert record["certificates"]["PE"]["holds"] is False
    before = {item["app"]: item["rho"] for item in record["apps"]}
    then = {item["app"]: item["rho"] for item in record["certificates"]["PE"]["witness"]["apps"]}
    assert all(then[app] <= before[app] for app in before)
    assert sum(item["gpus"] for item in record["apps"]) < 16


def test_an_own_instance_is_named_by_an_option_and_the_record_saved(saved, tmp_path, capsys):
    file = tmp_path / "own.json"
    write_json(file, to_document(gangopt.load("fair_share/themis-figure5b")) | {"name": "mine"})
    result = tmp_path / "result.json"
    assert run(["solve", str(file), "--method", "drf", "-o", str(result)]) == 0
    assert run(["certify", str(result)]) == 2
    error = capsys.readouterr().err
    assert "instance 'mine' cannot be loaded" in error
    assert "pass --instance" in error
    output = tmp_path / "certificates.json"
    text_of(capsys, str(result), "--instance", str(file), "-o", str(output))
    assert read_json(output)["certificates"]["PE"]["holds"] is False
    alone = tmp_path / "solution.json"
    write_json(alone, read_json(result)["solution"])
    assert "PE  Pareto efficient   no" in text_of(capsys, str(alone), "--instance", str(file))
    assert run(["certify", str(alone)]) == 2
    assert "names no instance; pass --instance" in capsys.readouterr().err


def test_rho_without_bound_is_text_in_json(saved, capsys):
    path = saved("fair_share/random?apps=9&machines=2", "equal")
    record = json.loads(text_of(capsys, path, "--json"))
    assert record["apps"][0]["rho"] == "inf"
    assert record["certificates"]["SI"]["attainable"] is False
    assert "No allocation gives every app its own." in text_of(capsys, path)


def test_long_lists_are_cut(saved, capsys):
    path = saved("fair_share/random?apps=25&machines=8", "random")
    text = text_of(capsys, path)
    assert "... and 5 more; --json gives all" in text
    assert len(json.loads(text_of(capsys, path, "--json"))["apps"]) == 25


def test_exit_codes(saved, tmp_path, capsys):
    path = saved("fair_share/themis-figure5b", "drf")
    record = read_json(path)
    none = tmp_path / "none.json"
    write_json(none, record | {"solution": None})
    assert run(["certify", str(none)]) == 1
    assert "the result holds no solution" in capsys.readouterr().err
    wrong = tmp_path / "wrong.json"
    write_json(wrong, record | {"solution": {"bundles": [[{"machine": 0, "gpus": 9}], []]}})
    assert run(["certify", str(wrong)]) == 2
    assert "not feasible for fair_share/themis-figure5b: machine_capacity at machine m0" in capsys.readouterr().err
    other = saved("threshold/tiresias-figure3", "exact")
    assert run(["certify", other]) == 2
    assert "a problem of kind threshold; certificates apply to fair_share and auction" in capsys.readouterr().err
    assert run(["certify", str(tmp_path / "absent.json")]) == 2
    assert run(["certify", path, "--time-limit", "-1"]) == 2
    capsys.readouterr()
    # too little time to decide is an answer that is missing
    large = saved("fair_share/cluster?apps=10&racks=4", "exact")
    assert run(["certify", large, "--time-limit", "1e-9"]) == 1
    assert "PE  Pareto efficient   not decided within the time limit" in capsys.readouterr().out


def test_exchanges_are_told_from_other_allocations():
    assert exchange(((1, 0), (0, 2)), ((0, 2), (1, 0))) == (1, 0)
    assert exchange(((1, 0), (0, 2)), ((0, 2), (0, 0))) is None
    assert exchange(((1, 0), (1, 0), (0, 1)), ((1, 0), (0, 1), (1, 0))) == (0, 2, 1)
    assert exchange(((1,), (1,)), ((1,), (1,))) == (0, 1)
