"""Readers of public job logs, one module a format: each has `FORMAT` and `read(source) -> Draft`."""
