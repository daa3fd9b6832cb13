"""Arguments that every formulation refuses."""

import dataclasses

import pytest
from pyomo.environ import Block, ConcreteModel, Expression, Var

import gangopt
from gangopt.base.errors import InputError
from gangopt.formulations import contract
from gangopt.registry.problem import resolve
from gangopt.solvers.highs import solve_model

FORMS = [(noun, name) for noun, problem in gangopt.problems.items() for name in problem.forms]
every_form = pytest.mark.parametrize(("noun", "name"), FORMS)


@pytest.fixture
def parts(noun, name, small_names):
    """Return a form, an instance of its decision, and one of another decision."""
    if noun not in small_names:
        pytest.skip(f"{noun} has no small instance")
    other = "parameters" if noun != "parameters" else "allocation"
    form = gangopt.problems[noun].form(name)
    return form, gangopt.load(small_names[noun]), gangopt.load(small_names[other])


@every_form
def test_instances_of_other_decisions_are_refused(parts, noun, name):
    form, instance, other = parts
    wanted = f"formulation {name} of {noun} takes {type(instance).__name__}, not {type(other).__name__}"
    model = form.model(instance)
    for call in (
        lambda: form.model(other),
        lambda: form.fill(Block(concrete=True), other),
        lambda: form.read(model, other),
        lambda: form.hint(model, other, None),
    ):
        with pytest.raises(InputError, match=wanted):
            call()
    with pytest.raises(InputError, match=f"takes {type(instance).__name__}, not str"):
        form.model(instance.name)


@every_form
def test_a_block_takes_one_form_and_remembers_its_instance(parts, noun, name):
    form, instance, _ = parts
    model = ConcreteModel()
    model.inner = Block()
    form.fill(model.inner, instance)
    with pytest.raises(
        InputError,
        match=f"inner already holds a formulation; formulation {name} of {noun} must be built on an empty Block",
    ):
        form.fill(model.inner, instance)
    solution = resolve(gangopt.problems[noun].solution)
    with pytest.raises(InputError, match=f"formulation {name} of {noun} takes {solution.__name__}, not int"):
        form.hint(model.inner, instance, 3)
    for other in map(gangopt.problems[noun].form, gangopt.problems[noun].forms):
        if other.name != name:
            with pytest.raises(
                InputError, match=f"inner holds formulation {name} of {noun}, not formulation {other.name} of {noun}"
            ):
                other.read(model.inner, instance)


@every_form
def test_values_that_are_not_there_are_not_read(parts, noun, name, caplog):
    form, instance, _ = parts
    model = form.model(instance)
    variables = list(model.component_data_objects(Var))
    for variable in variables:
        variable.set_value(None, skip_validation=True)
    with pytest.raises(InputError, match=r".+ has no value; solve the model before reading its solution"):
        form.read(model, instance)
    assert caplog.text == ""
    if form.linear:
        assert solve_model(model.clone()).solution_status == "optimal"


@every_form
@pytest.mark.parametrize(
    ("block", "message"),
    [
        (lambda: None, r"must be built on a Pyomo model or Block \(got a NoneType\)"),
        (lambda: Block([1, 2]), "IndexedBlock is an indexed Block; formulation .* must be built on one of its members"),
        (Block, "ScalarBlock is not constructed; add it to a ConcreteModel first"),
    ],
)
def test_what_is_no_block_is_refused(parts, block, message):
    form, instance, _ = parts
    for call in (lambda: form.fill(block(), instance), lambda: form.read(block(), instance)):
        with pytest.raises(InputError, match=message):
            call()


@every_form
def test_a_block_that_holds_no_form_is_not_read(parts, noun, name):
    form, instance, _ = parts
    with pytest.raises(
        InputError, match=f"unknown holds no formulation; fill it with formulation {name} of {noun} first"
    ):
        form.read(ConcreteModel(), instance)
    foreign = ConcreteModel()
    foreign.objective_value = Expression(expr=0.0)
    with pytest.raises(InputError, match=f"unknown does not hold formulation {name} of {noun} of '"):
        form.read(foreign, instance)


def test_another_instance_is_not_read_but_another_name_does_not_matter():
    form = gangopt.problems["allocation"].form("counts")
    instance = gangopt.load("allocation/random?jobs=3&nodes=3&max_tasks=4")
    model = form.model(instance)
    solve_model(model)
    renamed = dataclasses.replace(instance, name="mine", description="another", source="me")
    assert form.read(model, renamed) == form.read(model, instance)
    larger = dataclasses.replace(instance, name="larger", capacity=instance.capacity * 2)
    for call in (lambda: form.read(model, larger), lambda: form.hint(model, larger, form.read(model, instance))):
        with pytest.raises(InputError, match=r"holds instance '.*', which differs from the 'larger' given"):
            call()


def test_copies_remember_too_and_equal_instances_are_the_same():
    form = gangopt.problems["parameters"].form("assign")
    name = "parameters/random?blocks=5&servers=2&seed=3"
    model = form.model(gangopt.load(name)).clone()
    assert solve_model(model).solution_status == "optimal"
    assert gangopt.load(name).check(form.read(model, gangopt.load(name))) == []
    with pytest.raises(InputError, match="which differs from"):
        form.read(model, gangopt.load("parameters/random?blocks=5&servers=2&seed=4"))


def test_a_failure_that_is_no_missing_value_is_not_hidden():
    instance = gangopt.load("parameters/random?blocks=5&servers=2&seed=3")
    model = ConcreteModel()
    model.objective_value = Expression(expr=0.0)

    def fail(error):
        raise error

    for error in (ValueError("inside"), InputError("inside")):
        with pytest.raises(type(error), match="inside"):
            contract.read_values(lambda _b, _i, e=error: fail(e), model, "form x", instance)
    contract.remember(model, "form x", instance)
    with pytest.raises(KeyError, match="inside"):
        contract.read_values(lambda _b, _i: fail(KeyError("inside")), model, "form x", instance)


@pytest.mark.parametrize("name", [None, 3, "choise"])
def test_forms_and_methods_are_looked_up_by_name(name):
    with pytest.raises(InputError, match=f"unknown formulation of allocation '{name}'; (did you mean|known)"):
        gangopt.problems["allocation"].form(name)
    with pytest.raises(InputError, match=f"method must be a name|unknown method of allocation '{name}'"):
        gangopt.problems["allocation"].method(name)
