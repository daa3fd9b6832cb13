"""Every target of a registry record exists and has the right type."""

import dataclasses
import inspect
import subprocess
import sys

import pytest

import gangopt
from gangopt.base.arguments import parameters_of
from gangopt.base.contract import Instance
from gangopt.base.document import InstanceDocument, SolutionDocument
from gangopt.base.plugins import resolve
from gangopt.formulations.contract import Formulation
from gangopt.instances.workload.catalogue import FAMILIES
from gangopt.instances.workload.machines import CLUSTER_FORMATS
from gangopt.instances.workload.recognition import FORMATS, reader_of
from gangopt.registry.problem import Form, Problem
from gangopt.replays.records import Policy

NOUNS = [noun for noun, problem in gangopt.problems.items() if problem.instance.startswith("gangopt.")]
FORMS = [(noun, name) for noun in NOUNS for name in gangopt.problems[noun].forms]


def required(function):
    """Return the names of the parameters that a caller must give."""
    parameters = inspect.signature(function).parameters.values()
    return [item.name for item in parameters if item.default is item.empty and item.kind <= item.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("noun", NOUNS)
def test_the_types_of_a_problem_are_what_its_record_says(noun):
    problem = gangopt.problems[noun]
    instance = resolve(problem.instance)
    assert issubclass(instance, Instance)
    assert instance.noun == problem.noun == noun
    assert isinstance(resolve(problem.solution), type)
    assert issubclass(resolve(problem.document), InstanceDocument)
    assert issubclass(resolve(problem.solution_document), SolutionDocument)
    assert problem.sense in {"minimise", "maximise"}
    assert required(resolve(problem.describe)) == ["instance"]
    if problem.describe_solution is not None:
        assert required(resolve(problem.describe_solution)) == ["instance", "solution"]
    if problem.row_bound is not None:
        assert required(resolve(problem.row_bound))[:3] == ["instance", "score", "controls"]
    for method in problem.default_methods:
        assert problem.method(method)[2] == method
    assert set(problem.table_metrics) <= set(problem.metrics)


@pytest.mark.parametrize("noun", NOUNS)
def test_the_functions_of_a_problem_take_what_its_record_says(noun):
    problem = gangopt.problems[noun]
    for name, method in problem.methods.items():
        assert method.name == name
        assert required(method.function()) == (["instance", "controls"] if method.exact else ["instance"]), name
        assert method.options().keys().isdisjoint({"seed", "time_limit"})
    for name, family in problem.families.items():
        assert family.name == name
        every = parameters_of(family.generator())
        assert {key: item for key, item in every.items() if item.of_text} == family.parameters()


@pytest.mark.parametrize(("noun", "name"), FORMS)
def test_a_form_is_one_object_of_the_types_of_its_problem(noun, name):
    problem, record = gangopt.problems[noun], gangopt.problems[noun].forms[name]
    form = problem.form(name)
    assert isinstance(form, Formulation)
    assert form is problem.form(name)
    assert record.target == f"gangopt.formulations.{noun}:{name}"
    assert (record.name, form.name, form.noun, form.sense) == (name, name, noun, problem.sense)
    assert form.instance_type is resolve(problem.instance)
    assert form.solution_type is resolve(problem.solution)
    assert str(form) == f"formulation {name} of {noun}"


@pytest.mark.parametrize(("noun", "name"), FORMS)
def test_the_options_of_a_form_have_defaults(noun, name):
    form = gangopt.problems[noun].form(name)
    if dataclasses.is_dataclass(form):
        values = {item.name: getattr(form, item.name) for item in dataclasses.fields(form)}
        assert vars(type(form)(**values)) == vars(type(form)()) == values


def test_every_problem_has_a_linear_form():
    assert all(problem.linear_form().linear for problem in gangopt.problems.values())
    assert gangopt.problems["allocation"].linear_form().name == "choice"


def test_an_import_gives_the_object_whatever_was_imported_before():
    code = (
        "import importlib, pkgutil, sys, gangopt, gangopt.formulations as all_forms\n"
        "nouns = [item.name for item in pkgutil.iter_modules(all_forms.__path__) if item.ispkg]\n"
        "def submodules(noun):\n"
        "    package = importlib.import_module(f'gangopt.formulations.{noun}')\n"
        "    return [f'{package.__name__}.{item.name}' for item in pkgutil.iter_modules(package.__path__)]\n"
        "for noun in nouns:\n"
        "    for module in submodules(noun)[::int(sys.argv[1])]:\n"
        "        importlib.import_module(module)\n"
        "for noun in nouns:\n"
        "    for name in gangopt.problems[noun].forms:\n"
        "        scope = {}\n"
        "        exec(f'from gangopt.formulations.{noun} import {name}', scope)\n"
        "        assert scope[name] is gangopt.problems[noun].form(name), (noun, name)\n"
    )
    for order in ("1", "-1"):
        subprocess.run([sys.executable, "-c", code, order], check=True)


def test_what_is_no_formulation_is_told():
    form = Form("x", "gangopt:__version__", "no form")
    with pytest.raises(TypeError, match=r"formulation x: gangopt:__version__ must be a Formulation \(got a str\)"):
        form.formulation()


def test_a_problem_without_a_linear_form_says_so():
    literal = {"literal": gangopt.problems["allocation"].forms["literal"]}
    with pytest.raises(gangopt.InputError, match=r"^allocation has no linear formulation$"):
        dataclasses.replace(gangopt.problems["allocation"], forms=literal).linear_form()


def test_two_problems_of_one_noun_are_refused():
    problem = gangopt.problems["bid"]
    assert isinstance(problem, Problem)
    with pytest.raises(gangopt.InputError, match="duplicate problem 'bid'"):
        type(gangopt.problems)((problem, problem))


@pytest.mark.parametrize("name", list(gangopt.policies))
def test_a_policy_is_made_without_arguments(name):
    policy, record, made = gangopt.policies.make(name)
    assert isinstance(policy, Policy)
    assert record is gangopt.policies[name]
    assert made == name


def test_readers_and_generators_of_workloads_are_found():
    for form in FORMATS.values():
        assert required(reader_of(form)) == ["source"], form.name
    for form in CLUSTER_FORMATS.values():
        assert required(form.reader()) == ["rows", "path"], form.name
        assert form.columns
    for family in FAMILIES.values():
        assert not required(family.generator()), family.name
