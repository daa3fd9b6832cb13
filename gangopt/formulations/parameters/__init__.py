"""Formulations of `parameters`: which server holds which blocks, or parts of blocks.

`assign` has every part of every block on every server, `groups` merges equal blocks and the servers that share cuts.
The classes take the objective and the caps on the others.
"""

from gangopt.formulations.parameters._assign import Assign, assign
from gangopt.formulations.parameters._groups import Groups, groups

__all__ = ["Assign", "Groups", "assign", "groups"]
