"""Values in messages of workloads."""

from __future__ import annotations

__all__ = ["shown"]


def shown(value: object) -> str:
    """Return the repr of a value for a message, abbreviated to 42 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 42 else text[:38] + "..." + text[-1:]
