"""The messages when Mynah is not there, or ends in the middle of a test."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
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


FAILING = """
    import time

    def test_that_passes(mynah):
        mynah({"mynah": 1, "name": "Early", "services": []})

    def test_that_fails(mynah%s):
        start = mynah._capture._start
        mynah({"mynah": 1, "name": "Late", "services": []})
        for _ in range(3000):
            if mynah._capture._path.stat().st_size > start + 500:
                break
            time.sleep(0.01)
        assert False, "the test's own failure"
    """


@pytest.mark.parametrize("fixtures, folder", [("", "test_that_fails0"), (", tmp_path", "test_that_fails0")])
def test_a_failed_test_leaves_its_capture(pytester: pytest.Pytester, fixtures: str, folder: str) -> None:
    pytester.makepyfile(FAILING % fixtures)
    base = pytester.path / "base"
    result = pytester.runpytest_subprocess("--mynah", program(), "--basetemp", str(base))
    result.assert_outcomes(passed=1, failed=1)
    path = base / folder / "mynah.pcapng"
    result.stdout.fnmatch_lines(["*-- capture of Mynah --*", str(path)])
    assert [each for each in base.iterdir() if not each.is_symlink()] == [path.parent]
    assert path.stat().st_mode & 0o077 == 0
    kinds, interfaces = blocks(path)
    assert kinds[0] == 0x0A0D0D0A and kinds.count(6) > 10
    # The interfaces of earlier devices are there, for the numbers of packets; their packets are not.
    assert [name for name, _ in interfaces] == [b"hci Early", b"air", b"hci Late"]
    assert interfaces[0][1] < interfaces[2][1]
    if tshark := shutil.which("tshark"):
        shown = subprocess.run([tshark, "-r", str(path)], capture_output=True, text=True, timeout=120)
        assert shown.returncode == 0, shown.stderr
        assert len(shown.stdout.splitlines()) == kinds.count(6)


def test_a_radio_that_cannot_be_recorded_has_no_capture(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/mynah/bus")
    pytester.makepyfile("def test_it(mynah): assert False")
    result = pytester.runpytest_subprocess("--mynah", program(), "--mynah-radio", "auto")
    result.stdout.fnmatch_lines(["the radio auto is not recorded; BlueZ is by: btmon -w FILE"])


def test_a_mynah_of_somebody_else_is_not_captured(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(mynah): assert False")
    with Mynah(program=program()) as running:
        result = pytester.runpytest_subprocess("--mynah-control", running.address)
    result.stdout.fnmatch_lines(["*events of Mynah*"])
    result.stdout.no_fnmatch_line("*capture of Mynah*")


def blocks(path: Path) -> tuple[list[int], list[tuple[bytes, int]]]:
    """The types of a pcapng file's blocks, and its interfaces: the name and the number of packets of each."""
    data = path.read_bytes()
    kinds: list[int] = []
    names: list[bytes] = []
    counts: list[int] = []
    while data:
        kind, length = struct.unpack_from("<II", data)
        kinds.append(kind)
        if kind == 1:
            size = struct.unpack_from("<H", data, 18)[0]
            names.append(data[20 : 20 + size])
            counts.append(0)
        if kind == 6:
            counts[struct.unpack_from("<I", data, 8)[0]] += 1
        data = data[length:]
    return kinds, list(zip(names, counts))


def program() -> str:
    return os.environ.get("MYNAH") or "mynah"
