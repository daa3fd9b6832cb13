"""The cluster: racks, machines, slots and GPUs as one validated, immutable tree.

This package holds the cluster and its builders (uniform, from groups, from any networkx graph, from node-link JSON),
the named clusters of the literature, the locality of a set of GPUs and its slowdown, the state (who holds what), the
classes of interchangeable machines and racks, and renderings of a cluster as text or plot. It does not depend on
jobs, models or solvers; networkx and matplotlib are imported only when a graph or a plot is made.
"""

from gangopt.topology._assign import Assignment, Use, assign
from gangopt.topology._cluster import Cluster
from gangopt.topology._counts import FreeGpus, Place
from gangopt.topology._documents import cluster_content, cluster_of_content, state_content, state_of_content
from gangopt.topology._groups import MachineGroup
from gangopt.topology._locality import LOCALITIES, PRIORS, Slowdown, SlowdownTable, locality
from gangopt.topology._named import cluster_names, load_cluster, named_cluster, save_cluster
from gangopt.topology._picture import draw
from gangopt.topology._render import Totals, render, totals
from gangopt.topology._requirement import ANYWHERE, Requirement
from gangopt.topology._schema import cluster_schema
from gangopt.topology._state import State
from gangopt.topology._symmetry import machine_classes, rack_classes
from gangopt.topology._tree import LEVELS

__all__ = [
    "ANYWHERE",
    "LEVELS",
    "LOCALITIES",
    "PRIORS",
    "Assignment",
    "Cluster",
    "FreeGpus",
    "MachineGroup",
    "Place",
    "Requirement",
    "Slowdown",
    "SlowdownTable",
    "State",
    "Totals",
    "Use",
    "assign",
    "cluster_content",
    "cluster_names",
    "cluster_of_content",
    "cluster_schema",
    "draw",
    "load_cluster",
    "locality",
    "machine_classes",
    "named_cluster",
    "rack_classes",
    "render",
    "save_cluster",
    "state_content",
    "state_of_content",
    "totals",
]
