r"""Formulation `places` of `auction`: a bundle is a level, a place of that level and a number of GPUs.

.. math::

    \max \sum_i \sum_{(l,q,k)} x_{ilqk} \log V_{ilk} \quad\text{with}\quad
    \sum_{(l,q,k)} x_{ilqk} = 1 \text{ for every app } i, \quad
    \sum_i \sum_{q' \subseteq q} k\, x_{il'q'k} \le G_q

for each machine, rack and the cluster q, with G_q GPUs on offer. Narrower pieces then fit into their places, and wider
ones can take any GPUs that are left.
"""

from __future__ import annotations

from pyomo.common.gc_manager import PauseGC
from pyomo.environ import Binary, Constraint, Set, Var, value

from gangopt.base.types import Pyomo
from gangopt.formulations.auction.goal import AuctionFormulation
from gangopt.formulations.auction.placing import Choice, choices_from, give_out
from gangopt.formulations.auction.rows import Chooser, add_goal
from gangopt.formulations.rows import sum_of_terms
from gangopt.formulations.size import require_size
from gangopt.instances.auction.bids import CLUSTER, MACHINE, RACK
from gangopt.instances.auction.instance import AuctionInstance, log_of
from gangopt.instances.auction.solution import AuctionSolution

__all__ = ["Places", "places"]

Key = tuple[int, int, int, int]


class Places(AuctionFormulation):
    """Choice of a place and a number of GPUs for each app.

    Public components: Var `assign` [app, level, place, GPUs], 1 if the app gets that many GPUs in that place (level 0
    machine, 1 rack, 2 cluster; places from 0); Expression `objective_value`, the sum of the logarithms of the values,
    to be maximised; see `mean_from_goal`.

    Raises
    ------
    ModelTooLargeError
        If the model would have too many columns.
    """

    name = "places"

    def _fill(self, block: Pyomo, instance: AuctionInstance) -> None:
        places = [[instance.places(i, level) for level in (MACHINE, RACK, CLUSTER)] for i in range(len(instance.apps))]
        columns = self.columns_for(instance)
        logs: dict[Key, float] = {}
        for i, own in enumerate(columns):
            for column in own:
                log = log_of(column.value)
                if not column.gpus:
                    logs[i, CLUSTER, 0, 0] = log
                    continue
                for place, size in places[i][column.level]:
                    if column.gpus <= size:
                        logs[i, column.level, place, column.gpus] = log
            require_size("auction places", len(logs))
        with PauseGC():
            block.apps = Set(initialize=list(range(len(instance.apps))))
            block.bundles = Set(initialize=list(logs), dimen=4)
            block.assign = Var(block.bundles, domain=Binary)
            keys: dict[int, list[Key]] = {i: [] for i in block.apps}
            inside: dict[tuple[int, int], list[tuple[float, Pyomo]]] = {}
            for key, x in block.assign.items():
                i, level, place, k = key
                keys[i].append(key)
                for outer in _containing(instance, level, place) if k else ():
                    inside.setdefault(outer, []).append((float(k), x))
            choosers = {
                i: Chooser(
                    1, not app.value_at_zero, [block.assign[key] for key in keys[i]], [logs[key] for key in keys[i]]
                )
                for i, app in enumerate(instance.apps)
            }
            add_goal(block, block.apps, choosers, self.goal_for(instance))
            block.machines = Set(initialize=sorted(place for level, place in inside if level == MACHINE))
            block.racks = Set(initialize=sorted(place for level, place in inside if level == RACK))

            rooms = (instance.offered.tolist(), instance.rack_offered.tolist())

            def capacity(level: int, place: int, room: int) -> Pyomo:
                return (None, sum_of_terms(inside[level, place]), float(room))

            block.machine_capacity = Constraint(
                block.machines, rule=lambda _, m: capacity(MACHINE, m, rooms[MACHINE][m])
            )
            block.rack_capacity = Constraint(block.racks, rule=lambda _, r: capacity(RACK, r, rooms[RACK][r]))
            if (CLUSTER, 0) in inside:
                block.offered_gpus = Constraint(expr=capacity(CLUSTER, 0, instance.total))

    def _read(self, block: Pyomo, instance: AuctionInstance) -> AuctionSolution:
        """Return the solution given by `assign`; wider pieces take the machines with the most free GPUs."""
        chosen = [
            Choice(i, level, k, place if level != CLUSTER else None)
            for (i, level, place, k), x in block.assign.items()
            if k and value(x) > 0.5
        ]
        return AuctionSolution(give_out(instance, chosen))

    def _hint(self, block: Pyomo, instance: AuctionInstance, solution: AuctionSolution) -> None:
        """Set every variable to a solution's bundles, for a warm start."""
        chosen = {
            (choice.app, choice.level, choice.place or 0, choice.gpus)
            for choice in choices_from(instance, self.columns_for(instance), solution.bundles)
        }
        for key, x in block.assign.items():
            x.set_value(int(key in chosen), skip_validation=True)


places = Places()


def _containing(instance: AuctionInstance, level: int, place: int) -> list[tuple[int, int]]:
    if level == MACHINE:
        return [(MACHINE, place), (RACK, int(instance.machine_rack[place])), (CLUSTER, 0)]
    return [(RACK, place), (CLUSTER, 0)] if level == RACK else [(CLUSTER, 0)]
