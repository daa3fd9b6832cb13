"""What the path to HiGHS costs outside the solve, against numpy arrays handed to HiGHS directly.

Every variant builds the same multiple-choice knapsack, hands it to HiGHS and writes a vector of the right length back;
the search itself is left out by a time limit of 0. Variants take turns in one process; medians are reported, and ratios
to the raw variant of the same run.
"""

import statistics
import time

import highspy
import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.common.gc_manager import PauseGC
from pyomo.contrib.appsi.solvers.highs import Highs as AppsiHighs
from pyomo.core.expr.numeric_expr import LinearExpression

from gangopt.solvers.highs import SolveSettings, compile_model, load_values
from gangopt.solvers.highs.handle import Handle
from gangopt.solvers.highs.library import new_highs
from gangopt.solvers.highs.trivial import tightened
from gangopt.solvers.highs.verification import rounded, violation

pytestmark = pytest.mark.benchmark
ROUNDS = 5


def data(jobs, choices):
    rng = np.random.default_rng(0)
    n = jobs * choices
    weights = rng.integers(1, 30, (2, n)).astype(float)
    return rng.uniform(1, 100, n), weights, weights.sum(axis=1) / choices * 1.2


def chosen(jobs, choices):
    """Return the point that takes the first configuration of each job."""
    point = np.zeros(jobs * choices)
    point[::choices] = 1.0
    return point


def raw(jobs, choices, costs, weights, capacity):
    began = time.perf_counter()
    n = jobs * choices
    starts = np.concatenate([np.arange(0, n + 1, choices), [2 * n, 3 * n]]).astype(np.int32)
    indices = np.tile(np.arange(n, dtype=np.int32), 3)
    values = np.concatenate([np.ones(n), weights.ravel()])
    row_lower = np.concatenate([np.ones(jobs), [-np.inf, -np.inf]])
    row_upper = np.concatenate([np.ones(jobs), capacity])
    built = time.perf_counter()
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    kind, sense = int(highspy.MatrixFormat.kRowwise), int(highspy.ObjSense.kMinimize)
    whole = np.ones(n, dtype=np.int32)
    status = highs.passModel(
        n, jobs + 2, 3 * n, kind, sense, 0.0, costs, np.zeros(n), np.ones(n), row_lower, row_upper, starts, indices,
        values, whole,
    )  # fmt: skip
    assert status == highspy.HighsStatus.kOk
    passed = time.perf_counter()
    vector = np.array(highs.getSolution().col_value or [0.0] * n)
    assert len(vector) == n
    return built - began, passed - built, time.perf_counter() - passed


def pyomo_model(jobs, choices, costs, weights, capacity):
    """Build with the idiom that formulations use."""
    with PauseGC():
        model = pyo.ConcreteModel()
        model.x = pyo.Var(range(jobs * choices), domain=pyo.Binary)
        x = list(model.x.values())
        model.goal = pyo.Objective(expr=LinearExpression(linear_coefs=costs.tolist(), linear_vars=x))
        model.one = pyo.Constraint(
            range(jobs), rule=lambda _m, j: LinearExpression(x[j * choices : (j + 1) * choices]) == 1
        )
        model.capacity = pyo.Constraint(
            range(2),
            rule=lambda _m, r: LinearExpression(linear_coefs=weights[r].tolist(), linear_vars=x) <= float(capacity[r]),
        )
    return model


def ours(jobs, choices, *numbers):
    began = time.perf_counter()
    model = pyomo_model(jobs, choices, *numbers)
    built = time.perf_counter()
    arrays = compile_model(model)
    tight = tightened(arrays)
    handle = Handle(SolveSettings())
    handle.load(tight, 1.0)
    passed = time.perf_counter()
    point = rounded(tight, chosen(jobs, choices))
    assert violation(tight, point) is None
    load_values(arrays, point)
    assert model.x[0].value == 1.0
    return built - began, passed - built, time.perf_counter() - passed


def appsi(jobs, choices, costs, weights, capacity):
    """Build with rules and sums, and hand over through appsi_highs."""
    began = time.perf_counter()
    model = pyo.ConcreteModel()
    model.jobs, model.choices = pyo.RangeSet(0, jobs - 1), pyo.RangeSet(0, choices - 1)
    model.x = pyo.Var(model.jobs, model.choices, domain=pyo.Binary)
    model.goal = pyo.Objective(
        expr=sum(costs[j * choices + c] * model.x[j, c] for j in model.jobs for c in model.choices)
    )
    model.one = pyo.Constraint(model.jobs, rule=lambda m, j: sum(m.x[j, c] for c in m.choices) == 1)
    model.capacity = pyo.Constraint(
        range(2),
        rule=lambda m, r: (
            sum(weights[r, j * choices + c] * m.x[j, c] for j in m.jobs for c in m.choices) <= capacity[r]
        ),
    )
    built = time.perf_counter()
    solver = AppsiHighs()
    solver.set_instance(model)
    passed = time.perf_counter()
    for variable, value in zip(model.x.values(), chosen(jobs, choices).tolist(), strict=True):
        variable.set_value(value, skip_validation=True)
    return built - began, passed - built, time.perf_counter() - passed


def measure(variants, jobs, choices, rounds):
    numbers = data(jobs, choices)
    new_highs()
    times = {variant.__name__: [] for variant in variants}
    for _ in range(rounds):
        for variant in variants:
            times[variant.__name__].append(variant(jobs, choices, *numbers))
    base = statistics.median(sum(parts) for parts in times["raw"])
    print(f"\n{jobs} x {choices} = {jobs * choices} binaries, medians of {rounds}")
    print(f"{'path':8} {'build s':>9} {'hand over s':>12} {'load s':>8} {'total s':>9} {'x raw':>7}")
    ratios = {}
    for name, parts in times.items():
        build, hand, load = (statistics.median(column) for column in zip(*parts, strict=True))
        total = statistics.median(sum(row) for row in parts)
        ratios[name] = total / base
        print(f"{name:8} {build:9.4f} {hand:12.4f} {load:8.4f} {total:9.4f} {ratios[name]:7.1f}")
    return ratios


def test_overhead_at_50_000_binaries():
    ratios = measure([raw, ours, appsi], 1000, 50, ROUNDS)
    assert ratios["ours"] <= 35
    assert ratios["appsi"] > 3 * ratios["ours"]


def test_overhead_at_400_000_binaries():
    assert measure([raw, ours], 4000, 100, ROUNDS)["ours"] <= 40


def test_load_back_of_400_000_values():
    arrays = compile_model(pyomo_model(4000, 100, *data(4000, 100)))
    values, times = chosen(4000, 100), []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        load_values(arrays, values)
        times.append(time.perf_counter() - began)
    print(f"\nload-back of 400,000 values: {statistics.median(times):.3f} s")
    assert statistics.median(times) < 0.15
