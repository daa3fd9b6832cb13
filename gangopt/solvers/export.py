"""Write a formulation of an instance as a model file for other tools."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from gangopt.base.arguments import unknown
from gangopt.base.contract import Instance
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import dump_json, file_kind, write_bytes, write_text
from gangopt.base.types import Pyomo
from gangopt.registry.records import problems

if TYPE_CHECKING:
    from gangopt.formulations.contract import Formulation

__all__ = ["FORMATS", "Format", "export"]

Format = Literal["mps", "lp", "nl", "json"]
FORMATS: tuple[str, ...] = get_args(Format)

LONGEST_LABEL = 120
"""Maximum length of a name in a model file: CBC reads names below 160 characters, and Pyomo prefixes those of rows."""


def export(
    instance: Instance, path: str | os.PathLike[str], *, form: str | None = None, file_format: str = "lp"
) -> str:
    """Write a formulation of an instance as a model file that keeps its component names.

    Parameters
    ----------
    instance : Instance
        The instance.
    path : str or path-like
        File to write.
    form : str or None, optional
        Name of the formulation, None for the first linear one.
    file_format : str, optional
        `lp` or `mps` (linear formulations; in mps a maximised objective is negated), `nl` (any formulation), `json`
        (columns and rows of a linear formulation).

    Returns
    -------
    str
        Name of the formulation that was written.

    Raises
    ------
    InputError
        If the formulation or format is unknown, they do not fit, or the file cannot be written.
    """
    problem = problems[instance.noun]
    if file_format not in FORMATS:
        raise unknown("format", file_format, list(FORMATS))
    chosen = problem.form(form) if form else problem.linear_form()
    if file_format != "nl" and not chosen.linear:
        raise InputError(
            f"formulation {chosen.name} of {problem.noun} is not linear; export it as nl, not {file_format}"
        )
    if file_kind(path) == "directory":
        raise InputError(f"{os.fspath(path)}: is a directory, not a file")
    model = chosen.model(instance)
    if file_format == "json":
        write_text(path, dump_json(_arrays_json(instance, chosen, model)))
    else:
        write_bytes(path, _written(model, file_format))
    return chosen.name


def _written(model: Pyomo, file_format: str) -> bytes:
    head = b""
    model.name = re.sub("[^!-~]", "_", model.name)[:LONGEST_LABEL]
    options: dict[str, Any] = {} if file_format == "nl" else {"labeler": _Labeler()}
    if file_format == "mps":
        options["skip_objective_sense"] = True
        head = _minimised(model)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"model.{file_format}"
        pyomo_name = "cpxlp" if file_format == "lp" else file_format
        model.write(str(target), format=pyomo_name, io_options=options)
        return head + target.read_bytes()


def _minimised(model: Pyomo) -> bytes:
    """Negate a maximised objective, and return the comment that says so.

    The section OBJSENSE is not part of standard MPS: GLPK rejects it, and CBC ignores it and minimises.
    """
    import pyomo.environ as pyo

    objective = next(iter(model.component_data_objects(pyo.Objective, active=True)))
    if objective.sense == pyo.minimize:
        return b""
    objective.set_value(-objective.expr)
    objective.sense = pyo.minimize
    return b"* the objective is negated: minimise this file to maximise the original\n"


class _Labeler:
    """Name every component after the formulation, uniquely and in characters that every reader accepts.

    Labels of an instance may differ in punctuation only, e.g. `a b` and `a_b`; the second then gets a number.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def __call__(self, component: Pyomo) -> str:
        name = re.sub(r"[^A-Za-z0-9_()]", "_", component.getname(True).replace("[", "(").replace("]", ")"))
        label = name[:LONGEST_LABEL]
        number = 1
        while label in self._taken:
            number += 1
            label = f"{name[: LONGEST_LABEL - 12]}_{number}"
        self._taken.add(label)
        return label


def _arrays_json(instance: Instance, form: Formulation[Any, Any], model: Pyomo) -> dict[str, Any]:
    """Return columns and rows as passed to the solver, with null for infinite bounds."""
    from gangopt.solvers.highs import compile_model

    arrays = compile_model(model)

    def finite(value: float) -> float | None:
        return float(value) if abs(value) < 1e30 else None

    columns = [
        {
            "name": variable.name,
            "cost": float(arrays.costs[index]),
            "lower": finite(arrays.lower[index]),
            "upper": finite(arrays.upper[index]),
            "integer": bool(arrays.integer[index]),
        }
        for index, variable in enumerate(arrays.columns)
    ]
    rows = []
    for index, row in enumerate(arrays.rows):
        span = slice(arrays.starts[index], arrays.starts[index + 1])
        terms = [[int(c), float(v)] for c, v in zip(arrays.indices[span], arrays.values[span], strict=True)]
        name = row if isinstance(row, str) else row.name
        lower, upper = finite(arrays.row_lower[index]), finite(arrays.row_upper[index])
        rows.append({"name": name, "lower": lower, "upper": upper, "terms": terms})
    head = {"instance": instance.name, "form": form.name, "sense": arrays.sense, "offset": float(arrays.offset)}
    return {**head, "columns": columns, "rows": rows}
