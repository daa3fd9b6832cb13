"""The packaged testbed that generators draw from is the named instance."""

from gangopt.catalogue import load, to_document
from gangopt.instances.allocation.testbed import optimus_testbed


def test_the_testbed_is_the_named_instance():
    assert to_document(optimus_testbed()) == to_document(load("allocation/optimus-testbed"))
