"""What a solve leaves alone in its process: stdout, signals, threads, and children made by fork."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from gangopt.solvers.highs import LinearArrays, SolveSettings, library, solve_arrays

MODEL = """
import numpy as np, signal, sys, threading, time
from gangopt.solvers.highs import LinearArrays, SolveSettings, solve_arrays
rng = np.random.default_rng(2)
n = 60
weights = rng.integers(0, 100, (5, n)).astype(float)
matrix = np.hstack([weights, np.eye(5), -np.eye(5)])
side = weights.sum(axis=1) // 2
costs, upper = np.r_[np.zeros(n), np.ones(10)], np.r_[np.ones(n), np.full(10, 1e6)]
hard = LinearArrays.from_matrix(costs, matrix, side, side, 0, upper, costs == 0)
"""


def small(seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 30, (3, 20)).astype(float)
    return LinearArrays.from_matrix(
        rng.integers(1, 50, 20), weights, -np.inf, weights.sum(axis=1) // 2, 0, 1, True, sense="maximise"
    )


def objective(seed):
    return solve_arrays(small(seed), SolveSettings(threads=1 + seed % 2)).objective


def start(code, **options):
    return subprocess.Popen(
        [sys.executable, "-c", MODEL + textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, **options
    )


def test_stdout_holds_only_what_the_program_prints():
    child = start(
        """
        print("before", flush=True)
        print(solve_arrays(hard, SolveSettings(time_limit=0.2)).termination, flush=True)
        """
    )
    assert child.communicate(timeout=60)[0] == "before\ntime_limit\n"
    assert child.returncode == 0


def test_stdout_may_be_closed():
    child = start(
        """
        import os
        os.close(1)
        sys.exit(0 if solve_arrays(hard, SolveSettings(time_limit=0.2)).termination == "time_limit" else 1)
        """
    )
    child.communicate(timeout=60)
    assert child.returncode in {0, 120}  # 120: Python itself could not flush the closed stdout at exit


def test_what_others_print_while_the_banner_is_caught_is_not_lost(monkeypatch, capfd):
    def banner_between_other_lines():
        os.write(1, b"other thread\nRunning HiGHS 9.9 (git hash: x)\nmore\n")
        return "highs"

    monkeypatch.setattr(library, "_make", banner_between_other_lines)
    assert library._first_highs() == "highs"
    assert capfd.readouterr().out == "other thread\nmore\n"


@pytest.mark.parametrize("progress", ["None", "lambda p: None"])
def test_one_ctrl_c_returns_incumbent_and_bound_and_restores_the_handler(progress):
    child = start(
        f"""
        print("go", flush=True)
        outcome = solve_arrays(hard, SolveSettings(time_limit=60, on_progress={progress}))
        print(outcome.termination, outcome.solution_status, outcome.bound <= outcome.objective)
        print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        print(solve_arrays(hard, SolveSettings(time_limit=0.1)).termination)
        """
    )
    assert child.stdout.readline() == "go\n"
    time.sleep(1.5)
    sent = time.perf_counter()
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30)[0].splitlines() == ["interrupted feasible True", "True", "time_limit"]
    assert time.perf_counter() - sent < 5
    assert child.returncode == 0


def test_ctrl_c_through_a_users_own_handler():
    child = start(
        """
        def mine(number, frame):
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, mine)
        print("go", flush=True)
        print(solve_arrays(hard, SolveSettings(time_limit=60)).termination)
        print(signal.getsignal(signal.SIGINT) is mine)
        """
    )
    child.stdout.readline()
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=30)[0].splitlines() == ["interrupted", "True"]


def test_second_ctrl_c_leaves_at_once():
    child = start(
        """
        from gangopt.solvers.highs.driver import Monitor, run_in_thread
        monitor = Monitor(SolveSettings(), False, 1.0)
        print("go", flush=True)
        try:
            run_in_thread(lambda: time.sleep(20), monitor)
        except KeyboardInterrupt:
            print("left", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        """
    )
    child.stdout.readline()
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=10)[0] == "left True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_process_pool_by_fork_after_a_solve_in_the_parent(threads):
    expected = [solve_arrays(small(seed), SolveSettings(threads=threads)).objective for seed in range(4)]
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        assert list(pool.map(objective, range(4), timeout=60)) == expected


def test_no_thread_of_highs_is_left_after_a_solve():
    solve_arrays(small(), SolveSettings(threads=4))
    tasks = "/proc/self/task"
    if not os.path.isdir(tasks):  # noqa: PTH112 - /proc
        pytest.skip("needs /proc")
    before = len(os.listdir(tasks))  # noqa: PTH208
    for seed in range(3):
        solve_arrays(small(seed), SolveSettings(threads=4))
    patience = time.perf_counter() + 5  # the kernel may list a thread for a moment after it has ended
    while len(os.listdir(tasks)) > before and time.perf_counter() < patience:  # noqa: PTH208
        time.sleep(0.01)
    assert len(os.listdir(tasks)) <= before  # noqa: PTH208
