"""How often HiGHS calls a wrong value optimal: its own defaults against the options that gangopt sets.

Small instances of every decision are written in their explicit forms and solved twice. Each point is cleaned (whole
numbers rounded, the rest solved again to 1e-10); the best clean objective of a model is its reference. A claim is false
when its objective is worse than the reference, and unclean when no true solution has it.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

import gangopt
from gangopt.solvers.highs import LinearArrays, SolveSettings, compile_model, solve_arrays
from gangopt.solvers.highs.handle import Handle, cost_scale, mip_options
from gangopt.solvers.highs.verification import fixed_integers, rounded

pytestmark = pytest.mark.benchmark

SOURCES = (
    ("placement/random?servers=3&jobs=3&load=0.9&seed={}", ("tasks", "pieces", "levels")),
    ("placement/random?servers=5&jobs=3&load=0.8&tasks=paper&seed={}", ("tasks", "pieces")),
    ("parameters/random?blocks=6&servers=3&seed={}", ("assign", "groups")),
    ("allocation/random?jobs=6&nodes=6&max_tasks=5&seed={}", ("choice", "counts")),
    ("network_placement/random?machines=5&gpus=4&workers=5&seed={}", ("literal",)),
    ("interval/random?jobs=2&servers=3&max_tasks=3&seed={}", ("joint",)),
    ("threshold/random?jobs=12&features=2&seed={}", ("linear",)),
)
SEEDS = 100
DEFAULTS = {"mip_allow_restart": True, "mip_feasibility_tolerance": 1e-6, "primal_feasibility_tolerance": 1e-7}
CLEAN = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": "off"}


@dataclass
class Claim:
    """What one way of solving said: objectives as costs to minimise, `clean` None where no true solution is near."""

    objective: float | None
    clean: float | None


def models():
    for seed, (template, forms) in itertools.product(range(SEEDS), SOURCES):
        name = template.format(seed)
        instance = gangopt.load(name)
        for form in forms:
            model = gangopt.problems[name.split("/")[0]].form(form).model(instance)
            yield f"{name} {form}", compile_model(model)


def clean_objective(arrays, values):
    point = rounded(arrays, values)
    solved = solve_arrays(replace(fixed_integers(arrays, point), columns=[], rows=[]), SolveSettings(options=CLEAN))
    return solved.objective if solved.termination == "optimal" else None


def claim_of(arrays, objective, values):
    sign = 1.0 if arrays.sense == "minimise" else -1.0
    clean = clean_objective(arrays, values)
    return Claim(sign * objective, None if clean is None else sign * clean)


def by_defaults(arrays):
    """Solve as HiGHS does by itself: the costs as they are and no check of its point."""
    handle = Handle(SolveSettings(options=DEFAULTS))
    handle.load(arrays, 1.0)
    handle._highs.run()
    point = handle.point()
    if handle.status_text() != "Optimal" or point is None:
        return Claim(None, None)
    return claim_of(arrays, arrays.objective(point), point)


def by_session(arrays):
    solved = solve_arrays(arrays)
    if solved.solution_status != "optimal":
        return Claim(None, None)
    return claim_of(arrays, solved.objective, solved.values)


def is_false(claim, reference):
    return claim.objective is not None and claim.objective > reference + 1e-6 + 1e-7 * abs(reference)


def is_unclean(claim):
    if claim.objective is None:
        return False
    return claim.clean is None or claim.clean > claim.objective + 1e-5 + 1e-6 * abs(claim.objective)


def test_false_optima(capsys):
    counts = {"HiGHS's defaults": np.zeros(3, dtype=int), "gangopt": np.zeros(3, dtype=int)}
    n_models = 0
    for name, arrays in models():
        claims = {"HiGHS's defaults": by_defaults(arrays), "gangopt": by_session(arrays)}
        clean = [claim.clean for claim in claims.values() if claim.clean is not None]
        if not clean:
            continue
        n_models += 1
        for way, claim in claims.items():
            verdict = [is_false(claim, min(clean)), is_unclean(claim), claim.objective is None]
            counts[way] += verdict
            assert way != "gangopt" or not any(verdict[:2]), f"{name}: {claim}, true {min(clean)}"
    with capsys.disabled():
        print(f"\n{n_models} models: falsely optimal / with an objective no solution has / left open")
        for way, (false, unclean, left_open) in counts.items():
            print(f"  {way:18} {false:4} {unclean:4} {left_open:4}")


def test_scaled_as_documented():
    name, arrays = next(models())
    assert isinstance(arrays, LinearArrays), name
    assert mip_options(SolveSettings(), arrays)["mip_allow_restart"] is False
    assert np.abs(arrays.costs).max() * cost_scale(arrays) >= 1024
