"""Model that places the most jobs, each within a given transfer time: `pieces` without its levels."""

from __future__ import annotations

from collections.abc import Mapping

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import ConcreteModel, Objective, RangeSet, Set, minimize

from gangopt.base.types import Pyomo
from gangopt.formulations.placement._pieces import add_pieces, all_pieces, read_pieces
from gangopt.formulations.placement.data import PlacementData
from gangopt.formulations.rows import sum_of
from gangopt.instances.placement.instance import PlacementInstance
from gangopt.instances.placement.solution import PlacementSolution

__all__ = ["fixed_levels_model", "read_fixed_levels"]


def fixed_levels_model(instance: PlacementInstance, limits: Mapping[int, float]) -> Pyomo:
    """Return a model that minimises the number of paused jobs, each placed job within its own transfer time.

    Pieces that cost more than the limit of their job are left out.

    Parameters
    ----------
    instance : PlacementInstance
        Machines and jobs.
    limits : mapping of int to float
        Longest transfer time in seconds by index of the job; a job without one is paused.
    """
    model = ConcreteModel(name="placement_fixed_levels")
    data = PlacementData.of(instance)
    pieces = all_pieces(instance, data, [limits.get(job.index) for job in data.jobs])
    with PauseGC():
        model.jobs, model.machines = RangeSet(0, len(data.jobs) - 1), Set(initialize=instance.machines)
        add_pieces(model, instance, data, pieces)
        model.objective = Objective(expr=sum_of(list(model.paused.values())), sense=minimize)
    return model


def read_fixed_levels(model: Pyomo, instance: PlacementInstance) -> PlacementSolution:
    """Return the placement given by the values of a solved `fixed_levels_model` of the instance."""
    return read_pieces(model, instance)
