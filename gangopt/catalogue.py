"""Instances by name or file: the packaged library, the generator families, and files."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gangopt.base.arguments import bind, join_name, split_name, unknown
from gangopt.base.contract import Instance
from gangopt.base.errors import InputError, shown
from gangopt.base.jsonfile import file_kind, read_json
from gangopt.instances import library
from gangopt.registry.problem import AnyProblem, Family, resolve
from gangopt.registry.records import problems

if TYPE_CHECKING:
    from gangopt.topology import Cluster, State

__all__ = ["Entry", "entries", "entry", "families", "is_hidden", "load", "names", "read_document", "to_document"]


@dataclasses.dataclass(frozen=True)
class Entry:
    """Index record of a named instance.

    Attributes
    ----------
    name : str
        `<noun>/<case>`.
    title : str
        One-sentence description.
    file : str or None
        Packaged instance file, None if a family generates the instance from its name.
    best : float or None
        Best known objective, in `unit`, or None.
    bound : float or None
        Best proven bound, in `unit`, or None.
    status : str
        `optimal`, `best known` or `open`.
    unit : str
        Unit of the objective.
    rounding : str
        Rounding of objective values.
    solution : str or None
        Packaged solution file, or None.
    source : str
        Origin of the data.
    checked : str
        Date on which `best` and `bound` were last computed.
    """

    name: str
    title: str
    file: str | None
    best: float | None
    bound: float | None
    status: str
    unit: str
    rounding: str
    solution: str | None
    source: str
    checked: str


def _folder(noun: str) -> Traversable:
    package = problems[noun].library
    return library.folder(noun) if package is None else resources.files(package)


@cache
def entries(noun: str) -> tuple[Entry, ...]:
    """Return the index records of a problem, in the order of its index file.

    Parameters
    ----------
    noun : str
        Name of the problem.
    """
    if noun not in problems:
        return ()
    try:
        index = _folder(noun) / "index.json"
        if not index.is_file():
            return ()
        return tuple(Entry(**record) for record in json.loads(index.read_text("utf-8"))["instances"])
    except Exception as error:  # the library of another distribution must not break the rest
        problems.excuse(noun, error)
        return ()


def entry(name: str) -> Entry | None:
    """Return the index record of a name, or None if the name is not indexed."""
    noun = name.partition("/")[0]
    return next((item for item in entries(noun) if item.name == name), None) if noun in problems else None


def names(pattern: str = "*") -> list[str]:
    """Return the names of the packaged instances that match a shell pattern.

    Parameters
    ----------
    pattern : str, optional
        A pattern such as `allocation/*`, the name of a problem, or any part of a name.

    Returns
    -------
    list of str
        Names in the order of each problem's index, with problems in alphabetical order.
    """
    if not isinstance(pattern, str):
        raise InputError(f"pattern must be text, e.g. 'allocation/*' (got {pattern!r:.80})")
    if pattern in problems:
        return [item.name for item in entries(pattern)]
    every = [item.name for noun in problems for item in entries(noun)]
    if not any(mark in pattern for mark in "*?["):
        return [name for name in every if pattern in name]
    return [name for name in every if fnmatchcase(name, pattern)]


def families(noun: str) -> Iterator[tuple[str, Family]]:
    """Yield the template of each generator family of a problem, with arguments and defaults, and the family."""
    for family in problems[noun].families.values():
        if family.pattern is not None:
            yield f"{noun}/{family.name}", family
        else:
            arguments = "&".join(item.describe() for item in family.parameters().values())
            yield f"{noun}/{family.name}?{arguments}", family


def load(
    name_or_path: str | os.PathLike[str], *, cluster: Cluster | None = None, state: State | None = None
) -> Instance:
    """Return the instance with a name, or the one in a file.

    Parameters
    ----------
    name_or_path : str or path-like
        A packaged name such as `parameters/resnet50-p10`, a family with arguments such as
        `allocation/random?jobs=100&seed=3`, or the path of an instance file. Text that ends in `.json` or names an
        existing file is a path, even if there is a packaged instance of the same name (see `is_hidden`).
    cluster : Cluster or None, optional
        Cluster on which a family with an argument `cluster` generates the instance.
    state : State or None, optional
        State of that cluster; None if all of it is free.

    Raises
    ------
    InputError
        If the name is unknown (with near matches), an argument or the file is invalid, or a cluster or state is given
        for what does not take one.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise InputError(f"an instance must be given by name or path (got {name_or_path!r:.80})")
    text = os.fspath(name_or_path)
    if not text:
        raise InputError("the name of an instance must not be empty; `gangopt list` prints the names")
    noun, slash, case = text.partition("/")
    if isinstance(name_or_path, str) and slash and noun in problems and not _is_file_name(text):
        return _from_name(problems[noun], case, {"cluster": cluster, "state": state})
    if cluster is not None or state is not None:
        raise InputError(f"{shown(text)} takes neither cluster nor state; only families of instances do")
    if file_kind(text) == "absent" and not _is_file_name(text):
        raise _no_instance(text)
    return read_document(read_json(text), text)


def _no_instance(text: str) -> InputError:
    from gangopt.topology import cluster_names

    if text in problems:
        return InputError(f"{text!r} is a problem, not an instance; `gangopt list {text}` prints its instances")
    if text in cluster_names():
        return InputError(f"{text!r} is a cluster, not an instance; `gangopt show {text}` prints it")
    return unknown("instance or file", text, names() + [f"{noun}/" for noun in problems])


def is_hidden(name: str) -> bool:
    """Return whether a local file hides the packaged or generated instance of the same name.

    Parameters
    ----------
    name : str
        Argument of `load`.
    """
    noun, slash, case = name.partition("/")
    if not slash or noun not in problems or not _is_file_name(name):
        return False
    makers = (item.pattern or item.name for item in problems[noun].families.values())
    return entry(name) is not None or any(re.fullmatch(maker, case) for maker in makers)


def _is_file_name(text: str) -> bool:
    return "?" not in text and (text.endswith(".json") or file_kind(text) in {"file", "stream"})


def _from_name(problem: AnyProblem, case: str, place: Mapping[str, object]) -> Instance:
    name = f"{problem.noun}/{case}"
    record = entry(name)
    given = {key: value for key, value in place.items() if value is not None}
    if record is not None and given:
        raise InputError(f"{shown(name)} takes neither cluster nor state; only families of instances do")
    if record is not None and record.file is not None:
        return read_document(library.read(_folder(problem.noun), record.file), record.file)
    base, arguments = split_name(case)
    for family in problem.families.values():
        if family.pattern is None and family.name == base:
            return _generate(problem, family, base, arguments, name, given)
        match = re.fullmatch(family.pattern, case) if family.pattern is not None else None
        if match is not None:
            return _generate(problem, family, case, match.groupdict(), name, given)
    known = [item.name for item in entries(problem.noun)]
    templates = [item.name if item.pattern else f"{item.name}?..." for item in problem.families.values()]
    raise unknown("instance", name, known + [f"{problem.noun}/{template}" for template in templates])


def _generate(
    problem: AnyProblem,
    family: Family,
    base: str,
    arguments: dict[str, str],
    name: str,
    place: Mapping[str, object],
) -> Instance:
    values = bind(family.parameters(), arguments, name)
    generator = family.generator()
    for key in place:
        if key not in inspect.signature(generator).parameters or key in values:
            reason = "is also given in the name" if key in values else "is not an argument of this family"
            raise InputError(f"{shown(name)}: {key} {reason}")
    instance = generator(**values, **place)
    canonical = base if family.pattern is not None else join_name(base, values)
    return cast("Instance", dataclasses.replace(instance, name=f"{problem.noun}/{canonical}"))


def read_document(value: object, origin: str) -> Instance:
    """Return the instance that parsed JSON describes.

    Parameters
    ----------
    value : object
        Parsed JSON.
    origin : str
        Name of the file in messages.

    Raises
    ------
    InputError
        If the problem, the version or a field is invalid.
    """
    from gangopt.base.document import instance_of

    if not isinstance(value, dict):
        raise InputError(f"{origin}: an instance file must hold a JSON object (got {type(value).__name__})")
    noun = value.get("noun")
    if noun is None and "nodes" in value:
        raise InputError(f"{origin}: the file holds a cluster, not an instance; `gangopt show` prints it")
    if not isinstance(noun, str):
        raise InputError(f"{origin}: field noun must name a problem, one of {', '.join(problems)}")
    if noun not in problems:
        raise InputError(f"{origin}: field noun: unknown problem {shown(noun)}; known: {', '.join(problems)}")
    documents = problems[noun].documents()
    version = value.get("version")
    if version not in documents or isinstance(version, bool):
        known = " or ".join(map(str, documents))
        raise InputError(f"{origin}: field version must be {known} (got {shown(version)})")
    return instance_of(documents[version], _with_found_cluster(value, origin), origin)


def _with_found_cluster(value: dict[str, Any], origin: str) -> dict[str, Any]:
    """Return a file's content with a path of its cluster, which is relative to the file, that can be opened."""
    cluster = value.get("cluster")
    if not isinstance(cluster, str):
        return value
    from gangopt.topology import cluster_names

    if cluster in cluster_names():
        return value
    return value | {"cluster": str(Path(origin).parent / cluster)}


def to_document(instance: Instance) -> dict[str, Any]:
    """Return the JSON content of an instance's file, from which the identical instance can be read.

    Parameters
    ----------
    instance : Instance
        The instance.

    Raises
    ------
    InputError
        If the file format does not allow a value.
    """
    from pydantic import ValidationError

    from gangopt.base.document import refusal

    try:
        document = resolve(problems[instance.noun].document).from_instance(instance)
    except ValidationError as error:
        raise refusal(error, instance.name) from None
    return cast("dict[str, Any]", document.model_dump(mode="json", exclude_defaults=False))
