"""An event stream that holds the phones of a client: they end when it does, however that ends."""

from __future__ import annotations

import secrets
import socket
import threading
from contextlib import suppress
from urllib.parse import urlencode

from ._connection import Connection, Patience

#: How long an instance may take to begin the stream, in seconds.
_GRACE = 90.0
#: A match of no event: the stream is there for its end alone.
_NOTHING = "error code=held"


class Hold:
    """An open stream, and its name, which phones have as their holder."""

    def __init__(self, address: str, token: str | None) -> None:
        #: The holder of the phones.
        self.name = f"py-{secrets.token_hex(8)}"
        path = "/v1/events?" + urlencode({"hold": self.name, "match": _NOTHING})
        connection = Connection(address, Patience(f"GET {path} at {address}", 0.0, _GRACE))
        try:
            headers = {"Accept": "text/event-stream"}
            if token is not None:
                headers["Authorization"] = f"Bearer {token}"
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            # The stream holds phones once its first bytes have come.
            if response.status != 200 or not response.read(1):
                raise ConnectionError(f"GET {path} at {address} has no event stream: status {response.status}")
        except BaseException:
            connection.end()
            raise
        self._socket = connection.detach()
        self._is_open = [True]
        # The thread keeps no reference to this object, whose end is the end of the stream.
        reading = (self._socket, self._is_open)
        threading.Thread(target=_read, args=reading, name="mynah-hold", daemon=True).start()

    @property
    def is_open(self) -> bool:
        """Whether the instance still sends."""
        return self._is_open[0]

    def close(self) -> None:
        """Ends the stream, and the phones with it."""
        with suppress(OSError, AttributeError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def __del__(self) -> None:
        self.close()


def _read(connection: socket.socket, is_open: list[bool]) -> None:
    """Reads on, because the instance ends a stream that is not read."""
    with connection, suppress(OSError):
        connection.settimeout(None)
        while connection.recv(1 << 16):
            pass
    is_open[0] = False
