"""Where a host finds a controller: ours, Bumble's, or rootcanal's. All that one place makes are in reach of each other."""

import asyncio
import contextlib
import os
import socket
import tempfile

from bumble import hci
from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.common import StreamPacketSource

from stacks import packages
from stacks.helper import Helper


class Place:
    """Opened once for each check."""

    name = ""
    # Whether an identity address that hosts gave themselves is kept through an exchange of keys.
    reason = ""

    async def open(self) -> None: ...

    async def address(self) -> str:
        """Of a controller that nobody has yet, as both sides write it."""
        raise NotImplementedError

    async def our_address(self) -> str:
        """The same, as our side is told it."""
        return await self.address()

    # For our side's processes; None: as this one's.
    environment: dict[str, str] | None = None

    async def close(self) -> None: ...


class Ours(Place):
    """`mynah-interop controllers`."""

    name = "our controllers"

    async def open(self) -> None:
        self.helper = await Helper.start("controllers", "tcp-server:0")
        self.port = await self.helper.until("listening")

    async def address(self) -> str:
        return f"tcp-client:127.0.0.1:{self.port}"

    async def close(self) -> None:
        await self.helper.end()


class Sink:
    """Packets of a Bumble controller for its host, on their way to the socket."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self.transport = transport

    def on_packet(self, packet: bytes) -> None:
        self.transport.write(bytes(packet))


class Guest(asyncio.Protocol):
    """A host that came over the socket."""

    def __init__(self, place: "Bumbles") -> None:
        self.place = place

    def connection_made(self, transport) -> None:
        self.place.count += 1
        address = hci.Address(f"C0:00:00:00:00:{self.place.count:02X}", hci.Address.PUBLIC_DEVICE_ADDRESS)
        self.source = StreamPacketSource()
        self.controller = Controller(
            f"C{self.place.count}", host_source=self.source, host_sink=Sink(transport), link=self.place.link,
            public_address=address,
        )  # fmt: skip
        # Bumble's link names the sender of a packet by this address, also where the public one is in use.
        self.controller.random_address = address
        self.source.set_packet_sink(self.controller)
        self.transport = transport
        self.place.guests.append(self)

    def data_received(self, data: bytes) -> None:
        self.source.data_received(data)

    def connection_lost(self, error) -> None:
        with contextlib.suppress(Exception):
            self.place.link.remove_controller(self.controller)


class Bumbles(Place):
    """Bumble's controllers on its link, on a socket of this process."""

    name = "Bumble's controllers"

    async def open(self) -> None:
        self.link, self.count, self.guests = LocalLink(), 0, []
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Guest(self), "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def address(self) -> str:
        return f"tcp-client:127.0.0.1:{self.port}"

    async def close(self) -> None:
        self.server.close()
        for guest in self.guests:
            guest.transport.abort()


class Rootcanal(Place):
    """The Android emulator's controllers, as a process."""

    name = "rootcanal"

    async def open(self) -> None:
        for _ in range(5):
            if await self.launch(free_ports(4)):
                return
        raise AssertionError("rootcanal does not listen")

    async def start_again(self, port: int) -> None:
        assert await self.launch([port, *free_ports(3)]), "rootcanal does not listen again"

    async def launch(self, ports: list[int]) -> bool:
        program = packages.rootcanal()
        assert program is not None
        self.work = tempfile.TemporaryDirectory(prefix="mynah-interop-")
        self.process = await asyncio.create_subprocess_exec(
            str(program), *(f"-{name}={port}" for name, port in zip(
                ("hci_port", "test_port", "link_port", "link_ble_port"), ports, strict=True)),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL, cwd=self.work.name,
        )  # fmt: skip
        self.port = ports[0]
        if await self.listens():
            return True
        await Rootcanal.close(self)
        return False

    async def listens(self) -> bool:
        # It says nothing that a program could wait for.
        for _ in range(200):
            if self.process.returncode is not None:
                return False
            if listening(self.port):
                return True
            await asyncio.sleep(0.025)
        return False

    async def address(self) -> str:
        return f"tcp-client:127.0.0.1:{self.port}"

    async def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        self.work.cleanup()


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def listening(port: int) -> bool:
    """Whether somebody listens there, found without connecting: rootcanal makes a controller of each connection."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not os.path.exists(table):
            continue
        with open(table) as lines:
            if any(f":{port:04X} " in line.split()[1] + " " and line.split()[3] == "0A" for line in lines):
                return True
    return False


async def open_host(address: str):
    """A Bumble host's line to a controller."""
    return await open_transport(address)
