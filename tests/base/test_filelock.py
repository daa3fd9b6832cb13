"""A lock names its holder, refuses everybody else, and is free when the holder ends in whatever way."""

import errno
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from gangopt.base import filelock
from gangopt.base.errors import InputError
from gangopt.base.filelock import locked

HOLD = """
import sys, time
from pathlib import Path
from gangopt.base.filelock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", HOLD, tmp_path / "rows"], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


def test_a_lock_says_who_has_it_and_goes_with_the_process(tmp_path, holder):
    with pytest.raises(InputError) as caught, locked(tmp_path / "rows"):
        pass
    said = rf"{tmp_path}/rows: in use by process {holder.pid} on \S+ since \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\S*"
    assert re.fullmatch(said, str(caught.value))
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locked(tmp_path / "rows"):
        assert json.loads((tmp_path / "rows.lock").read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_given_back_by_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "rows"):
        raise ZeroDivisionError
    with locked(tmp_path / "rows"), pytest.raises(InputError, match="in use by"), locked(tmp_path / "rows"):
        pass
    with locked(tmp_path / "rows"):
        pass


@pytest.mark.parametrize("content", ["eggs\n", "[1]", '{"pid": 1}'])
def test_a_file_of_something_else_is_left_alone(tmp_path, content):
    foreign = tmp_path / "rows.lock"
    foreign.write_text(content)
    with pytest.raises(InputError, match=r"rows\.lock: not a lock file; remove it or choose another output"):
        locked(tmp_path / "rows").__enter__()
    assert foreign.read_text() == content


def test_where_no_lock_can_be_written_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"rows\.lock: cannot be written \(No such file or directory\)"):
        locked(tmp_path / "no" / "rows").__enter__()


@pytest.mark.parametrize(("number", "refused"), [(errno.ENOSYS, False), (errno.ENOLCK, False), (errno.EIO, True)])
def test_file_systems_without_locks_are_used_without(tmp_path, monkeypatch, number, refused):
    def unsupported(_stream):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(filelock, "_lock", unsupported)
    if refused:
        with pytest.raises(InputError, match="cannot be written"):
            locked(tmp_path / "rows").__enter__()
    else:
        with locked(tmp_path / "rows"):
            pass


def test_a_lock_file_that_was_removed_meanwhile_is_made_anew(tmp_path, monkeypatch):
    """Between opening and locking, the holder before may have removed the file: its lock would keep nobody out."""
    lock, calls = filelock._lock, []

    def late(stream):
        calls.append(stream)
        if len(calls) == 1:
            (tmp_path / "rows.lock").unlink()
        lock(stream)

    monkeypatch.setattr(filelock, "_lock", late)
    with locked(tmp_path / "rows"):
        assert (tmp_path / "rows.lock").exists()
    assert len(calls) == 2
