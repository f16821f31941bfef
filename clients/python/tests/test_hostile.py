"""Hostile requests over a Unix socket and over TCP, while a phone stays subscribed to a device."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

from mynah import Client, Problem
from profiles import app

STRAP = {
    "mynah": 1,
    "name": "Strap",
    "advertising": {"serviceUUIDs": ["heart-rate"], "interval": "20 ms"},
    "services": [
        {
            "uuid": "heart-rate",
            "characteristics": [
                {
                    "uuid": "2A37",
                    "properties": ["notify"],
                    "value": {"hex": "0048"},
                    "every": "50 ms",
                }
            ],
        }
    ],
}

PHONE = app(
    "Phone",
    "heart-rate",
    {
        "name": "Strap",
        "match": {"services": ["heart-rate"]},
        "subscribe": ["heart-rate/heart-rate-measurement"],
    },
)

#: Longer than every limit of the server.
PATIENCE = 120.0


class Server:
    """A `mynah serve` that a test attacks."""

    def __init__(self, address: str, directory: Path) -> None:
        program = os.environ.get("MYNAH") or "mynah"
        self.process = subprocess.Popen(
            [program, "serve", "--with-parent", "--radio", "virtual", "--control", address]
            + ["--events", "json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=dict(os.environ, MYNAH_AIR=str(directory)),
        )
        assert self.process.stdout is not None
        self.address: str = json.loads(self.process.stdout.readline())["control"]
        # The journal has the events too.
        self.drain = subprocess.Popen(
            ["cat"], stdin=self.process.stdout, stdout=subprocess.DEVNULL
        )
        self.client = Client(self.address)
        self.client.add(STRAP)
        self.client.add(PHONE)
        self.client.wait("value.updated device=Phone", within=30)

    @property
    def is_unix(self) -> bool:
        return self.address.startswith("unix:")

    @property
    def host(self) -> str:
        return "localhost" if self.is_unix else self.address[len("http://") :]

    def connect(self) -> socket.socket:
        if self.is_unix:
            connection = socket.socket(socket.AF_UNIX)
            target: Any = self.address[len("unix:") :]
        else:
            connection = socket.socket()
            host, port = self.host.rsplit(":", 1)
            target = (host, int(port))
        # A connection with a timeout would not wait for room in the queue of a Unix socket.
        connection.connect(target)
        connection.settimeout(PATIENCE)
        return connection

    def send(self, data: bytes) -> bytes:
        """Sends bytes, and returns what comes until the server closes the connection."""
        with self.connect() as connection:
            try:
                connection.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                # It was refused before it was complete.
                pass
            return rest(connection)

    def head(self, line: str, *fields: str, host: str | None = None) -> bytes:
        lines = [f"{line} HTTP/1.1", f"Host: {host or self.host}", "Connection: close", *fields]
        return "\r\n".join([*lines, "", ""]).encode()

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            assert self.process.wait(60) == 0
        finally:
            self.process.kill()
            self.drain.wait(60)


def rest(connection: socket.socket) -> bytes:
    received = b""
    try:
        while part := connection.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return received


def status(answer: bytes) -> int:
    assert answer.startswith(b"HTTP/1."), answer[:200]
    return int(answer.split(b" ", 2)[1])


@pytest.fixture(scope="module", params=["unix", "tcp"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    directory = tmp_path_factory.mktemp("air")
    server = Server(f"unix:{directory}/s" if request.param == "unix" else "127.0.0.1:0", directory)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def server(running: Server) -> Iterator[Server]:
    start = running.client.mark("attack")
    yield running
    # The phone still gets values, and its link and its subscription have not ended.
    running.client.wait("value.updated device=Phone", count=3, since=start, within=60)
    afterwards = running.client.mark("afterwards")
    running.client.wait("value.updated device=Phone", count=3, since=afterwards, within=60)
    for event in ("central.disconnected", "unsubscribed", "error"):
        running.client.verify(event, never=True, since=start)


def test_a_request_line_of_2_mb_is_refused(server: Server) -> None:
    assert status(server.send(server.head("GET /" + "a" * (2 << 20)))) == 431


def test_endless_headers_are_refused(server: Server) -> None:
    fields = [f"X-{number}: {number}" for number in range(100_000)]
    assert status(server.send(server.head("GET /v1", *fields))) == 431


def test_a_body_of_10_to_the_12_bytes_is_refused_before_it_comes(server: Server) -> None:
    length = f"Content-Length: {10**12}"
    assert status(server.send(server.head("POST /v1/mark", length))) == 413


def test_half_a_head_is_refused_after_its_time(server: Server) -> None:
    assert status(server.send(b"GET /v1 HTTP/1.1\r\nHos")) == 408


def test_a_body_that_stops_half_way_holds_nobody_up(server: Server) -> None:
    fields = ["Content-Type: application/json", "Content-Length: 100"]
    with server.connect() as connection:
        connection.sendall(server.head("POST /v1/mark", *fields) + b"{")
        assert server.client.instance()["devices"] == ["Strap", "Phone"]


def test_a_thousand_idle_connections_leave_the_server_as_it_was(server: Server) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 1200 if hard == resource.RLIM_INFINITY else min(1200, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    connections = []
    try:
        for _ in range(1000):
            connections.append(server.connect())
        # There is room for 64; all others are refused at once.
        assert status(rest(connections[-1])) == 503
    finally:
        for connection in connections:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert until_served(server)["devices"] == ["Strap", "Phone"]


def test_another_host_is_refused_over_tcp(server: Server) -> None:
    expected = 200 if server.is_unix else 421
    assert status(server.send(server.head("GET /v1", host="evil.example"))) == expected


@pytest.mark.parametrize("field", ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"])
def test_a_web_page_is_refused(server: Server, field: str) -> None:
    assert status(server.send(server.head("GET /v1", field))) == 403


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../../../etc/passwd", "/proc/self/mem"])
def test_a_file_that_is_no_profile_is_refused(server: Server, path: str) -> None:
    with pytest.raises(Problem) as problem:
        server.client._request("POST", "/v1/devices", {"profile": path})
    assert problem.value.status == (400 if server.is_unix else 403)
    # On a Unix socket the client is the user, who may read the file.
    assert server.is_unix or "root:" not in json.dumps(problem.value.members)


def test_with_few_free_descriptors_connections_are_refused_and_the_server_goes_on(server: Server) -> None:
    identifier = server.process.pid
    # As `ulimit -n` would, but for a process that runs: room for eight connections beside the reserve of 16.
    used = len(os.listdir(f"/proc/{identifier}/fd"))
    soft, hard = resource.prlimit(identifier, resource.RLIMIT_NOFILE)
    resource.prlimit(identifier, resource.RLIMIT_NOFILE, (used + 24, hard))
    request = server.head("GET /v1/health").replace(b"close", b"keep-alive")
    connections = []
    try:
        statuses = []
        for _ in range(32):
            connections.append(server.connect())
            try:
                connections[-1].sendall(request)
                statuses.append(status(connections[-1].recv(65536)))
            except (BrokenPipeError, ConnectionResetError):
                # It was refused before the request was sent.
                statuses.append(503)
        assert statuses[0] == 200 and statuses[-1] == 503, statuses
        # libdispatch needs a descriptor once a second, and ends a process that has none.
        time.sleep(3)
        assert server.process.poll() is None
        for connection in connections:
            connection.close()
        assert until_served(server)["devices"] == ["Strap", "Phone"]
    finally:
        for connection in connections:
            connection.close()
        resource.prlimit(identifier, resource.RLIMIT_NOFILE, (soft, hard))


def until_served(server: Server) -> dict[str, Any]:
    """The instance, after the connections that were closed are forgotten."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return server.client.instance()
        except (Problem, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
