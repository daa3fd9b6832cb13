"""A process that has solved can fork, by any start method: nothing leaves threads or locks behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gangopt
from gangopt.solvers.core.pool import _Worker

INSTANCES = {
    "allocation": "allocation/optimus-figure4",
    "auction": "auction/tied",
    "bid": "bid/themis-4.3.3",
    "fair_share": "fair_share/two-resources",
    "interval": "interval/fragments",
    "network_placement": "network_placement/random?machines=3&workers=4&servers=2",
    "parameters": "parameters/random?blocks=5&servers=2",
    "placement": "placement/optimus-figure10",
    "schedule": "schedule/tiresias-figure7",
    "threshold": "threshold/random?jobs=8",
}

SCRIPT = """
import multiprocessing, os, signal, sys, time
import gangopt

def solve(name, objective):
    sys.exit(0 if gangopt.solve(name).objective == objective else 3)

def wait(pid):
    for _ in range(2000):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "killed"

name, methods = sys.argv[1], sys.argv[2:]
objective = gangopt.solve(name).objective
for method in methods:
    gangopt.solve(name, method)
assert "polars" not in sys.modules, "polars was used"
pid = os.fork()
if not pid:
    os._exit(0 if gangopt.solve(name).objective == objective else 3)
print("os.fork", wait(pid))
child = multiprocessing.get_context("fork").Process(target=solve, args=(name, objective))
child.start()
child.join(20)
if child.is_alive():
    child.kill()
    child.join()
print("multiprocessing", child.exitcode)
"""


@pytest.mark.parametrize("noun", sorted(gangopt.problems))
def test_a_child_solves_again_after_a_fork(noun):
    methods = [method for method in gangopt.problems[noun].methods if method != "exact"]
    command = [sys.executable, "-c", SCRIPT, INSTANCES[noun], *methods]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.returncode) == ("os.fork 0\nmultiprocessing 0\n", 0), done.stderr


def test_workers_are_spawned():
    worker = _Worker()
    try:
        assert worker.process._start_method == "spawn"
    finally:
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
