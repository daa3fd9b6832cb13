"""Explicit Pyomo models of the decisions; no solver is called here.

Each module of a decision defines, for each of its forms, `fill_<form>(block, instance)`, `<form>_model(instance)`,
`read_<form>(block, instance)` and `hint_<form>(block, instance, solution)`.
"""
