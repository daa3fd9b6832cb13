"""The one way in for files: what is refused unread, what a pipe may hold, and pointers in place of data."""

import os
import socket
import subprocess
import sys

import pytest

import gangopt.base.inputfile
from gangopt.base.errors import InputError
from gangopt.base.inputfile import read_file

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0\nsize 1067237342\n"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/dev/zero", "a character device"), ("/dev/random", "a character device"), ("/dev/null", "a character device")],
)
def test_devices_are_refused_unread(path, kind):
    with pytest.raises(
        InputError, match=rf"^{path} must be a regular file or a pipe such as /dev/stdin \(is {kind}\)$"
    ):
        read_file(path)


def test_named_pipes_sockets_and_directories_are_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        InputError, match=r"pipe must be a regular file or a pipe such as /dev/stdin \(is a named pipe\)"
    ):
        read_file(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(InputError, match=r"socket must be a regular file .*\(is a socket\)"):
            read_file(tmp_path / "socket")
    with pytest.raises(InputError, match=r"must be a file \(is a directory\)$"):
        read_file(tmp_path)
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"link must be .*\(is a character device\)"):
        read_file(tmp_path / "link")


def test_a_file_that_becomes_a_pipe_between_the_two_looks_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("x")
    opened = os.open

    def swap(name, *arguments):
        path.unlink()
        os.mkfifo(path)
        return opened(name, *arguments)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(InputError, match=r"file must be .*\(is a named pipe\)"):
        read_file(path)


def test_sizes_up_to_the_limit_are_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert read_file(path, 3) == b"abc"
    with pytest.raises(InputError, match="file: 3 bytes exceed the limit of 2"):
        read_file(path, 2)
    path.write_bytes(b"")
    assert read_file(path) == b""
    # the kernel tells no size of these
    assert read_file("/proc/self/status").startswith(b"Name:")


def test_inherited_pipes_are_read_up_to_a_limit(monkeypatch):
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    try:
        assert read_file(f"/dev/fd/{read}") == b"abc"
    finally:
        os.close(read)
    monkeypatch.setattr(gangopt.base.inputfile, "MAX_PIPE_BYTES", 2)
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    try:
        with pytest.raises(InputError, match=rf"/dev/fd/{read}: exceeds the limit of 2 bytes"):
            read_file(f"/dev/fd/{read}")
    finally:
        os.close(read)


def test_stdin_is_read_where_it_is_named():
    code = "from gangopt.base.inputfile import read_file; print(read_file('/dev/stdin'))"
    done = subprocess.run([sys.executable, "-c", code], input=b"abc", capture_output=True, check=True, timeout=20)
    assert done.stdout == b"b'abc'\n"


@pytest.mark.parametrize("site", [b"https://git-lfs.github.com", b"https://hawser.github.com", b"http://git-media.io"])
def test_a_git_lfs_pointer_is_named_as_such(tmp_path, site):
    path = tmp_path / "jobs.csv"
    path.write_bytes(POINTER.replace(b"https://git-lfs.github.com", site))
    with pytest.raises(InputError, match=r"jobs\.csv is a Git LFS pointer, not the data; fetch it with git lfs pull$"):
        read_file(path)
    path.write_bytes(POINTER + b"x" * 1024)
    assert read_file(path).startswith(b"version")
