"""Results as JSON, as printed by `solve --json` and saved by `-o`."""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import numpy as np

from gangopt.base.contract import Instance
from gangopt.base.errors import InputError, shown
from gangopt.base.jsonfile import read_json
from gangopt.instances.on_cluster import ClusterInstance
from gangopt.registry.problem import AnyProblem, resolve
from gangopt.registry.records import problems
from gangopt.solvers.core.result import Result
from gangopt.topology import State, cluster_content, cluster_of_content, state_content, state_of_content

__all__ = ["read_solution", "result_json", "solution_json", "topology_in"]


def result_json(result: Result, instance: Instance | None = None) -> dict[str, Any]:
    """Return a result as one JSON object; an infinite gap is the text `inf`.

    Parameters
    ----------
    result : Result
        A result of `solve`.
    instance : Instance or None, optional
        Its instance; with it, a solution on a cluster is written with the cluster and the state that follows.

    Returns
    -------
    dict
        The fields of the result in order, then `topology` if the solution is on a cluster, and `solution` last (null
        if there is none). `topology` has `cluster` and `state`, or the `reason` why GPUs cannot be assigned.
    """
    record: dict[str, Any] = {}
    for item in dataclasses.fields(result):
        if item.name != "_solution":
            record[item.name] = _plain(getattr(result, item.name))
    record["seconds"] = dataclasses.asdict(result.seconds)
    solution = None if result.solution_status == "none" else result.solution
    if solution is not None and isinstance(instance, ClusterInstance):
        record["topology"] = _topology_content(instance, solution)
    record["solution"] = None if solution is None else solution_json(problems[result.problem], solution)
    return record


def _topology_content(instance: ClusterInstance, solution: Any) -> dict[str, Any]:
    try:
        state = instance.state_after(solution)
    except InputError as error:
        # a feasible solution may share GPUs, which have no places; it must be saved all the same
        return {"reason": str(error)}
    return {"cluster": cluster_content(state.cluster), "state": state_content(state)}


def topology_in(value: dict[str, Any], origin: str) -> State | None:
    """Return the state that a saved solution leads to, None if it has no places on a cluster.

    Parameters
    ----------
    value : dict
        A result as `result_json` writes it.
    origin : str
        Name of its file in messages.

    Raises
    ------
    InputError
        If the field `topology` is invalid, e.g. because its cluster no longer has what the state holds.
    """
    content = value.get("topology")
    if content is None or (isinstance(content, dict) and set(content) == {"reason"}):
        return None
    if not isinstance(content, dict) or set(content) != {"cluster", "state"}:
        raise InputError(f"{origin}: field topology must have the fields cluster and state (got {shown(content)})")
    try:
        return state_of_content(cluster_of_content(content["cluster"]), content["state"])
    except InputError as error:
        raise InputError(f"{origin}: field topology: {error}") from None


def solution_json(problem: AnyProblem, solution: Any) -> dict[str, Any]:
    """Return a Solution as the JSON object of its problem's solution file."""
    document = resolve(problem.solution_document).from_solution(solution)
    return document.model_dump(mode="json")  # type: ignore[no-any-return]


def read_solution(path: str | os.PathLike[str], instance: Instance) -> Any:
    """Return the Solution in a result file, or in a solution file, for an instance.

    Parameters
    ----------
    path : str or path-like
        A file written by `solve -o`, or a plain solution file.
    instance : Instance
        The instance that the solution is for; its feasibility is checked later.

    Raises
    ------
    InputError
        If the file is invalid, belongs to another problem, or holds no solution.
    """
    from gangopt.base.document import validate

    value = read_json(path)
    problem = problems[instance.noun]
    if isinstance(value, dict) and "solution" in value and "termination" in value:
        if value.get("problem") != instance.noun:
            raise InputError(
                f"{os.fspath(path)}: field problem must be {instance.noun!r} (got {value.get('problem')!r})"
            )
        value = value["solution"]
        if value is None:
            raise InputError(f"{os.fspath(path)}: the result holds no solution")
    document = validate(resolve(problem.solution_document), value, os.fspath(path))
    try:
        return document.to_solution()
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)
