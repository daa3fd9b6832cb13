"""The arrows between the layers go one way, and light commands stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gangopt

ROOT = Path(gangopt.__file__).parent
LAYERS = ["topology", "instances", "formulations", "solvers"]
FREE = {"errors", "interrupts", "filelock", "inputfile", "jsonfile", "arguments", "registry", "decisions", "__init__"}
HEAVY = ["pyomo", "highspy", "polars", "matplotlib", "scipy", "distributed", "dask"]


def imported_modules(path):
    """Every module that a file imports anywhere, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_those_below_it(layer):
    below = set(LAYERS[: LAYERS.index(layer) + 1]) | FREE
    for path in sorted((ROOT / layer).rglob("*.py")):
        for module in imported_modules(path):
            parts = module.split(".")
            if parts[0] == "gangopt" and len(parts) > 1 and (ROOT / parts[1]).exists():
                assert parts[1] in below, f"{path.relative_to(ROOT)} imports {module}"


@pytest.mark.parametrize("layer", ["topology", "instances"])
def test_topology_and_instances_know_no_pyomo(layer):
    for path in (ROOT / layer).rglob("*.py"):
        assert not [m for m in imported_modules(path) if m.split(".")[0] in {"pyomo", "highspy"}], path


def test_formulations_know_no_solver():
    for path in (ROOT / "formulations").rglob("*.py"):
        assert not [m for m in imported_modules(path) if m.split(".")[0] == "highspy" or "SolverFactory" in m], path


def test_the_root_modules_import_no_layer():
    for name in ("errors", "interrupts", "filelock", "inputfile", "jsonfile", "arguments", "registry"):
        modules = [m for m in imported_modules(ROOT / f"{name}.py") if m.startswith("gangopt.")]
        assert all(m.split(".")[1] in FREE for m in modules), modules


@pytest.mark.parametrize(
    "command",
    [
        "--version",
        "--help",
        "list",
        "solve --help",
        "compare --help",
        "show --help",
        "export --help",
        "plot --help",
        "schema --help",
        "fit --help",
        "experiment --help",
        "profile --help",
        "fit loss --help",
        "fit speed --help",
    ],
)
def test_light_commands_load_no_heavy_library(command):
    code = (
        "import sys; from gangopt.cli import run; code = run(sys.argv[1:]);"
        f"loaded = [name for name in {HEAVY} if name in sys.modules];"
        "sys.exit(code or (print(loaded, file=sys.stderr) or 3 if loaded else 0))"
    )
    done = subprocess.run([sys.executable, "-c", code, *command.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_importing_gangopt_loads_nothing_but_the_standard_library():
    names = ["numpy", "pydantic", "typer", *HEAVY]
    code = f"import sys, gangopt; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_resolve_and_unknown_ones_do_not():
    for name in gangopt.__all__:
        assert getattr(gangopt, name) is not None
        assert name in dir(gangopt)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gangopt.nothing  # noqa: B018
