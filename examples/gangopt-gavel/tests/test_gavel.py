"""The problem against two independent oracles, and the extensions as gangopt shows them.

One oracle is a simplex method in exact rationals, the other scipy's linprog; neither shares code with the formulation.
"""

import json
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest
from gangopt_gavel.formulation import rates
from gangopt_gavel.instance import TimeShareInstance, TimeShareSolution
from gangopt_gavel.policy import MaxMinTime
from scipy.optimize import linprog

import gangopt
from gangopt.catalogue import entries
from gangopt.cli import run
from gangopt.instances.workload.catalogue import load_workload
from gangopt.instances.workload.machines import load_machines

OPTIMA = {"time_share/three-types": Fraction(129, 124), "time_share/gangs": Fraction(2473149, 2204935)}
LOG = "job_id,job_type,scale_factor,total_steps,arrival_time,steps_per_second\n"


def program(instance):
    """Return rows A, limits b and costs c of max c x, A x <= b, x >= 0, in rationals; the last column is z."""
    speed = [[Fraction(value) for value in row] for row in instance.throughput.tolist()]
    gpus = [Fraction(value) for value in instance.gpus.tolist()]
    pairs = [
        (j, t)
        for j, row in enumerate(speed)
        for t, value in enumerate(row)
        if value and instance.scale[j] <= instance.gpus[t]
    ]
    rows, limits = [], []
    for j, row in enumerate(speed):
        equal = sum(w * value for w, value in zip(gpus, row, strict=True)) / sum(gpus)
        rows.append([-row[t] / equal if i == j else Fraction(0) for i, t in pairs] + [Fraction(1)])
        limits.append(Fraction(0))
    for j in range(len(speed)):
        rows.append([Fraction(int(i == j)) for i, _ in pairs] + [Fraction(0)])
        limits.append(Fraction(1))
    for t, w in enumerate(gpus):
        rows.append(
            [Fraction(int(instance.scale[i])) if kind == t else Fraction(0) for i, kind in pairs] + [Fraction(0)]
        )
        limits.append(w)
    return rows, limits, [Fraction(0)] * len(pairs) + [Fraction(1)]


def exact_optimum(instance):
    """Return the optimum as a rational, by the simplex method with Bland's rule from x = 0."""
    rows, limits, costs = program(instance)
    m, n = len(rows), len(costs)
    table = [
        row + [Fraction(int(r == i)) for r in range(m)] + [limit]
        for i, (row, limit) in enumerate(zip(rows, limits, strict=True))
    ]
    top = [-cost for cost in costs] + [Fraction(0)] * (m + 1)
    basis = list(range(n, n + m))
    while (enter := next((j for j in range(n + m) if top[j] < 0), None)) is not None:
        leave = min((row[-1] / row[enter], basis[i], i) for i, row in enumerate(table) if row[enter] > 0)[2]
        pivot = table[leave][enter]
        table[leave] = [value / pivot for value in table[leave]]
        for i, row in enumerate(table):
            if i != leave and row[enter]:
                table[i] = [a - row[enter] * b for a, b in zip(row, table[leave], strict=True)]
        top = [a - top[enter] * b for a, b in zip(top, table[leave], strict=True)]
        basis[leave] = enter
    return top[-1]


def by_scipy(instance):
    """Return the optimum of the same program by scipy's linprog."""
    rows, limits, costs = program(instance)
    found = linprog(-np.array(costs, float), np.array(rows, float), np.array(limits, float), method="highs")
    return -found.fun


@pytest.mark.parametrize("name", list(OPTIMA))
def test_named_instances_have_the_optima_of_the_exact_simplex_method(name):
    instance = gangopt.load(name)
    assert exact_optimum(instance) == OPTIMA[name]
    entry = next(item for item in entries("time_share") if item.name == name)
    assert entry.best == entry.bound == float(OPTIMA[name])
    result = gangopt.solve(instance)
    assert result.proven
    assert result.objective == pytest.approx(float(OPTIMA[name]), rel=1e-9)
    stored = json.loads((files("gangopt_gavel.library") / entry.solution).read_text("utf-8"))
    solution = TimeShareSolution(tuple(map(tuple, stored["shares"])))
    assert instance.check(solution) == []
    assert instance.evaluate(solution).objective == pytest.approx(entry.best, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_random_instances_agree_with_both_oracles_and_no_heuristic_is_better(seed):
    instance = gangopt.load(f"time_share/random?jobs={2 + seed}&types={1 + seed % 3}&gpus=2&seed={seed}")
    best = float(exact_optimum(instance))
    assert by_scipy(instance) == pytest.approx(best, rel=1e-9)
    result = gangopt.solve(instance)
    assert result.proven
    assert result.objective == pytest.approx(best, rel=1e-9)
    for method in ("isolated", "greedy", "greedy?slices=7"):
        assert 0 <= gangopt.solve(instance, method).objective <= best * (1 + 1e-9)


def test_the_form_is_one_object_with_a_hint():
    assert gangopt.problems["time_share"].form("rates") is rates
    instance = gangopt.load("time_share/gangs")
    start = gangopt.solve(instance, "greedy").solution
    model = rates.model(instance)
    rates.hint(model, instance, start)
    assert np.array(rates.read(model, instance).shares) == pytest.approx(np.array(start.shares))


@pytest.mark.parametrize(
    ("shares", "rule"),
    [
        (((1, 0, 0), (0, 1, 0)), "shape"),
        (((-0.1, 0, 0), (0, 1, 0), (0, 0, 1)), "share"),
        (((0.5, 0.6, 0), (0, 0.4, 0), (0, 0, 1)), "one_time_per_job"),
        (((1, 0, 0), (0, 1, 0), (0.1, 0, 0)), "gpus_of_type"),
    ],
)
def test_the_judge_names_the_broken_rule(shares, rule):
    assert [item.rule for item in gangopt.load("time_share/three-types").check(TimeShareSolution(shares))] == [rule]


def test_what_a_job_cannot_use_is_refused_by_name():
    fields = {"name": "x", "jobs": ("a", "b"), "gpu_types": ("k80", "v100"), "gpus": [1, 1], "scale": [1, 2]}
    with pytest.raises(gangopt.InputError, match=r"jobs\[1\]: b can run on no GPU type"):
        TimeShareInstance(**fields, throughput=[[1, 0], [1, 1]])
    instance = TimeShareInstance(**(fields | {"scale": [1, 1]}), throughput=[[1, 0], [1, 1]])
    assert [item.rule for item in instance.check(TimeShareSolution(((0, 1), (1, 0))))] == ["usable"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gangopt.load("time_share/random?jobs=0"), r"time_share/random: jobs must be 1 to 10000 \(got 0\)"),
        (lambda: gangopt.solve("time_share/gangs", "greedy?slices=0"), r"slices must be 1 to 10000 \(got 0\)"),
        (lambda: MaxMinTime(0.0), r"max-min-time: round_seconds must be > 0 s \(got 0\.0\)"),
    ],
)
def test_what_is_out_of_range_is_refused(call, message):
    with pytest.raises(gangopt.InputError, match=message):
        call()


def test_two_equal_jobs_take_turns_of_a_round(tmp_path):
    log = tmp_path / "jobs.csv"
    log.write_text(LOG + "a,resnet,1,3000,0,10\nb,resnet,1,3000,0,10\n")
    jobs = load_workload(log)
    assert (jobs.source, jobs.duration.tolist()) == ("file jobs.csv, format gavel-csv", [300.0, 300.0])
    # rounds of 100 s: a b a b a b, so a ends after 500 s and b after 600 s
    played = gangopt.replay(jobs, 1, "max-min-time?round_seconds=100")
    assert played.end.tolist() == [500.0, 600.0]


def test_a_machine_list_becomes_a_cluster(tmp_path):
    path = tmp_path / "machines.csv"
    path.write_text("gpu_type,machines,gpus_per_machine\nv100,2,4\nk80,1,8\n")
    cluster = load_machines(path)
    assert sorted(cluster.gpus_per_machine.tolist()) == [4, 4, 8]
    assert set(cluster.gpu_types) == {"v100", "k80"}


def test_commands_know_what_the_package_adds(capsys):
    assert run(["show", "time_share/three-types"]) == 0
    assert run(["solve", "time_share/three-types", "--form", "rates"]) == 0
    out = capsys.readouterr().out
    assert "3 jobs on 1 v100, 1 p100, 1 k80" in out
    assert "objective   1.04032 ratio" in out
    assert ["transformer", "1.0403", "0.2016", "0.7984", "0"] in [line.split() for line in out.splitlines()]
    assert run(["schema", "time_share"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "TimeShareDocument"
