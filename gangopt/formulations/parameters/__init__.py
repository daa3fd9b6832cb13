"""Formulations of `parameters`: the assignment of blocks, or parts of blocks, to servers.

`assign` has a variable for each block and server, `groups` merges equal blocks and the servers that share split blocks.
`Assign` and `Groups` take the objective to minimise and limits on the others.
"""

from gangopt.formulations.parameters._assign import Assign, assign
from gangopt.formulations.parameters._groups import Groups, groups

__all__ = ["Assign", "Groups", "assign", "groups"]
