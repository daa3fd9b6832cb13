"""A type checker knows what the formulations take and return."""

import subprocess
import sys

import pytest

SNIPPET = """
from gangopt.formulations.auction import NestedFlow, places
from gangopt.instances.auction.instance import AuctionInstance
from gangopt.registry.records.auction import PROBLEM

def use(block: object, instance: AuctionInstance) -> None:
    reveal_type(places.read(block, instance))
    reveal_type(NestedFlow(all_served=True).read(block, instance))
    reveal_type(PROBLEM.form("places").read(block, instance))
    places.hint(block, instance, 3)
    places.fill(block, "auction/random")
"""


@pytest.mark.slow
def test_types_of_formulations_are_known_to_mypy(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), str(path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert told.count('Revealed type is "gangopt.instances.auction.solution.AuctionSolution"') == 3
    assert 'Argument 3 to "hint" of "Formulation" has incompatible type "int"; expected "AuctionSolution"' in told
    assert 'Argument 2 to "fill" of "Formulation" has incompatible type "str"; expected "AuctionInstance"' in told
