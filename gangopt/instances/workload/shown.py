"""How messages of workloads show a value."""

from __future__ import annotations

__all__ = ["shown"]


def shown(value: object) -> str:
    """Return a value as messages show it, cut to 40 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 42 else text[:38] + "..." + text[-1:]
