"""The cluster that decisions are made on: racks, machines, slots and GPUs as one checked, immutable tree.

Here live the cluster and its builders (uniform, from groups, from any networkx graph, from node-link JSON), the
clusters of the literature by name, the locality of a set of GPUs with its slowdown, the state of what is free, the
classes of interchangeable machines and racks, and a cluster as text or picture. Nothing here knows of jobs, models
or solvers; networkx and matplotlib are loaded when a graph or a picture is asked for.
"""

from gangopt.topology._cluster import Cluster
from gangopt.topology._free import FreeState
from gangopt.topology._groups import MachineGroup
from gangopt.topology._locality import LOCALITIES, PRIORS, Slowdown, SlowdownTable, locality
from gangopt.topology._named import cluster_names, load_cluster, named_cluster, save_cluster
from gangopt.topology._picture import draw
from gangopt.topology._render import Totals, render, totals
from gangopt.topology._schema import cluster_schema
from gangopt.topology._symmetry import machine_classes, rack_classes
from gangopt.topology._tree import LEVELS

__all__ = [
    "LEVELS",
    "LOCALITIES",
    "PRIORS",
    "Cluster",
    "FreeState",
    "MachineGroup",
    "Slowdown",
    "SlowdownTable",
    "Totals",
    "cluster_names",
    "cluster_schema",
    "draw",
    "load_cluster",
    "locality",
    "machine_classes",
    "named_cluster",
    "rack_classes",
    "render",
    "save_cluster",
    "totals",
]
