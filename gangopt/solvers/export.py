"""Write a form of an instance as a model file that other tools read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Literal, get_args

from gangopt.arguments import unknown
from gangopt.decisions import problems
from gangopt.errors import InputError
from gangopt.instances.contract import Instance
from gangopt.jsonfile import dump_json, write_bytes, write_text
from gangopt.registry import Form

__all__ = ["FORMATS", "Format", "export"]

Format = Literal["mps", "lp", "nl", "json"]
FORMATS: tuple[str, ...] = get_args(Format)


def export(
    instance: Instance, path: str | os.PathLike[str], *, form: str | None = None, file_format: str = "lp"
) -> str:
    """Write a form of an instance as a model file, with the names of the formulation.

    Parameters
    ----------
    instance : what is to be decided
    path : file to write
    form : name of the form, None for the first linear one
    file_format : `lp` or `mps` (linear forms), `nl` (every form), `json` (columns and rows of a linear form)

    Returns
    -------
    str
        Name of the form that was written.

    Raises
    ------
    InputError
        If the form or format is unknown, the form does not fit the format, or the file cannot be written.
    """
    problem = problems[instance.noun]
    if file_format not in FORMATS:
        raise unknown("format", file_format, list(FORMATS))
    chosen = problem.form(form) if form else next(item for item in problem.forms.values() if item.linear)
    if file_format != "nl" and not chosen.linear:
        raise InputError(f"form {chosen.name} of {problem.noun} is not linear: write it as nl, not as {file_format}")
    if Path(path).is_dir():
        raise InputError(f"{os.fspath(path)}: is a directory, cannot be written as a file")
    model = chosen.model(instance)
    if file_format == "json":
        write_text(path, dump_json(_arrays_json(instance, chosen, model)))
    else:
        write_bytes(path, _written(model, file_format))
    return chosen.name


def _written(model: Any, file_format: str) -> bytes:  # noqa: ANN401 - Pyomo is untyped
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"model.{file_format}"
        options = {} if file_format == "nl" else {"symbolic_solver_labels": True}
        pyomo_name = "cpxlp" if file_format == "lp" else file_format
        model.write(str(target), format=pyomo_name, io_options=options)
        return target.read_bytes()


def _arrays_json(instance: Instance, form: Form, model: Any) -> dict[str, Any]:  # noqa: ANN401 - Pyomo is untyped
    """Return columns and rows as they go to the solver; null stands for an infinite bound."""
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
