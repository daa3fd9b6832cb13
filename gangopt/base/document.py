"""Base classes of instance and solution files: strict fields, finite numbers, one-line messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from gangopt.base.contract import Instance
from gangopt.base.errors import LONGEST_SHOWN, InputError, shorten, shown, unprintable

__all__ = [
    "Amount",
    "Count",
    "FormerDocument",
    "InstanceDocument",
    "Label",
    "Part",
    "Positive",
    "SolutionDocument",
    "instance_of",
    "refusal",
    "validate",
]

LARGEST = 1e15
"""Largest magnitude of any number in a file: integers are exact in double precision below it."""

Amount = Annotated[float, Field(ge=0, le=LARGEST)]
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
Count = Annotated[int, Field(ge=1, le=10**15)]


def _printable(value: str) -> str:
    found = unprintable(value)
    if found is not None:
        raise ValueError(found)
    return value


Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]


class Part(BaseModel):
    """Base of every document and of its parts: no unknown fields, no conversions, finite numbers."""

    # strict: "1" and true are not numbers; sequences are declared as list, since strict tuples reject JSON arrays
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class FormerDocument(Part, ABC):
    """Fields that every instance file has, beside those of its problem; files of a former version are only read."""

    noun: str
    version: Literal[1] = Field(description="version of the file format")
    name: Annotated[str, Field(min_length=1, max_length=500)] = Field(description="name of the instance")
    description: str = Field(default="", description="description in one sentence")
    source: str = Field(default="", description="source of the data")

    @abstractmethod
    def to_instance(self) -> Instance:
        """Return the instance in the file."""


class InstanceDocument(FormerDocument):
    """Base of instance files of the version that is written."""

    @classmethod
    @abstractmethod
    def from_instance(cls, instance: Any) -> Self:
        """Return the file content of an instance."""


class SolutionDocument(Part, ABC):
    """Base of solution files."""

    @abstractmethod
    def to_solution(self) -> Any:
        """Return the solution in the file."""

    @classmethod
    @abstractmethod
    def from_solution(cls, solution: Any) -> Self:
        """Return the file content of a solution."""


_Model = TypeVar("_Model", bound=BaseModel)


def validate(model: type[_Model], value: object, origin: str) -> _Model:
    """Validate parsed JSON against a document type.

    Parameters
    ----------
    model : type
        The document type.
    value : object
        Parsed JSON.
    origin : str
        Name of the file in messages.

    Raises
    ------
    InputError
        If the value does not match the type. The message gives the file, the field, its value and what is allowed for
        the first defect, and the number of other defects.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise refusal(error, origin) from None


def instance_of(document: type[FormerDocument], value: object, origin: str) -> Instance:
    """Return the instance that parsed JSON describes.

    Parameters
    ----------
    document : type
        The document type.
    value : object
        Parsed JSON.
    origin : str
        Name of the file in messages.

    Raises
    ------
    InputError
        One line, as `validate` raises it, also where the instance itself refuses a value.
    """
    checked = validate(document, value, origin)
    try:
        return checked.to_instance()
    except ValidationError as error:
        raise refusal(error, origin) from None
    except InputError as error:
        raise type(error)(f"{origin}: {error}") from None


def refusal(error: ValidationError, origin: str) -> InputError:
    """Return the error for defects that pydantic found in a file or in an instance to be written.

    Parameters
    ----------
    error : ValidationError
        Error of pydantic.
    origin : str
        Name of the file in the message.

    Returns
    -------
    InputError
        To be raised by the caller.
    """
    first = error.errors(include_url=False)[0]
    field = ".".join(shorten(str(part), LONGEST_SHOWN) for part in first["loc"]) or "the whole file"
    text = first["msg"].removeprefix("Value error, ")
    text = text[0].lower() + text[1:]
    given = "" if first["type"] == "missing" else f" (given: {shown(first['input'])})"
    rest = f"; {error.error_count() - 1} more defects" if error.error_count() > 1 else ""
    return InputError(f"{shorten(origin)}: field {field}: {text}{given}{rest}")
