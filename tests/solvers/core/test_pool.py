"""Worker processes: one that dies costs its task one more try, and none outlives the process that started it."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from gangopt.solvers.core.pool import Lost, run_in_processes

linux = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals that kill")


def double(number):
    return 2 * number


def killed_at_first(task):
    """Kill this process unless the file is there, which says that it was done before."""
    number, file = task
    if file is not None and not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def killed_always(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def failing(number):
    if number == 1:
        raise ZeroDivisionError("no servers\nat all")
    return (lambda: 0) if number == 2 else 2 * number


def napping(number):
    time.sleep(60 if number == 0 else 0)
    return number


def test_answers_come_with_the_index_of_their_task():
    assert dict(run_in_processes(double, [5, 6, 7], 2)) == {0: 10, 1: 12, 2: 14}
    assert list(run_in_processes(double, [], 2)) == []


@linux
def test_a_task_whose_worker_died_is_tried_again(tmp_path):
    tasks = [(0, None), (1, str(tmp_path / "was here")), (2, None)]
    found = list(run_in_processes(killed_at_first, tasks, 1))
    assert found == [(0, 0), (2, 4), (1, 2)]


@linux
def test_a_task_that_kills_two_workers_says_so_and_costs_no_other():
    found = dict(run_in_processes(killed_always, [0, 1, 2, 3], 2))
    assert found.pop(1) == Lost("its worker process ended without a result, also when retried (killed by SIGKILL)")
    assert found == {0: 0, 2: 4, 3: 6}


def test_what_cannot_be_run_or_sent_is_a_reason():
    found = dict(run_in_processes(failing, [0, 1, 2, 3], 1))
    assert found[1] == Lost("its executor failed (ZeroDivisionError: no servers)")
    assert found[2].reason.startswith("its executor failed (")
    assert (found[0], found[3]) == (0, 6)
    unsendable = dict(run_in_processes(double, [1, lambda: 0], 1))
    assert unsendable[0] == 2
    assert unsendable[1].reason.startswith("its executor failed (")


def test_closing_ends_workers_at_once():
    with closing(run_in_processes(napping, [0, 1], 2)) as answers:
        assert next(answers) == (1, 1)
    assert not multiprocessing.active_children()


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "from gangopt.solvers.core.pool import run_in_processes\n"
        "for _, answer in run_in_processes(abs, [1, 2], 1): print(answer.reason)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert done.stdout.count("a script that starts them needs `if __name__ == '__main__':`") == 2


def alive(pid):
    """Whether a process is there and more than a name that nobody asked after."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return True


@linux
def test_ctrl_c_received_by_another_thread_waits_for_a_worker_to_start(monkeypatch, capfd):
    spawn, pids = multiprocessing.util.spawnv_passfds, []
    started, sent = threading.Event(), threading.Event()

    def a_thread_of_a_library():
        started.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        sent.set()

    def interrupted(*arguments):
        pids.append(spawn(*arguments))
        started.set()
        sent.wait()
        return pids[-1]

    threading.Thread(target=a_thread_of_a_library, daemon=True).start()
    monkeypatch.setattr(multiprocessing.util, "spawnv_passfds", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(run_in_processes(double, [1], 1))
    gc.collect()
    with suppress(ChildProcessError):
        os.waitpid(pids[-1], 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert "Traceback" not in capfd.readouterr().err


@linux
def test_workers_end_when_their_parent_is_killed(tmp_path):
    (tmp_path / "sweep.py").write_text(
        textwrap.dedent(
            """
            import os, sys, time
            from gangopt.solvers.core.pool import run_in_processes

            def work(folder):
                with open(os.path.join(folder, str(os.getpid())), "w"):
                    pass
                while True:
                    sum(range(1000))

            if __name__ == "__main__":
                for _ in run_in_processes(work, [sys.argv[1]] * 2, 2):
                    pass
            """
        )
    )
    folder = tmp_path / "pids"
    folder.mkdir()
    parent = subprocess.Popen([sys.executable, tmp_path / "sweep.py", folder])
    deadline = time.monotonic() + 60
    while len(os.listdir(folder)) < 2 and time.monotonic() < deadline:  # noqa: PTH208 - names alone
        time.sleep(0.05)
    workers = [int(name) for name in os.listdir(folder)]  # noqa: PTH208
    assert len(workers) == 2
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 30
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))
