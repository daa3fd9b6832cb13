"""The packaged instance `allocation/optimus-testbed`, for the generators that draw from its jobs."""

from __future__ import annotations

from typing import cast

from gangopt.instances import library
from gangopt.instances.allocation.instance import AllocationInstance

__all__ = ["optimus_testbed"]

_FILE = "optimus-testbed.json"


def optimus_testbed() -> AllocationInstance:
    """Return the nine jobs on the 13 servers of the Optimus testbed."""
    from gangopt.base.document import instance_of
    from gangopt.instances.allocation.document import AllocationDocument

    value = library.read(library.folder("allocation"), _FILE)
    return cast("AllocationInstance", instance_of(AllocationDocument, value, _FILE))
