"""The compiler against Pyomo's standard-form compiler, and every kind of component it meets."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.gdp import Disjunct
from pyomo.mpec import Complementarity, complements
from pyomo.repn.beta.matrix import MatrixConstraint
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from gangopt.base.errors import InputError, NonlinearModelError
from gangopt.solvers.highs import compile_model, solve_model
from gangopt.solvers.highs.columns import bounds_and_integrality

NUMBER = st.integers(-4, 4).map(float)


def dense(arrays):
    """Rows as {column name: coefficient}, with bounds, by row name."""
    rows = {}
    for row in range(arrays.n_rows):
        entries = range(arrays.starts[row], arrays.starts[row + 1])
        terms = {arrays.column_name(arrays.indices[k]): arrays.values[k] for k in entries}
        rows[arrays.row_name(row)] = (terms, arrays.row_lower[row], arrays.row_upper[row])
    return rows


def standard_form(model):
    """The same from Pyomo's compiler; it splits a ranged row into two, which are joined here."""
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=None)
    matrix, rows = form.A.tocsr(), {}
    for k, entry in enumerate(form.rows):
        part = matrix[[k], :]
        terms = {form.columns[j].name: a for j, a in zip(part.indices, part.data, strict=True) if a}
        lower, upper = rows.get(entry.constraint.name, (None, -math.inf, math.inf))[1:]
        side = float(np.asarray(form.rhs)[k])
        if entry.bound_type >= 0:
            upper = side
        if entry.bound_type <= 0:
            lower = side
        rows[entry.constraint.name] = (terms, lower, upper)
    costs = {form.columns[j].name: a for j, a in zip(form.c.tocoo().col, form.c.tocoo().data, strict=True) if a}
    offset = float(form.c_offset[0]) if len(form.c_offset) else 0.0
    return rows, costs, offset


@st.composite
def random_models(draw):
    n, m = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(n), bounds=(-5, 5))
    model.p = pyo.Param(range(n), mutable=True, initialize=lambda _m, _k: draw(NUMBER))
    model.e = pyo.Expression(range(n), rule=lambda mod, k: draw(NUMBER) * mod.x[k] + draw(NUMBER))
    for k in range(n):
        if draw(st.integers(0, 4)) == 0:
            model.x[k].fix(draw(NUMBER))

    def term():
        k, kind = draw(st.integers(0, n - 1)), draw(st.integers(0, 5))
        coefficient = draw(NUMBER)
        return (
            coefficient * model.x[k],
            model.x[k],
            model.p[k] * model.x[k],
            model.e[k],
            coefficient,
            (model.x[k] + coefficient) * 2,
        )[kind]

    def body():
        if draw(st.booleans()):
            variables = [model.x[draw(st.integers(0, n - 1))] for _ in range(draw(st.integers(1, 4)))]
            return LinearExpression(linear_coefs=[draw(NUMBER) for _ in variables], linear_vars=variables)
        return sum(term() for _ in range(draw(st.integers(1, 4)))) + 0 * model.x[0]

    model.rows = pyo.ConstraintList()
    for _ in range(m):
        kind, low = draw(st.integers(0, 3)), draw(NUMBER)
        # sides this wide keep rows without variables true: Pyomo's compiler raises on false ones
        model.rows.add(
            (
                pyo.inequality(-500, body(), low + 500),
                body() <= 500 + low,
                body() >= -500 + low,
                (low - 500, body(), None),
            )[kind]
        )
    model.goal = pyo.Objective(expr=body(), sense=draw(st.sampled_from([pyo.minimize, pyo.maximize])))
    return model


@settings(max_examples=120, deadline=None)
@given(random_models())
def test_agrees_with_standard_form_on_random_models(model):
    rows, costs, offset = standard_form(model)
    arrays = compile_model(model)
    ours = dense(arrays)
    assert set(ours) == set(rows)
    for name, (terms, lower, upper) in rows.items():
        assert ours[name][0] == pytest.approx(terms)
        assert ours[name][1:] == pytest.approx((lower, upper))
    found = {arrays.column_name(j): c for j, c in enumerate(arrays.costs) if c}
    assert found == pytest.approx(costs)
    assert arrays.offset == pytest.approx(offset)
    assert arrays.sense == ("maximise" if model.goal.sense == pyo.maximize else "minimise")


def small():
    model = pyo.ConcreteModel()
    model.x = pyo.Var([1, 2], domain=pyo.NonNegativeReals, bounds=(None, 8))
    model.y = pyo.Var(domain=pyo.Binary)
    model.row = pyo.Constraint(expr=(1, model.x[1] + 2 * model.y, 5))
    model.goal = pyo.Objective(expr=model.x[1] + 3)
    return model


def test_ranged_row_is_one_row_and_unused_variable_a_column():
    arrays = compile_model(small())
    assert dense(arrays) == {"row": ({"x[1]": 1.0, "y": 2.0}, 1.0, 5.0)}
    assert [v.name for v in arrays.columns] == ["x[1]", "x[2]", "y"]
    assert arrays.integer.tolist() == [False, False, True]
    assert arrays.upper.tolist() == [8, 8, 1]
    without = compile_model(small(), include_unused=False)
    assert [v.name for v in without.columns] == ["x[1]", "y"]


@pytest.mark.parametrize(
    "domain",
    [
        pyo.Reals,
        pyo.NonNegativeReals,
        pyo.Integers,
        pyo.NonNegativeIntegers,
        pyo.Binary,
        pyo.PercentFraction,
        pyo.NegativeIntegers,
        pyo.NonPositiveReals,
        pyo.RangeSet(2, 6),
    ],
)
@pytest.mark.parametrize("bounds", [(None, None), (-0.5, 3.5), (1, None), (None, 0)])
def test_slots_give_what_the_public_accessors_give(domain, bounds):
    model = pyo.ConcreteModel()
    model.p = pyo.Param(mutable=True, initialize=2)
    model.x = pyo.Var([1, 2], domain=domain, bounds=bounds)
    model.x[2].setub(model.p)
    lower, upper, integer = bounds_and_integrality(list(model.x.values()))
    for k, variable in enumerate(model.x.values()):
        low, high = variable.bounds
        assert lower[k] == (-math.inf if low is None else low)
        assert upper[k] == (math.inf if high is None else high)
        assert integer[k] == (variable.is_integer() or variable.is_binary())


def test_constant_rows_hold_are_skipped_or_named():
    model = small()
    model.x[1].fix(1.0)
    model.y.fix(1)
    model.near = pyo.Constraint(expr=model.x[1] <= 1 - 1e-10)
    assert compile_model(model).n_rows == 0
    model.broken = pyo.Constraint(expr=model.x[1] + model.y >= 3)
    arrays = compile_model(model)
    assert dense(arrays) == {"broken": ({}, 1.0, math.inf)}
    outcome = solve_model(model)
    assert (outcome.termination, outcome.conflict) == ("infeasible", ("broken",))
    assert "broken has no variables" in outcome.message


def test_repeated_variable_is_summed_and_cancelled_one_removed():
    model = small()
    x = model.x
    model.twice = pyo.Constraint(
        expr=LinearExpression(linear_coefs=[1, 2, 5, -5], linear_vars=[x[1], x[1], x[2], x[2]]) <= 4
    )
    assert dense(compile_model(model))["twice"] == ({"x[1]": 3.0}, -math.inf, 4.0)


def test_params_in_coefficients_bounds_and_sides_are_evaluated():
    model = small()
    model.p = pyo.Param(mutable=True, initialize=7)
    model.row2 = pyo.Constraint(expr=LinearExpression(linear_coefs=[model.p], linear_vars=[model.x[1]]) <= model.p + 1)
    assert dense(compile_model(model))["row2"] == ({"x[1]": 7.0}, -math.inf, 8.0)
    model.p.set_value(9)
    assert dense(compile_model(model))["row2"] == ({"x[1]": 9.0}, -math.inf, 10.0)


def test_linear_expression_with_constant_variables_and_monomials_mixed():
    model = small()
    model.mixed = pyo.Constraint(expr=LinearExpression([4, model.x[1], 2 * model.x[2]]) <= 10)
    assert dense(compile_model(model))["mixed"] == ({"x[1]": 1.0, "x[2]": 2.0}, -math.inf, 6.0)


def test_sub_block_has_no_objective_of_the_parent_and_sees_foreign_variables():
    model = small()
    model.b = pyo.Block([1, 2], rule=lambda b, k: b.add_component("z", pyo.Var(bounds=(0, k))))
    model.b[1].link = pyo.Constraint(expr=model.b[1].z + model.x[2] + model.b[2].z <= 3)
    arrays = compile_model(model.b[1])
    assert [v.name for v in arrays.columns] == ["b[1].z", "x[2]", "b[2].z"]
    assert not arrays.costs.any()
    model.x[2].fix(2)
    assert dense(compile_model(model.b[1])) == {"b[1].link": ({"b[1].z": 1.0, "b[2].z": 1.0}, -math.inf, 1.0)}
    assert len(compile_model(model).columns) == 4


def test_deactivated_parts_are_left_out():
    model = small()
    model.b = pyo.Block()
    model.b.z = pyo.Var(bounds=(0, 1))
    model.b.no = pyo.Constraint(expr=model.b.z >= 5)
    model.off = pyo.Constraint(expr=model.x[1] >= 9)
    model.off.deactivate()
    model.b.deactivate()
    arrays = compile_model(model)
    assert list(dense(arrays)) == ["row"]
    with pytest.raises(InputError, match="b is deactivated"):
        compile_model(model.b)


def test_references_add_nothing_twice():
    model = small()
    model.r = pyo.Reference(model.x)
    model.rr = pyo.Reference(model.row)
    arrays = compile_model(model)
    assert (arrays.n_columns, arrays.n_rows) == (3, 1)


def test_matrix_constraint_is_read():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(2), bounds=(0, 5))
    both = MatrixConstraint.LowerBound | MatrixConstraint.UpperBound
    model.c = MatrixConstraint(
        2, 2, 3, [0, 2, 3], [0, 1, 0], [1.0, 2.0, 3.0], [1.0, 4.0, 1.0, 6.0], [both, both], list(model.x.values())
    )
    assert dense(compile_model(model)) == {
        "c[0]": ({"x[0]": 1.0, "x[1]": 2.0}, 1.0, 4.0),
        "c[1]": ({"x[0]": 3.0}, 1.0, 6.0),
    }


def test_no_objective_is_the_objective_zero_and_constant_one_is_kept():
    model = small()
    model.goal.deactivate()
    outcome = solve_model(model)
    assert (outcome.termination, outcome.objective) == ("optimal", 0.0)
    model.flat = pyo.Objective(expr=7)
    assert solve_model(model).objective == 7.0


def second_objective(model):
    model.goal2 = pyo.Objective(expr=model.y)


def product(model):
    model.bad = pyo.Constraint(expr=model.x[1] * model.x[2] <= 1)


def square_objective(model):
    model.goal.set_value(model.x[1] ** 2)


def special_set(model):
    model.bad = pyo.SOSConstraint(var=model.x, sos=1)


def disjunct(model):
    model.bad = Disjunct()


def logic(model):
    model.flag = pyo.BooleanVar()
    model.bad = pyo.LogicalConstraint(expr=model.flag)


def complementarity(model):
    model.bad = Complementarity(expr=complements(model.x[1] >= 0, model.x[2] >= 0))


def gaps(model):
    model.bad = pyo.Var(domain=pyo.Set(initialize=[0, 3, 5]))


def steps(model):
    model.bad = pyo.Var(domain=pyo.RangeSet(0, 10, 5))


def anything(model):
    model.bad = pyo.Var(domain=pyo.Any)


def half(model):
    model.y.fix(0.5, skip_validation=True)


def empty_fix(model):
    model.y.fix(None)


def nan_coefficient(model):
    model.bad = pyo.Constraint(expr=LinearExpression(linear_coefs=[math.nan], linear_vars=[model.x[1]]) <= 1)


def nan_cost(model):
    model.goal.set_value(LinearExpression(linear_coefs=[math.nan], linear_vars=[model.x[1]]))


def nan_side(model):
    model.p = pyo.Param(mutable=True, initialize=math.nan)
    model.bad = pyo.Constraint(expr=model.x[1] <= model.p)


def nan_bound(model):
    model.x[1].setub(math.nan)


def no_value_side(model):
    model.p = pyo.Param(mutable=True, domain=pyo.Any, initialize=None)
    model.bad = pyo.Constraint(expr=model.x[1] <= model.p)


def no_value_coefficient(model):
    model.p = pyo.Param(mutable=True, domain=pyo.Any, initialize=None)
    model.bad = pyo.Constraint(expr=LinearExpression(linear_coefs=[model.p], linear_vars=[model.x[1]]) <= 1)


def no_value_bound(model):
    model.p = pyo.Param(mutable=True, domain=pyo.Any, initialize=None)
    model.x[1].setub(model.p)


def infinite_cost(model):
    model.goal.set_value(LinearExpression(linear_coefs=[math.inf], linear_vars=[model.x[1]]))


def variable_sides(model):
    model.bad = pyo.Constraint(expr=pyo.inequality(model.x[1], model.x[2], 5))


def infinite_side(model):
    model.p = pyo.Param(mutable=True, initialize=-math.inf)
    model.bad = pyo.Constraint(expr=model.x[1] <= model.p)


def huge_coefficient(model):
    model.bad = pyo.Constraint(expr=1e16 * model.x[1] <= 1)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (second_objective, InputError, r"2 objectives are active \(goal, goal2\)"),
        (product, NonlinearModelError, "bad is not linear"),
        (square_objective, NonlinearModelError, "goal is not linear"),
        (special_set, InputError, "bad is an active SOSConstraint"),
        (disjunct, InputError, "bad is an active Disjunct"),
        (logic, InputError, "bad is an active LogicalConstraint"),
        (complementarity, InputError, "bad is an active Complementarity"),
        (gaps, InputError, "bad must have an interval of the reals or integers as its domain"),
        (steps, InputError, "bad must have an interval of the reals or integers as its domain"),
        (anything, InputError, r"bad must have an interval of .* \(got Any\)"),
        (half, InputError, "y is fixed at 0.5, outside its domain Binary"),
        (empty_fix, InputError, "y is fixed without a value|row cannot be evaluated"),
        (nan_coefficient, InputError, r"bad has the coefficient nan on x\[1\]"),
        (nan_cost, InputError, r"x\[1\] has the objective coefficient nan"),
        (nan_side, InputError, "bad has the upper bound nan"),
        (nan_bound, InputError, r"x\[1\] has a bound that is not a number"),
        (no_value_side, InputError, "bad has a bound without a value"),
        (no_value_coefficient, InputError, r"x\[1\] has a coefficient without a value"),
        (no_value_bound, InputError, r"x\[1\] has a bound without a value"),
        (infinite_cost, InputError, r"x\[1\] has the objective coefficient inf"),
        (variable_sides, InputError, "bad is a ranged row with a variable bound; write it as two constraints"),
        (infinite_side, InputError, "bad has the upper bound -inf"),
        (huge_coefficient, InputError, r"bad has the coefficient 1e\+16"),
    ],
)
def test_what_a_linear_solver_would_misread_is_refused_by_name(change, kind, message, caplog):
    model = small()
    change(model)
    with pytest.raises(kind, match=message):
        compile_model(model)


def test_what_is_not_a_block_is_refused():
    with pytest.raises(InputError, match="int is not a Pyomo model"):
        compile_model(3)
    model = small()
    model.b = pyo.Block([1, 2])
    with pytest.raises(InputError, match="b is an indexed Block"):
        compile_model(model.b)
    with pytest.raises(InputError, match="is not constructed"):
        compile_model(pyo.AbstractModel())


def test_fixed_variable_ignores_its_bounds_as_everywhere_in_pyomo():
    model = small()
    model.x[1].fix(20)
    model.row.deactivate()
    assert compile_model(model).offset == 23.0
