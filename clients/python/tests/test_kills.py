"""A Python that is killed while its Mynah plays leaves no process and no file.

`make kill-pytest` kills 20 times by each signal.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from mynah import Mynah

#: How often each signal is tried.
KILLS = int(os.environ.get("MYNAH_PYTEST_KILLS", "2"))

TESTS = """
    import os, pathlib, time

    def test_it(mynah):
        mynah({"mynah": 1, "name": "Lamp", "advertising": {"localName": "Lamp"}, "services": []})
        pathlib.Path(os.environ["READY"]).write_text("")
        time.sleep(600)
    """

SCRIPT = """
    import os, pathlib, time
    from mynah import Mynah

    server = Mynah()
    pathlib.Path(os.environ["READY"]).write_text("")
    time.sleep(600)
    """

#: A copy of the process that started the server holds everything open that the other held.
FORKED = SCRIPT.replace(
    "time.sleep(600)",
    "time.sleep(600 if os.fork() else 0)\n    while server.directory.exists():\n        time.sleep(0.02)\n    os._exit(0)",
)


class Victim:
    """A Python with a Mynah, and a folder of its own for everything temporary."""

    def __init__(self, tmp_path: Path, *words: str, mynah: str | None = None) -> None:
        # The folder of a test has a long name, and that of a socket must not be long.
        self.folder = Path(tempfile.mkdtemp(prefix="k"))
        self.ready = tmp_path / "ready"
        self.process = subprocess.Popen(
            [sys.executable, *words],
            cwd=tmp_path,
            env=dict(
                os.environ,
                TMPDIR=str(self.folder),
                READY=str(self.ready),
                MYNAH=mynah or program(),
                PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
            ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # A shell may ignore it for what it starts in the background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
        )

    def until_ready(self) -> None:
        until("the tests play a device", lambda: self.ready.exists() or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.communicate()[0].decode()

    def until_child(self) -> None:
        """Returns when it has begun to start a program, which may not be that program yet."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        until("a program is started", lambda: children.read_text() or self.process.poll() is not None, pause=0)
        assert self.process.poll() is None, self.process.communicate()[0].decode()

    def expect_nothing_left(self) -> None:
        try:
            until("every process has ended", lambda: not self.processes())
            until("every file is removed", lambda: not os.listdir(self.folder))
        finally:
            for process in self.processes():
                os.kill(process, signal.SIGKILL)
            shutil.rmtree(self.folder)

    def processes(self) -> list[int]:
        """The processes whose temporary files are in the folder."""
        mark = b"TMPDIR=" + os.fsencode(self.folder) + b"\0"
        found = []
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and mark in Path("/proc", entry, "environ").read_bytes():
                    found.append(int(entry))
            except OSError:
                pass
        return found


def until(what: str, condition, pause: float = 0.02) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, f"not seen: {what}"
        time.sleep(pause)


def program() -> str:
    return os.environ.get("MYNAH") or "mynah"


def pytest_of_its_own(tmp_path: Path) -> Victim:
    (tmp_path / "test_it.py").write_text(TESTS.replace("\n    ", "\n"))
    options = ["-q", "-p", "no:cacheprovider", "-p", "mynah.pytest_plugin", "--basetemp", str(tmp_path / "base")]
    return Victim(tmp_path, "-m", "pytest", *options, "test_it.py")


@pytest.mark.parametrize("number", range(KILLS))
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_tests_that_are_killed_leave_nothing(tmp_path: Path, name: str, number: int) -> None:
    victim = pytest_of_its_own(tmp_path)
    # Half of them while they start; and half as a terminal does it, which has a process group.
    if is_ready := number % 2 == 0:
        victim.until_ready()
    else:
        victim.until_child()
        time.sleep(random.Random(f"{name} {number}").choice([0, 0.002, 0.01, 0.03, 0.1]))
    send = os.killpg if number % 4 < 2 else os.kill
    send(victim.process.pid, signal.Signals[name])
    output = victim.process.communicate(timeout=120)[0].decode()
    victim.expect_nothing_left()
    if is_ready:
        expected = {"SIGKILL": -signal.SIGKILL, "SIGTERM": 128 + signal.SIGTERM, "SIGINT": 2}[name]
        assert victim.process.returncode == expected, output
        # Neither the end of its tests nor that of its fixtures went wrong.
        assert "Error" not in output and "mynah serve" not in output, output


@pytest.mark.parametrize("script", [SCRIPT, FORKED])
def test_a_script_that_is_killed_leaves_nothing(tmp_path: Path, script: str) -> None:
    victim = Victim(tmp_path, "-c", script.replace("\n    ", "\n"))
    victim.until_ready()
    victim.process.kill()
    victim.process.wait()
    victim.expect_nothing_left()


def test_a_script_that_is_killed_before_its_server_begins_leaves_nothing(tmp_path: Path) -> None:
    begin = tmp_path / "begin"
    slow = tmp_path / "slow"
    slow.write_text(f'#!/bin/sh\nuntil [ -e {begin} ]; do sleep 0.02; done; exec {program()} "$@"\n')
    slow.chmod(0o755)
    victim = Victim(tmp_path, "-c", SCRIPT.replace("\n    ", "\n"), mynah=str(slow))
    victim.until_child()
    victim.process.kill()
    victim.process.wait()
    begin.write_text("")
    victim.expect_nothing_left()


def test_a_server_outlives_the_thread_that_started_it() -> None:
    started: list[Mynah] = []
    thread = threading.Thread(target=lambda: started.append(Mynah(program=program())))
    thread.start()
    thread.join()
    with started[0] as server:
        for _ in range(20):
            assert server.instance()["devices"] == []
        assert server.is_running


@pytest.mark.parametrize("has_socket", [True, False])
def test_what_a_killed_server_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_socket: bool
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = Mynah(program=program())
    (left.directory / "of-a-test").write_text("")
    left._process.kill()
    left._process.wait()
    if not has_socket:
        (left.directory / "control.sock").unlink()
    others = [tmp_path / "mynah-py-file", tmp_path / "mynah-other"]
    others[0].write_text("")
    others[1].mkdir()
    with Mynah(program=program()) as running:
        # It may be one that starts, until it is old enough.
        assert left.directory.exists()
        for directory in (left.directory, running.directory, *others):
            os.utime(directory, (0, 0))
        with Mynah(program=program()):
            assert not left.directory.exists()
            assert running.directory.exists() and running.instance()["devices"] == []
    left.close()
    assert sorted(tmp_path.iterdir()) == sorted(others)
