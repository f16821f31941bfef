"""A connection to a server that may be stopped or slow, or is not Mynah: no wait on it is without end."""

from __future__ import annotations

import http.client
import io
import socket
import struct
import time
from urllib.parse import urlsplit

#: How long after the time that a server may take it is looked at, in seconds.
FIRST_LOOK = 2.0


class Patience:
    """The time that a request may take.

    The server keeps the time `within` itself, in seconds. A moment later, a server that is stopped is given
    up; any other has the time of `grace`.
    """

    def __init__(self, request: str, within: float, grace: float) -> None:
        self._request = request
        self._start = time.monotonic()
        self._look = self._start + within + min(FIRST_LOOK, grace)
        #: All of it, in seconds.
        self.whole = within + grace
        self._end = self._start + self.whole

    def left(self) -> float:
        """The seconds until `check` is to be called again."""
        return max(0.001, self._look - time.monotonic())

    def check(self, connection: socket.socket) -> None:
        """Raises `TimeoutError` if the time is over, or if it is time to look and the server is stopped."""
        now = time.monotonic()
        if now < self._look:
            return
        if process := _stopped_peer(connection):
            raise TimeoutError(
                f"{self._request} has no answer, because mynah (process {process}) is stopped; "
                f"continue it with: kill -CONT {process}"
            )
        if now >= self._end:
            raise TimeoutError(
                f"{self._request} has no whole answer after {now - self._start:.1f} s: the program there hangs, "
                "or is not mynah"
            )
        self._look = self._end


def _stopped_peer(connection: socket.socket) -> int | None:
    """The process at the other end of a Unix socket, if a signal has stopped it."""
    if connection.family != socket.AF_UNIX:
        return None
    try:
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except OSError:
        return None
    process: int = struct.unpack("3i", peer)[0]
    return process if is_stopped(process) else None


def is_stopped(process: int) -> bool:
    """Whether a signal has stopped a process."""
    try:
        with open(f"/proc/{process}/stat", "rb") as status:
            # The name of the program, in brackets, may have any characters.
            return status.read().rpartition(b")")[2].split()[0] == b"T"
    except (OSError, IndexError):
        return False


class _Reader(io.RawIOBase):
    """The bytes that a socket receives, as long as the patience lasts."""

    def __init__(self, connection: socket.socket, patience: Patience) -> None:
        self._connection = connection
        self._patience = patience

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while True:
            # Also if something comes: a server that sends a byte now and then has no more time than others.
            self._patience.check(self._connection)
            self._connection.settimeout(self._patience.left())
            try:
                return self._connection.recv_into(buffer)
            except socket.timeout:
                pass


class _Socket:
    """A socket as `HTTPConnection` uses it, which closes it before the answer is read."""

    def __init__(self, connection: socket.socket, patience: Patience) -> None:
        self.connection = connection
        self._patience = patience

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._patience.check(self.connection)
            self.connection.settimeout(self._patience.left())
            try:
                rest = rest[self.connection.send(rest) :]
            except socket.timeout:
                pass

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self.connection, self._patience))

    def close(self) -> None:
        pass


class Connection(http.client.HTTPConnection):
    """A connection for one request, to `unix:PATH` or `http://HOST:PORT`; `end` closes it."""

    def __init__(self, address: str, patience: Patience) -> None:
        self._path = address[len("unix:") :] if address.startswith("unix:") else None
        self._patience = patience
        self._connection: socket.socket | None = None
        if self._path is not None:
            super().__init__("localhost")
            return
        parts = urlsplit(address if "//" in address else "http://" + address)
        super().__init__(parts.hostname or "127.0.0.1", parts.port)

    def connect(self) -> None:
        self._connection = self._tcp() if self._path is None else self._unix(self._path)
        self.sock = _Socket(self._connection, self._patience)  # type: ignore[assignment]

    def _tcp(self) -> socket.socket:
        try:
            return socket.create_connection((self.host, self.port), self._patience.whole)
        except socket.timeout:
            raise TimeoutError(f"nobody at {self.host}:{self.port} takes a connection") from None

    def _unix(self, path: str) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            while True:
                self._patience.check(connection)
                # With a timeout of Python's it would not wait for room in the queue of a busy server.
                left = self._patience.left()
                limit = struct.pack("ll", int(left), int(left % 1 * 1_000_000))
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
                try:
                    connection.connect(path)
                    return connection
                except BlockingIOError:
                    pass
        except (FileNotFoundError, ConnectionRefusedError) as error:
            connection.close()
            message = f"nobody listens on unix:{path}; start mynah serve, or mynah run --control"
            raise type(error)(error.errno, message) from error
        except BaseException:
            connection.close()
            raise

    def detach(self) -> socket.socket:
        """The socket, which is then the caller's to close."""
        assert self._connection is not None
        connection, self._connection = self._connection, None
        return connection

    def end(self) -> None:
        """Closes it, with what is still to be read."""
        if self._connection is not None:
            self._connection.close()
