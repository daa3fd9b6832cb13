"""The files of instances and solutions: one pydantic model a decision, its JSON Schema, its version."""
