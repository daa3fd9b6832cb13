"""Commands `gangopt experiment NAME`, each derived from the signature and docstring of the experiment's function."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from gangopt.base.arguments import Parameter, number_in, parameters_of, unknown
from gangopt.base.docstrings import descriptions
from gangopt.base.errors import InputError, shown
from gangopt.cli.options import AsJson
from gangopt.cli.output import check_output, print_json, require_whole
from gangopt.experiments.registry import EXPERIMENTS, Experiment, Spelling

if TYPE_CHECKING:
    from gangopt.reporting.experiment import ExperimentTable

__all__ = ["experiment_app"]

_PLAIN: Any = {"rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}

_SHARED = {
    "output": Annotated[
        list[Path] | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Plot (.png, .svg, .pdf) or table (.csv, .json); can be repeated."
        ),
    ],
    "as_json": AsJson,
}


class _Experiments(TyperGroup):
    """Group of the experiments that imports only the experiment it runs."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of an experiment."""
        if cmd_name not in EXPERIMENTS:
            raise unknown("experiment", cmd_name, list(EXPERIMENTS))
        return _command(EXPERIMENTS[cmd_name])

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all experiments."""
        return list(EXPERIMENTS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the names and summaries of all experiments."""
        with formatter.section("Commands"):
            formatter.write_dl([(item.name, item.summary) for item in EXPERIMENTS.values()])


experiment_app = typer.Typer(name="experiment", cls=_Experiments, no_args_is_help=False, **_PLAIN)


@experiment_app.callback()
def _root() -> None:
    """Repeat experiments of the papers; each prints a table and can plot it."""


@dataclass(frozen=True)
class _Option:
    """One option of a command, derived from a parameter of the experiment's function."""

    parameter: Parameter
    spelling: Spelling
    help: str
    operand: bool = False
    """True if its values follow the command without an option."""
    group: str = ""
    """Parameter of the function that holds this one as a field, empty if it is a parameter itself."""

    @property
    def flag(self) -> str:
        """Spelling of the option on the command line."""
        return f"--{(self.spelling.name or self.parameter.name).replace('_', '-')}"

    @property
    def element(self) -> Any:
        """Type of the elements of a sequence, None for a single value."""
        kind = self.parameter.kinds[0]
        return typing.get_args(kind)[0] if typing.get_origin(kind) is Sequence else None

    def default(self) -> Any:
        """Return the default in the spelling of the command line, None without one."""
        value: Any = self.parameter.default
        if value is None or self.operand:
            return None
        if self.element is not None:
            return ",".join(map(str, value) if self.element is str else (f"{v * self.spelling.per:g}" for v in value))
        return value if self.spelling.per == 1 else value * self.spelling.per

    def argument(self) -> inspect.Parameter:
        """Return the parameter of the command that typer reads."""
        kinds = self.parameter.kinds
        if self.operand:
            word = self.parameter.name[:-1].upper() if self.element is str else "NAME|FILE"
            kind: Any = list[str] | None
            info: Any = typer.Argument(metavar=f"[{word}...]", help=self.help)
        else:
            plain = kinds[0] if len(kinds) == 1 and kinds[0] in {bool, int, float} else str
            metavar = {bool: None, int: "N", float: "X", str: "NAME"}[plain]
            if self.element is not None:
                metavar = "A,B,..."
            elif Path in kinds:
                metavar = "NAME|FILE|GPUS" if int in kinds else "NAME|FILE"
            kind = plain if self.default() is not None else plain | None
            info = typer.Option(self.flag, metavar=metavar, help=self.help)
        annotation: Any = Annotated[kind, info]
        return inspect.Parameter(
            self.parameter.name, inspect.Parameter.KEYWORD_ONLY, default=self.default(), annotation=annotation
        )

    def value(self, given: Any) -> Any:
        """Return the function's argument for a value of the command line."""
        if given is None or given == self.default():
            return self.parameter.default
        if self.operand:
            return given or self.parameter.default
        if self.element is not None:
            return self._elements(given)
        if isinstance(given, str):
            # e.g. a cluster: a name, a file or a number of GPUs
            return int(given) if int in self.parameter.kinds and given.isascii() and given.isdigit() else given
        return given if self.spelling.per == 1 else given / self.spelling.per

    def _elements(self, text: str) -> Sequence[Any]:
        if self.element is str:
            return [part.strip() for part in text.split(",")]
        if self.element is int:
            return _integers(self.flag, text)
        return [value / self.spelling.per for value in _numbers(self.flag, text)]


def _numbers(option: str, text: str) -> list[float]:
    found = [number_in(part) for part in text.split(",")]
    if None in found:
        raise InputError(f"{option} must be numbers separated by commas (got {shown(text)})")
    return [float(value) for value in found if value is not None]


def _integers(option: str, text: str) -> list[int]:
    values = _numbers(option, text)
    if any(not value.is_integer() or not 1 <= value <= 10_000 for value in values):
        raise InputError(f"{option} must be integers from 1 to 10,000 separated by commas (got {shown(text)})")
    return [int(value) for value in values]


def _options(experiment: Experiment) -> list[_Option]:
    """Return the options of an experiment; each field of a dataclass parameter is an option."""
    found = []
    function = experiment.load()
    texts = descriptions(function)
    for parameter in parameters_of(function).values():
        (kind, *others) = parameter.kinds
        if not others and dataclasses.is_dataclass(kind):
            fields = descriptions(kind)
            found += [
                _Option(item, Spelling(), fields.get(item.name, ""), group=parameter.name)
                for item in parameters_of(kind).values()
            ]
        else:
            spelling = experiment.options.get(parameter.name, Spelling())
            text = spelling.help or texts.get(parameter.name, "")
            found.append(_Option(parameter, spelling, text, operand=parameter.name == experiment.operands))
    return found


def _command(experiment: Experiment) -> Any:
    options = _options(experiment)
    function = experiment.load()

    def run(output: list[Path] | None, as_json: bool, **given: Any) -> None:
        _check(output, given.get("time_limit"), given.get("seed", 0))
        values: dict[str, Any] = {}
        groups: dict[str, dict[str, Any]] = {}
        for option in options:
            name = option.parameter.name
            (groups.setdefault(option.group, {}) if option.group else values)[name] = option.value(given[name])
        for name, fields in groups.items():
            values[name] = parameters_of(function)[name].kinds[0](**fields)
        _finish(experiment, function(**values), output, as_json)

    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_SHARED[name])
        for name, default in (("output", None), ("as_json", False))
    ]
    parameters = [*(option.argument() for option in options), *shared]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in parameters}
    one = typer.Typer(**_PLAIN)
    one.command(experiment.name, help=f"{experiment.summary.removesuffix('.')}: {experiment.figure}.")(run)
    return typer.main.get_command(one)


def _check(output: list[Path] | None, time_limit: float | None, seed: int) -> None:
    """Check the outputs, the time limit and the seed before the experiment starts."""
    from gangopt.reporting.experiment import TABLE_SUFFIXES
    from gangopt.reporting.plots import PICTURE_SUFFIXES
    from gangopt.solvers.solve import checked_controls

    checked_controls(time_limit, 0.0, 1, seed)
    allowed = (*PICTURE_SUFFIXES, *TABLE_SUFFIXES)
    for path in output or []:
        if path.suffix.lower() not in allowed:
            raise InputError(f"{path}: suffix {path.suffix or 'missing'}, allowed: {', '.join(allowed)}")
        check_output(path)


def _finish(experiment: Experiment, table: ExperimentTable, output: list[Path] | None, as_json: bool) -> None:
    """Write the output files and print the table."""
    from gangopt.reporting.experiment import TABLE_SUFFIXES
    from gangopt.reporting.plots import save_picture

    require_whole()
    for path in output or []:
        if path.suffix.lower() in TABLE_SUFFIXES:
            table.write(path, experiment.plot)
        else:
            save_picture(experiment.plot(table), path)
    print_json(table.to_json()) if as_json else typer.echo(table.text())
