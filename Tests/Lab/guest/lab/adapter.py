"""The adapter: a virtual controller that can be removed and added again, on /dev/vhci or a socket."""

import asyncio
import contextlib
import fcntl
import os
import socket
import struct
from pathlib import Path

from bumble import hci
from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport.common import StreamPacketSource
from bumble.transport.vhci import open_vhci_transport

from lab.air import Air
from lab.events import TimedOut

ADDRESS = hci.Address("C0:DE:00:00:00:01", hci.Address.PUBLIC_DEVICE_ADDRESS)
SETS = 4

# The kernel's ioctl HCIGETDEVINFO, and two bits of the flags that it gives.
GET_DEVICE_INFO = 0x800448D3
UP, INITIALISING = 1, 2


class PeripheralController(Controller):
    """A controller with as many advertising sets as real ones have."""

    def on_hci_le_read_number_of_supported_advertising_sets_command(self, command):
        answer = super().on_hci_le_read_number_of_supported_advertising_sets_command(command)
        answer.num_supported_advertising_sets = SETS
        return answer


class Adapter:
    """On /dev/vhci, as the kernel's hci0: bluetoothd's, or taken whole by `radio`."""

    def __init__(self, link: LocalLink, air: Air, radio: str, address: hci.Address = ADDRESS) -> None:
        self.link = link
        self.address = address
        self.air = air
        # How mynah is told to reach it.
        self.radio = radio
        self.transport = None
        self.controller: PeripheralController | None = None

    async def plug_in(self) -> None:
        self.transport = await open_vhci_transport(None)
        self.sink = KernelSink(self.transport.sink.transport.get_extra_info("pipe").fileno())
        self.switch_on()

    async def until_set_up(self, since: int = 0, within: float = 60) -> None:
        """Waits until the kernel has asked a new adapter for what it can, and leaves it off: then it can be taken whole.

        A controller that answers late meanwhile, because the driver is busy, is one the kernel gives up. `since` is the
        count of packets from before the adapter was there."""
        await self.air.signal.until(lambda: len(self.air.packets) > since, "the kernel's first command", within)
        deadline = asyncio.get_running_loop().time() + within
        with socket.socket(socket.AF_BLUETOOTH, socket.SOCK_RAW, socket.BTPROTO_HCI) as control:
            # The kernel tells of the end of this in no event.
            while self.flags(control) & (UP | INITIALISING):
                if asyncio.get_running_loop().time() > deadline:
                    raise TimedOut(f"the kernel's setup of the adapter: not within {within:g} s")
                await asyncio.sleep(0.05)

    @staticmethod
    def flags(control: socket.socket) -> int:
        info = fcntl.ioctl(control, GET_DEVICE_INFO, bytes(92))
        return struct.unpack_from("<I", info, 16)[0]

    def switch_on(self) -> None:
        self.controller = PeripheralController("adapter", link=self.link, public_address=self.address)
        # Bumble's link names the sender of a packet by this address, also where the public one is in use.
        self.controller.random_address = self.address
        # The two ends of the HCI line, with the air's ear on both.
        self.transport.source.set_packet_sink(Tap(self.air, True, self.controller))
        self.controller.host = Tap(self.air, False, self.sink)

    async def pull_out(self) -> None:
        assert self.controller is not None and self.transport is not None
        for connection in list(self.controller.le_connections.values()):
            connection.send_ll_control_pdu(terminate())
        for each in self.controller.advertising_sets.values():
            each.stop()
        self.controller.le_legacy_advertiser.stop()
        self.controller.host = None
        self.link.remove_controller(self.controller)
        await self.close()
        self.controller = self.transport = None
        self.air.unplugged()

    async def close(self) -> None:
        await self.transport.close()


class KernelSink:
    """To the kernel, which takes no packets of an adapter that is down; nobody misses those."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def on_packet(self, packet: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self.descriptor, packet)


class SocketAdapter(Adapter):
    """Behind a socket of this machine, for one host at a time; a reset controller for each."""

    def __init__(self, link: LocalLink, air: Air, address: hci.Address = ADDRESS) -> None:
        super().__init__(link, air, "", address)
        self.port = 0
        self.server: asyncio.Server | None = None
        self.guest: asyncio.BaseTransport | None = None

    async def plug_in(self) -> None:
        loop = asyncio.get_running_loop()
        self.source, self.sink = StreamPacketSource(), SocketSink()
        self.transport = self
        self.switch_on()
        self.server = await loop.create_server(lambda: Guest(self), "127.0.0.1", self.port, reuse_address=True)
        self.port = self.server.sockets[0].getsockname()[1]
        self.radio = f"hci:tcp-client:127.0.0.1:{self.port}"

    async def close(self) -> None:
        assert self.server is not None
        self.server.close()
        if self.guest is not None:
            self.guest.abort()

    def left(self) -> None:
        """The host is gone: what it had on the air ends with it, as with a controller that loses its power."""
        self.guest = self.sink.transport = None
        if self.controller is None:
            return
        for connection in list(self.controller.le_connections.values()):
            connection.send_ll_control_pdu(terminate())
        with contextlib.suppress(Exception):
            self.controller.on_packet(bytes(hci.HCI_Reset_Command()))
        self.air.unplugged()


class SocketSink:
    transport: asyncio.WriteTransport | None = None

    def on_packet(self, packet: bytes) -> None:
        if self.transport is not None:
            self.transport.write(bytes(packet))


class Guest(asyncio.Protocol):
    """A host that came over the socket."""

    def __init__(self, adapter: SocketAdapter) -> None:
        self.adapter = adapter

    def connection_made(self, transport) -> None:
        self.adapter.guest = self.adapter.sink.transport = transport

    def data_received(self, data: bytes) -> None:
        self.adapter.source.data_received(data)

    def connection_lost(self, error) -> None:
        self.adapter.left()


def terminate():
    from bumble import ll

    return ll.TerminateInd(hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)


class Tap:
    """Passes packets on and lets the air hear them."""

    def __init__(self, air: Air, from_kernel: bool, sink) -> None:
        self.air = air
        self.from_kernel = from_kernel
        self.sink = sink

    def on_packet(self, packet: bytes) -> None:
        self.air.record(self.from_kernel, bytes(packet))
        self.sink.on_packet(packet)


class RadioSwitch:
    """The kernel's rfkill switch of all Bluetooth adapters. See linux/rfkill.h: change all, type Bluetooth."""

    @staticmethod
    def block(blocked: bool) -> None:
        event = (0).to_bytes(4, "little") + bytes([2, 3, int(blocked), 0])
        descriptor = os.open("/dev/rfkill", os.O_WRONLY)
        try:
            os.write(descriptor, event)
        finally:
            os.close(descriptor)


def adapters() -> list[str]:
    folder = Path("/sys/class/bluetooth")
    return sorted(each.name for each in folder.iterdir() if ":" not in each.name) if folder.is_dir() else []
