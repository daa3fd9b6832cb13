"""Reader of files that list parameter blocks: JSON, or text with a size, a shape or a list in each entry."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from gangopt.base.checks import integer
from gangopt.base.errors import InputError
from gangopt.base.jsonfile import parse_json, read_text
from gangopt.instances.networks import Block
from gangopt.instances.parameters.instance import MAX_BLOCKS

__all__ = ["read_blocks"]

_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9]+)[lL]?(?![0-9A-Za-z_.])|(?P<mark>[][(),]))")
_SHAPE = re.compile(r"[0-9]+(?:\s*[x,]\s*[0-9]+)*\s*,?")
_TORCH = re.compile(r"(?:(?P<name>.*?)(?:\s*:\s*|\s+))?torch\.Size\(\[(?P<inner>[^\]]*)\]\)")
_BARE = re.compile(r"\[\s*[0-9]+(?:\s*,\s*[0-9]+)+\s*,?\s*\]")
_MAX_DIGITS = 15


def read_blocks(file: str) -> list[Block]:
    """Return the blocks that a file lists, in its order; nothing in the file is evaluated.

    JSON is a list of sizes (`9408`) and shapes (`[64, 3, 7, 7]`), or an object from names to sizes and shapes. Any
    other text has one entry per line, and `#` starts a comment; an entry is

    - a size, `9408`, or a shape, `64,3,7,7`, `64x3x7x7` or `(64, 3, 7, 7)`, with an optional name,
      `conv0_weight: 64,3,7,7`; after a name, square brackets may enclose the shape;
    - a shape as PyTorch prints it, `torch.Size([64, 3, 7, 7])`, with an optional name; `torch.Size([])` has size 1;
    - a list in square brackets of sizes and of shapes in parentheses, each of them a block: `[3L, 9408L]`,
      `[(64, 3), 64]`; it may span several lines. The `L` of Python 2 integers is ignored. If the file has other
      entries, `[64, 3]` is rejected, since it could also be the shape of one block.

    Blocks without a name are called `block0`, `block1`, ... by position.

    Parameters
    ----------
    file : str
        Path of the file.

    Raises
    ------
    InputError
        For the first defect, with file and line (text) or entry (JSON).
    """
    text = read_text(file)
    blocks = _from_json(text, file) if _is_json(text, file) else _from_text(text, file)
    if not blocks:
        raise InputError(f"{file}: no blocks found")
    if len(blocks) > MAX_BLOCKS:
        raise InputError(f"{file}: too many blocks, at most {MAX_BLOCKS:,} are allowed (got {len(blocks)})")
    return [(name or f"block{index}", shape) for index, (name, shape) in enumerate(blocks)]


def _is_json(text: str, file: str) -> bool:
    if file.lower().endswith(".json") or text.lstrip().startswith("{"):
        return True
    if not text.lstrip().startswith("["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _from_json(text: str, file: str) -> list[Block]:
    value = parse_json(text, file)
    if isinstance(value, dict):
        return [(_name(key, file), _json_shape(item, f"{file}: {key!r}")) for key, item in value.items()]
    if isinstance(value, list):
        return [("", _json_shape(item, f"{file}: entry {index}")) for index, item in enumerate(value)]
    raise InputError(f"{file} must hold a list of sizes or shapes, or an object from names to these")


def _json_shape(value: object, where: str) -> tuple[int, ...]:
    items: list[object] = value if isinstance(value, list) else [value]
    if not items:
        raise InputError(f"{where}: a shape must have at least one dimension")
    shape = []
    for item in items:
        shape.append(_dimension(item, where))
    return tuple(shape)


def _name(text: str, where: str) -> str:
    if not text.strip():
        raise InputError(f"{where}: the name of a block must not be empty")
    return text.strip()


def _dimension(value: object, where: str) -> int:
    return integer(f"{where}: a dimension", value, 1, 10**_MAX_DIGITS)


def _from_text(text: str, file: str) -> list[Block]:
    blocks: list[Block] = []
    entries = list(_entries(text, file))
    for where, entry in entries:
        name, colon, rest = entry.rpartition(":")
        torch = _TORCH.fullmatch(entry)
        if torch is not None:
            shape = _plain_shape(torch["inner"].strip() or "1", where)
            blocks.append(("" if torch["name"] is None else _name(torch["name"], where), shape))
        elif colon:
            blocks.append((_name(name, where), _plain_shape(_without_brackets(rest.strip()), where)))
        elif len(entries) > 1 and _BARE.fullmatch(entry):
            sizes, shape_text = len(re.findall("[0-9]+", entry)), _short(f"({entry[1:-1]})")
            raise InputError(
                f"{where}: {_short(entry)} is ambiguous; write {shape_text} for one shape, or write the {sizes} sizes "
                "on separate lines"
            )
        elif entry.startswith("["):
            blocks.extend(("", shape) for shape in _listed(entry, where))
        else:
            blocks.append(("", _plain_shape(entry, where)))
    return blocks


def _entries(text: str, file: str) -> Iterator[tuple[str, str]]:
    """Yield (file and line, entry); lines are joined until square brackets close."""
    pending: list[str] = []
    start = 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        if not pending:
            start = number
        pending.append(line)
        if pending[0].startswith("[") and not line.endswith("]"):
            continue
        yield f"{file}, line {start}", " ".join(pending)
        pending = []
    if pending:
        raise InputError(f"{file}, line {start}: '[' is not closed")


def _without_brackets(text: str) -> str:
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def _plain_shape(text: str, where: str) -> tuple[int, ...]:
    inner = text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text
    inner = re.sub(r"(?<=[0-9])[lL](?![0-9A-Za-z_])", "", inner)
    if not _SHAPE.fullmatch(inner):
        raise InputError(f"{where}: an entry must be a size or shape, e.g. 64x3x7x7 (got {_short(text)})")
    return tuple(_dimension(_whole(item, where), where) for item in re.findall(r"[0-9]+", inner))


def _whole(digits: str, where: str) -> int:
    if len(digits) > 300:
        raise InputError(f"{where}: an integer must have at most {_MAX_DIGITS} digits (got {len(digits)})")
    return int(digits)


def _listed(entry: str, where: str) -> list[tuple[int, ...]]:
    """Return the shapes in `[...]`: numbers are sizes, parentheses hold a shape."""
    shapes: list[tuple[int, ...]] = []
    shape: list[int] | None = None
    expects_value = True
    tokens = list(_tokens(entry, where))
    if tokens[0] != "[" or tokens[-1] != "]":
        raise InputError(f"{where}: an entry must be a list such as [3L, 9408L] (got {_short(entry)})")
    for token in tokens[1:-1]:
        if token == "," and not expects_value:
            expects_value = True
        elif token == "(" and shape is None and expects_value:
            shape = []
        elif token == ")" and shape:
            shapes.append(tuple(shape))
            shape, expects_value = None, False
        elif token.isdigit() and expects_value:
            value = _dimension(_whole(token, where), where)
            if shape is None:
                shapes.append((value,))
            else:
                shape.append(value)
            expects_value = False
        else:
            raise InputError(f"{where}: unexpected {token!r} in {_short(entry)}")
    if shape is not None:
        raise InputError(f"{where}: '(' is not closed in {_short(entry)}")
    return shapes


def _tokens(entry: str, where: str) -> Iterator[str]:
    position = 0
    while position < len(entry):
        match = _TOKEN.match(entry, position)
        if match is None:
            raise InputError(f"{where}: expected an integer, bracket or comma at {_short(entry[position:].strip())}")
        yield match["number"] or match["mark"]
        position = match.end()


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
