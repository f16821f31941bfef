"""The messages when Mynah is not there, or ends in the middle of a test."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from mynah import Client, Mynah

pytest_plugins = ["pytester"]


def test_a_missing_socket_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="nobody listens on unix:/nonexistent/mynah.sock"):
        Client("unix:/nonexistent/mynah.sock").instance()


def test_a_socket_without_a_server_is_named(tmp_path: Path) -> None:
    server = Mynah(program=program())
    path = server.address[len("unix:") :]
    os.kill(server._process.pid, signal.SIGKILL)
    server._process.wait()
    with pytest.raises(ConnectionRefusedError, match=f"nobody listens on unix:{path}"):
        server.instance()
    server.close()


def test_another_program_is_named() -> None:
    with pytest.raises(RuntimeError, match="/bin/echo is not mynah: it printed"):
        Mynah(program="/bin/echo")


def test_a_wait_ends_with_its_server() -> None:
    server = Mynah(program=program())
    killer = threading.Timer(0.2, server._process.kill)
    killer.start()
    with pytest.raises(OSError):
        server.wait("write", within="60 s")
    killer.join()
    server.close()


def test_a_test_fails_alone_when_its_server_ends(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_it(mynah):
            mynah.client._process.kill()
            mynah.client._process.wait()
            assert False, "the test's own failure"
        """
    )
    result = pytester.runpytest_subprocess("--mynah", program())
    result.stdout.fnmatch_lines(["*the test's own failure*", "the events cannot be read: *nobody listens on *"])
    assert "INTERNALERROR" not in result.stdout.str()


def program() -> str:
    return os.environ.get("MYNAH") or "mynah"
