"""Light commands and imports stay light, public names resolve, and formulations call no solver."""

import subprocess
import sys
from pathlib import Path

import pytest

import gangopt

ROOT = Path(gangopt.__file__).parent
HEAVY = ["pyomo", "highspy", "polars", "matplotlib", "scipy", "distributed", "dask"]


def test_formulations_call_no_solver():
    # the floors are held by import-linter (pyproject.toml), which sees that pyomo is imported but not what of it
    for path in (ROOT / "formulations").rglob("*.py"):
        assert "SolverFactory" not in path.read_text(), path


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
    with pytest.raises(AttributeError, match="gangopt attribute nothing"):
        gangopt.nothing  # noqa: B018
