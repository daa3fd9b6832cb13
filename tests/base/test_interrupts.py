"""Ctrl-C: no answer that it cut short passes for a whole one, wherever it came and whatever swallowed it."""

import dataclasses
import importlib
import os
import signal
import sys
import time

import pytest

import gangopt
from gangopt.base import interrupts
from gangopt.cli.output import require_whole
from gangopt.experiments.optimus_ablation import optimus_ablation
from gangopt.experiments.prediction_error import prediction_error
from gangopt.instances.parameters.instance import ParametersInstance
from gangopt.solvers.core.contract import Outcome
from gangopt.solvers.parameters.heuristics import lpt

ALLOCATION = "allocation/optimus-figure4"
INTERVAL = "interval/testbed?seed=1"
SMALL = "parameters/random?blocks=6&servers=2&seed=1"


@pytest.fixture(autouse=True)
def _fresh():
    interrupts.reset()
    yield
    interrupts.reset()


@pytest.fixture
def handler():
    """The handler of the command line, for as long as the test runs."""
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    interrupts.listen()
    yield
    signal.signal(signal.SIGINT, before)
    sys.unraisablehook = hook


def cut_short_at(monkeypatch, target, call):
    """Have the given call of a function that returns an answer end as interrupted."""
    module, _, name = target.rpartition(".")
    function = getattr(importlib.import_module(module), name)
    calls = []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        answer = function(*arguments, **options)
        return dataclasses.replace(answer, termination="interrupted") if len(calls) == call else answer

    monkeypatch.setattr(target, interrupted)
    return calls


@pytest.mark.parametrize("call", [1, 2, 3])
def test_prediction_error_takes_no_allocation_that_ctrl_c_cut_short(monkeypatch, call):
    calls = cut_short_at(monkeypatch, "gangopt.solvers.allocation.exact.exact", call)
    with pytest.raises(KeyboardInterrupt):
        prediction_error([ALLOCATION], errors=(0.15,), kinds=("steps",), methods=("exact",), seeds=2)
    assert len(calls) == call


def test_the_mean_loss_that_an_interrupt_made_13_27_percent():
    (row,) = prediction_error(["allocation/optimus-testbed"], errors=(0.15,), kinds=("steps",), methods=("exact",)).rows
    assert row["mean loss"] == pytest.approx(0.12555741236834228, rel=1e-6)


def test_prediction_error_refuses_an_exact_row_that_is_not_proven(monkeypatch):
    from gangopt.solvers.allocation import exact as allocation

    exact, calls = allocation.exact, []

    def late(instance, controls):
        calls.append(instance)
        found = exact(instance, controls)
        return dataclasses.replace(found, termination="time_limit", bound=0.9 * found.bound) if calls[1:] else found

    monkeypatch.setattr(allocation, "exact", late)
    with pytest.raises(gangopt.InputError, match="optimum not proven within the time limit"):
        prediction_error([ALLOCATION], errors=(0.15,), kinds=("steps",), methods=("exact",), seeds=1)


@pytest.mark.parametrize("decision", ["allocation", "placement"])
def test_the_ablation_takes_no_half_that_ctrl_c_cut_short(monkeypatch, decision):
    cut_short_at(monkeypatch, f"gangopt.solvers.{decision}.exact.exact", 1)
    with pytest.raises(KeyboardInterrupt):
        optimus_ablation([INTERVAL])


def test_the_ablation_marks_rows_that_are_not_proven(monkeypatch):
    from gangopt.solvers.allocation import exact as allocation

    exact = allocation.exact
    monkeypatch.setattr(
        allocation,
        "exact",
        lambda instance, controls: dataclasses.replace(exact(instance, controls), termination="time_limit"),
    )
    methods = [row["method"] for row in optimus_ablation([INTERVAL]).rows if row["swapped"] == "allocation"]
    assert methods == ["optimus", "exact (not proven on 1 of 1)", "drf", "tetris", "equal"]


@pytest.mark.parametrize(("first", "second"), [("allocation", "placement"), ("placement", "allocation")])
def test_two_decisions_in_turn_end_where_the_interrupted_one_does(monkeypatch, first, second):
    cut_short_at(monkeypatch, f"gangopt.solvers.{first}.exact.exact", 1)
    others = cut_short_at(monkeypatch, f"gangopt.solvers.{second}.exact.exact", 99)
    result = gangopt.solve(INTERVAL, "exact+exact")
    assert result.termination == "interrupted"
    assert (result.solution_status, len(others)) == (("none", 0) if first == "allocation" else ("feasible", 1))


def test_a_policy_that_solves_an_interval_passes_ctrl_c_on(monkeypatch):
    cut_short_at(monkeypatch, "gangopt.solvers.allocation.exact.exact", 1)
    jobs = gangopt.Workload.from_columns({"id": ["a", "b"], "arrival": [0, 0], "gpus": [2, 1], "duration": [2, 8]})
    with pytest.raises(KeyboardInterrupt):
        gangopt.replay(jobs, 2, "exact?speed=linear")


def test_a_policy_that_solves_an_interval_takes_nothing_unproven(monkeypatch):
    from gangopt.solvers.allocation import exact as allocation

    exact = allocation.exact
    monkeypatch.setattr(
        allocation, "exact", lambda *arguments: dataclasses.replace(exact(*arguments), termination="error")
    )
    jobs = gangopt.Workload.from_columns({"id": ["a"], "arrival": [0], "gpus": [1], "duration": [8]})
    with pytest.raises(gangopt.NoSolutionError, match="allocation of an interval not proven optimal"):
        gangopt.replay(jobs, 2, "exact?speed=linear")


def test_an_auction_passes_ctrl_c_on(monkeypatch):
    cut_short_at(monkeypatch, "gangopt.solvers.auction.exact.exact", 1)
    with pytest.raises(KeyboardInterrupt):
        gangopt.solve("auction/themis-figure5b", "themis")


@pytest.mark.parametrize("call", [1, 2])
def test_certificates_leave_nothing_open_because_of_ctrl_c(monkeypatch, call):
    from gangopt.instances.fair_share.market import rows_of
    from gangopt.solvers.fair_share.certificates import certify

    instance = gangopt.load("fair_share/themis-figure5b")
    market = instance.market
    rows = rows_of(gangopt.solve(instance, "drf").solution.bundles, len(instance.machines))
    cut_short_at(monkeypatch, "gangopt.solvers.highs.solve_model", call)
    with pytest.raises(KeyboardInterrupt):
        certify(market, rows)


@pytest.mark.parametrize("name", ["fair_share/random?seed=1", "bid/random?seed=2", "threshold/random?seed=1"])
def test_a_model_that_ctrl_c_cut_short_is_no_matter_of_time(monkeypatch, name):
    calls = cut_short_at(monkeypatch, "gangopt.solvers.highs.solve_model", 1)
    result = gangopt.solve(name)
    assert result.termination == ("interrupted" if calls else "optimal")


def test_a_frontier_that_ctrl_c_cut_short_is_not_whole(monkeypatch):
    from gangopt.solvers.parameters.exact import frontier
    from gangopt.solvers.parameters.levels import LevelSearch

    level = LevelSearch.level

    def stop_at_one_cut(self, cuts, clock):
        if cuts == 1:
            raise KeyboardInterrupt
        return level(self, cuts, clock)

    monkeypatch.setattr(LevelSearch, "level", stop_at_one_cut)
    instance = ParametersInstance(name="blocks", shapes=((30,), (3,), (3,)), servers=3)
    assert gangopt.solve(instance, "frontier").termination == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        frontier(instance)


def test_solve_marks_what_went_on_after_ctrl_c(monkeypatch):
    def deaf(instance, controls):
        interrupts.note()
        return Outcome("optimal", lpt(instance), 0.0)

    monkeypatch.setattr("gangopt.solvers.parameters.exact.exact", deaf)
    assert gangopt.solve(SMALL).termination == "interrupted"

    def deaf_too(instance):
        interrupts.note()
        return lpt(instance)

    with pytest.raises(KeyboardInterrupt):
        gangopt.solve(SMALL, deaf_too)


def test_a_command_prints_nothing_that_does_not_say_that_ctrl_c_came():
    require_whole()
    interrupts.note()
    require_whole(interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        require_whole()


def test_only_an_interrupted_answer_raises():
    answer = Outcome("time_limit", None, None)
    assert interrupts.unless_interrupted(answer) is answer
    with pytest.raises(KeyboardInterrupt):
        interrupts.unless_interrupted(Outcome("interrupted", None, None))


def test_ctrl_c_waits_for_the_end_of_an_import(handler, tmp_path, monkeypatch):
    """A library that was imported by half fails later, in ways of its own."""
    (tmp_path / "slow_library.py").write_text(
        "import os, signal, time\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "end = time.monotonic() + 0.1\n"
        "while time.monotonic() < end: pass\n"
        "whole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def use_it():
        importlib.import_module("slow_library")
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        use_it()
    assert sys.modules.pop("slow_library").whole
    assert interrupts.count() >= 2


def test_ctrl_c_in_a_finaliser_comes_again(handler, capsys):
    class Closing:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass

    def use_it():
        Closing()
        time.sleep(10)

    with pytest.raises(KeyboardInterrupt):
        use_it()
    assert capsys.readouterr().err == ""


def test_highs_leaves_the_handler_of_the_command_line_as_it_was(handler):
    assert gangopt.solve(SMALL, form="assign").termination == "optimal"
    assert signal.getsignal(signal.SIGINT) is interrupts.on_ctrl_c
