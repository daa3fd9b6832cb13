"""Descriptions of parameters in numpydoc docstrings, for help texts."""

from __future__ import annotations

import inspect
import itertools
import re

__all__ = ["descriptions"]


def descriptions(documented: object) -> dict[str, str]:
    """Return the first sentence about each parameter or attribute of a function or class, without markup.

    Parameters
    ----------
    documented : object
        Function or class with a numpydoc docstring.

    Returns
    -------
    dict
        Sentence by name; empty if docstrings were stripped.
    """
    found: dict[str, str] = {}
    names: list[str] = []
    inside = False
    for line, below in itertools.pairwise([*(inspect.getdoc(documented) or "").splitlines(), ""]):
        if below and not below.strip("-"):
            inside, names = line in {"Parameters", "Attributes"}, []
        elif inside and line.startswith("    "):
            found |= {name: f"{found.get(name, '')} {line.strip()}".strip() for name in names}
        elif inside and " : " in line:
            names = line.partition(" : ")[0].split(", ")
    return {name: re.split(r"(?<=\.)\s+(?=[A-Z])", text)[0].replace("`", "") for name, text in found.items()}
