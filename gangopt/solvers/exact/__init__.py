"""Exact methods: one module a decision, each returning an Outcome whose bound is proven."""
