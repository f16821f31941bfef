"""The messages when Mynah is not there, or ends in the middle of a test."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Iterator

import pytest

from mynah import Client, Device, Mynah, ServerEnded

pytest_plugins = ["pytester"]


def test_a_missing_socket_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="nobody listens on unix:/nonexistent/mynah.sock"):
        Client("unix:/nonexistent/mynah.sock").instance()


def test_a_socket_without_a_server_is_named() -> None:
    server = Mynah(program=program())
    os.kill(server._process.pid, signal.SIGKILL)
    server._process.wait()
    with pytest.raises(ConnectionRefusedError, match=f"nobody listens on {server.address}"):
        Client(server.address).instance()
    server.close()


def test_a_server_that_was_killed_is_named() -> None:
    with Mynah(program=program()) as server:
        os.kill(server._process.pid, signal.SIGKILL)
        with pytest.raises(ServerEnded, match="mynah serve ended with signal 9; its last words: none"):
            server.instance()
        assert not server.is_running and '"ready"' in server.last_events[0]


def test_the_last_words_of_a_server_are_in_its_end(tmp_path: Path) -> None:
    stand_in = executable(
        tmp_path,
        """
        echo '{"event":"ready"}'
        for line in 1 2 3 4 5 6; do echo "line $line" >&2; done
        exit 3
        """,
    )
    with Mynah(program=stand_in) as server:
        with pytest.raises(ServerEnded) as failure:
            server.instance()
        assert str(failure.value).startswith("mynah serve ended with status 3; its last words: line 2\nline 3")
        assert server.log.startswith("line 1") and server.log_since(7).startswith("line 2")
    assert server.log.endswith("line 6") and server.ended is None


def test_a_program_that_prints_nothing_is_ended(tmp_path: Path) -> None:
    mute = executable(tmp_path, "echo no idea >&2; exec sleep 600")
    with pytest.raises(RuntimeError, match=f"{mute} was not ready after 0.5 s; its last words: no idea"):
        Mynah(program=mute, ready_within="500 ms")


@pytest.mark.parametrize(
    "end, how",
    [
        ("kill -KILL $$", "signal 9 before it was ready; its last words: so far"),
        ("exit 3", "status 3 before it was ready; its last words: so far"),
    ],
)
def test_a_program_that_ends_before_it_is_ready_is_named(tmp_path: Path, end: str, how: str) -> None:
    short = executable(tmp_path, f"echo so far >&2; {end}")
    with pytest.raises(RuntimeError, match=f"^mynah serve ended with {how}$"):
        Mynah(program=short)


def test_a_program_that_closes_its_output_is_named(tmp_path: Path) -> None:
    mute = executable(tmp_path, "exec sleep 600 >&-")
    with pytest.raises(RuntimeError, match=f"{mute} closed its output before it was ready"):
        Mynah(program=mute)


def test_a_program_that_is_stopped_before_it_is_ready_is_named(tmp_path: Path) -> None:
    stopped = executable(tmp_path, "kill -STOP $$; exec sleep 600")
    with pytest.raises(RuntimeError, match=r"mynah serve \(process \d+\) was stopped before it was ready"):
        Mynah(program=stopped)


@pytest.mark.parametrize(
    "options, words",
    [
        (["--colour"], "error: Unknown option '--colour'"),
        (["--radio", "vitrual"], "error: The value 'vitrual' is invalid for '--radio <radio>'"),
        (["--clock", "fast"], "error: --clock fast does not wait for clients"),
    ],
)
def test_the_last_words_of_wrong_options_are_the_error(options: list[str], words: str) -> None:
    with pytest.raises(RuntimeError) as failure:
        Mynah(program=program(), options=options)
    start, _, error = str(failure.value).partition("; its last words: ")
    assert start == "mynah serve ended with status 64 before it was ready"
    assert error.startswith(words) and len(error.splitlines()) == 1


def test_a_program_that_is_never_ready_is_ended(tmp_path: Path) -> None:
    busy = executable(tmp_path, "while :; do echo '{\"event\":\"warning\"}'; done")
    with pytest.raises(RuntimeError, match="was not ready after 0.5 s"):
        Mynah(program=busy, ready_within=0.5)


@pytest.mark.parametrize("time", [-1, -0.0001, "-1 s"])
def test_a_negative_time_is_refused(time: object) -> None:
    client = Client("unix:/nonexistent/mynah.sock")
    with pytest.raises(ValueError, match=f"a time is 0 or more, .*, not {time!r}"):
        client.wait("write", within=time)
    with pytest.raises(ValueError, match="a time is 0 or more"):
        Mynah(program=program(), ready_within=time)


@pytest.mark.parametrize("within", ["", "soon", "2", "2 days"])
def test_a_start_within_no_time_is_refused(within: object) -> None:
    with pytest.raises(ValueError, match="a time has a number and a unit"):
        Mynah(program=program(), ready_within=within)


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -float("inf"), 1e306, 10**400])
def test_a_time_without_an_end_is_refused(time: object) -> None:
    client = Client("unix:/nonexistent/mynah.sock")
    for call in (lambda: client.wait("write", within=time), lambda: client.advance(time)):
        with pytest.raises(ValueError, match="a time has an end, and .* has none"):
            call()
    with pytest.raises(ValueError, match="a time has an end"):
        Mynah(program=program(), ready_within=time)


@pytest.mark.parametrize("time", [None, True, b"2 s", [], 1j])
def test_what_is_no_time_is_refused(time: object) -> None:
    client = Client("unix:/nonexistent/mynah.sock")
    for call in (lambda: client.wait("write", within=time), lambda: client.advance(time)):
        with pytest.raises(TypeError, match='a time is a number of seconds, as 0.5, or text with a unit, as "2 s"'):
            call()


def test_a_number_that_json_has_not_is_refused() -> None:
    device = Device(Client("unix:/nonexistent/mynah.sock"), "Lamp")
    with pytest.raises(ValueError, match="a request takes finite numbers only, not NaN or infinity"):
        device.set_variable("level", float("nan"))


@pytest.mark.parametrize("clock", ["real", "manual"])
def test_a_server_that_is_stopped_is_named(clock: str) -> None:
    with Mynah(program=program(), clock=clock) as server:
        process = server._process.pid
        os.kill(process, signal.SIGSTOP)
        calls = [lambda: Client(server.address).instance(), lambda: server.wait("write", within="500 ms")]
        for call in calls:
            with pytest.raises(TimeoutError, match=f"process {process}. is stopped; .*kill -CONT {process}"):
                call()
        os.kill(process, signal.SIGCONT)
        assert server.instance()["devices"] == []
        # It is ended all the same.
        os.kill(process, signal.SIGSTOP)


def test_a_stopped_server_with_a_full_queue_is_named() -> None:
    with Mynah(program=program()) as server, ExitStack() as stack:
        os.kill(server._process.pid, signal.SIGSTOP)
        os.waitpid(server._process.pid, os.WUNTRACED)
        path = server.address[len("unix:") :]
        with pytest.raises(BlockingIOError):
            while True:
                connection = stack.enter_context(socket.socket(socket.AF_UNIX))
                connection.setblocking(False)
                connection.connect(path)
        with pytest.raises(TimeoutError, match="has no whole answer after 0.5 s"):
            server._request("GET", "/v1", None, 0.0, 0.5)


@pytest.mark.parametrize(
    "sent, pause",
    [
        (b"", 600),
        (b"HTTP/1.1 200 OK\r\n", 600),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", 600),
        # A byte now and then.
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n" + b" " * 1000000, 0.01),
    ],
)
def test_a_server_that_does_not_answer_is_not_waited_for_without_end(sent: bytes, pause: float) -> None:
    with foreign(sent, pause) as address:
        with pytest.raises(TimeoutError, match=f"GET /v1 at {address} has no whole answer after [0-9.]+ s"):
            Client(address)._request("GET", "/v1", None, 0.0, 0.3)


@pytest.mark.parametrize(
    "sent",
    [
        b"\0\xff garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 6\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + b"[" * 500_000,
        b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n{}",
    ],
)
def test_an_answer_that_is_not_mynahs_is_named(sent: bytes) -> None:
    with foreign(sent, None) as address:
        with pytest.raises(ConnectionError, match=f"GET /v1 at {address} has an answer that is not"):
            Client(address).instance()


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


DYING = """
    import os, signal, threading

    LAMP = {"mynah": 1, "name": "Lamp", "advertising": {"localName": "Lamp"}, "services": []}

    def kill(mynah):
        os.kill(mynah.client._process.pid, signal.SIGKILL)

    def test_before(mynah):
        mynah(LAMP)

    def test_in_a_wait(mynah):
        mynah(LAMP)
        mynah.wait("ready")
        threading.Timer(0.2, kill, [mynah]).start()
        mynah.wait("write", within="60 s")

    def test_after_it(mynah):
        mynah(LAMP)

    def test_that_does_not_notice(mynah):
        mynah(LAMP)
        kill(mynah)

    def test_after_that(mynah):
        mynah(LAMP)
        test_after_that.client = mynah.client

    def test_without_mynah():
        os.kill(test_after_that.client._process.pid, signal.SIGKILL)

    def test_at_the_end(mynah):
        mynah(LAMP)
    """


def test_the_end_of_a_server_is_told_where_it_happened(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(DYING)
    result = pytester.runpytest_subprocess("--mynah", program(), "-rA")
    # One fails, and the teardown of another, which passes by itself.
    result.assert_outcomes(passed=6, failed=1, errors=1, warnings=1)
    end = "mynah serve ended with signal 9; its last words: none"
    result.stdout.fnmatch_lines_random(
        [
            f"E * mynah.process.ServerEnded: {end}",
            "*ERROR at teardown of test_that_does_not_notice*",
            "*-- end of Mynah --*",
            "the last that it printed:",
            '{"time":*"event":"ready"*',
            "*-- capture of Mynah --*",
            f"*Warning: between two tests, {end}",
            "FAILED *::test_in_a_wait*",
        ]
    )


def test_a_server_that_does_not_answer_is_replaced(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, signal

        def test_that_stops_it(mynah):
            os.kill(mynah.client._process.pid, signal.SIGSTOP)
            mynah.wait("write", within=0)

        def test_after_it(mynah):
            assert mynah.client.instance()["devices"] == []
            test_after_it.client = mynah.client

        def test_without_mynah():
            os.kill(test_after_it.client._process.pid, signal.SIGSTOP)

        def test_after_that(mynah):
            assert mynah.client.instance()["devices"] == []
        """
    )
    result = pytester.runpytest_subprocess("--mynah", program())
    result.assert_outcomes(passed=3, failed=1, warnings=1)
    result.stdout.fnmatch_lines(["E *TimeoutError: POST /v1/wait at unix:* is stopped; continue it with: *"])


def test_a_failed_test_has_the_log_of_its_time(pytester: pytest.Pytester) -> None:
    real = executable(pytester.path, f'exec "{program()}" "$@" --log-level trace')
    pytester.makepyfile(
        """
        def test_before(mynah):
            mynah({"mynah": 1, "name": "Early", "advertising": {"localName": "Early"}, "services": []})

        def test_that_fails(mynah):
            mynah({"mynah": 1, "name": "Late", "advertising": {"localName": "Late"}, "services": []})
            assert "HCI" in mynah.client.log
            assert False, "the test's own failure"
        """
    )
    result = pytester.runpytest_subprocess("--mynah", real)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*-- log of Mynah --*", "*trace*"])


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
    result.stdout.fnmatch_lines(["*the test's own failure*", "mynah serve ended with signal 9; *"])
    result.assert_outcomes(failed=1)
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


def executable(folder: Path, script: str) -> str:
    """The path of a shell script in the place of a program."""
    path = folder / "program"
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return str(path)


@contextmanager
def foreign(sent: bytes, pause: float | None) -> Iterator[str]:
    """A server that is not Mynah: it sends these bytes, the last ones after pauses; without one it closes then."""
    ended = threading.Event()

    def serve() -> None:
        connection = listener.accept()[0]
        with connection:
            head = len(sent) if pause is None or pause > 1 else sent.find(b"\r\n\r\n") + 4
            try:
                connection.sendall(sent[:head])
                for byte in sent[head:]:
                    if ended.wait(pause):
                        return
                    connection.sendall(bytes([byte]))
                if pause is not None:
                    ended.wait(pause)
                else:
                    connection.recv(65536)
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ended.set()
            thread.join()


def program() -> str:
    return os.environ.get("MYNAH") or "mynah"
