"""Explicit Pyomo models of the decisions; no solver is called here.

Each package of a decision exports its formulations, objects of `contract.Formulation`: with
`from gangopt.formulations.auction import places`, `places.fill(block, instance)` puts the model on a Block,
`places.model(instance)` makes a model of its own, `places.read(block, instance)` returns a Solution and
`places.hint(block, instance, solution)` sets a start.
"""
