"""Experiments: questions of the papers' evaluation sections, each one function with a table and a picture."""
