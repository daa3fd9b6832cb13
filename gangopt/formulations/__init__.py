"""Explicit Pyomo models of the problems, independent of any solver.

The package of each problem exports its formulations, which are objects of `contract.Formulation`. After
`from gangopt.formulations.auction import places`, `places.fill(block, instance)` builds the model on a block,
`places.model(instance)` returns a complete model, `places.read(block, instance)` returns the solution and
`places.hint(block, instance, solution)` sets a warm start.
"""
