"""The built program, a phone that never confirms, and a controller that is killed."""

import asyncio
import os
import tempfile
from pathlib import Path

from bumble import hci
from bumble.device import Peer

from stacks.netsim import Run
from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, Rootcanal, open_host

SILENT = "a phone that confirms no indication holds back nothing of another's"
LONG = "a request for thousands of values is refused, and one for as many as fit is answered"
KILLED = "a controller that is killed and started again advertises the device"

PROFILE = """
mynah: 1
name: Busy
advertising: {localName: Busy, interval: 20 ms}
services:
  - uuid: FFE0
    characteristics:
      - {uuid: FFE1, properties: [indicate], value: {hex: 01}, every: 10 ms}
      - {uuid: FFE2, properties: [notify], value: {hex: 02}, every: 10 ms}
      - {uuid: FFE3, properties: [read], value: {hex: 03}}
      - {uuid: FFE4, properties: [read, write], value: {hex: 04}}
"""


class Program:
    """`mynah run` on a controller of a place."""

    path: Path

    def __init__(self, place: Place, profile: str = PROFILE, *options: str) -> None:
        self.place, self.profile, self.options = place, profile, options

    async def __aenter__(self) -> Run:
        self.directory = tempfile.TemporaryDirectory(prefix="mynah-program-")
        profile = Path(self.directory.name) / "device.yaml"
        profile.write_text(self.profile)
        address = (await self.place.address()).replace("tcp-client", "hci:tcp-client")
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"}
        self.run = await Run.start(Program.path, environment, profile, "--radio", address, *self.options)
        await self.run.until(lambda event: event["event"] == "ready")
        return self.run

    async def __aexit__(self, *error) -> None:
        try:
            await self.run.end()
        finally:
            self.directory.cleanup()


class Subscriber(Phone):
    """A phone that subscribes to everything that Busy sends, and counts it."""

    def __init__(self, transport, number: int) -> None:
        super().__init__(transport, hci.Address(f"F5:F4:F3:F2:F1:F{number}"))
        self.counts = {"FFE1": 0, "FFE2": 0}
        self.more = asyncio.Event()

    async def subscribe_to_all(self, confirms: bool = True) -> None:
        await self.start()
        await self.connect(await self.find("Busy"))
        peer = Peer(self.connection)
        if not confirms:
            peer.gatt_client.on_att_handle_value_indication = lambda indication: None
        await peer.discover_services()
        for service in peer.services:
            await service.discover_characteristics()
            for each in service.characteristics:
                name = each.uuid.to_hex_str().upper()
                if name == "FFE3":
                    self.readable = each
                if name == "FFE4":
                    self.stored = each
                if name in self.counts:
                    await each.discover_descriptors()
                    await each.subscribe(lambda value, name=name: self.count(name), prefer_notify=name == "FFE2")

    def count(self, name: str) -> None:
        self.counts[name] += 1
        self.more.set()

    async def until_counted(self, more: int, *names: str) -> None:
        wanted = {name: self.counts[name] + more for name in names or self.counts}
        while any(self.counts[name] < count for name, count in wanted.items()):
            self.more.clear()
            await self.more.wait()


async def confirms_nothing(place: Place) -> None:
    """More indications than wait for a client at most go to the other phone, and more notifications, and its reads are answered."""
    async with Program(place):
        silent, other = [Subscriber(await open_host(await place.address()), number) for number in range(2)]
        try:
            await silent.subscribe_to_all(confirms=False)
            await other.subscribe_to_all()
            for _ in range(3):
                await other.until_counted(100)
                assert bytes(await other.readable.read_value()) == b"\x03"
            # An unconfirmed indication does not delay notifications to it either.
            await silent.until_counted(100, "FFE2")
        finally:
            await silent.stop()
            await other.stop()


async def asks_for_thousands(place: Place) -> None:
    """Each value is asked of the player, because it can be written."""
    async with Program(place):
        phone = Subscriber(await open_host(await place.address()), 0)
        try:
            await phone.subscribe_to_all()
            client = phone.peer.gatt_client
            handle = phone.stored.handle.to_bytes(2, "little")
            answers: asyncio.Queue[bytes] = asyncio.Queue()
            dispatch = client.on_gatt_pdu

            def take(pdu) -> None:
                if pdu.op_code in (0x01, 0x21):
                    answers.put_nowait(bytes(pdu))
                else:
                    dispatch(pdu)

            client.on_gatt_pdu = take
            mtu = await client.request_mtu(517)
            for opcode, count in ((0x20, 20_000), (0x20, (mtu - 1) // 2), (0x20, 20_000)):
                phone.device.send_l2cap_pdu(phone.connection.handle, 4, bytes([opcode]) + handle * count)
                answer = await asyncio.wait_for(answers.get(), PATIENCE)
                if count == 20_000:
                    assert answer == b"\x01\x20\x00\x00\x04", answer[:8]
                else:
                    assert answer == b"\x21" + (b"\x01\x00\x04" * count)[: mtu - 1], f"{len(answer)} bytes"
            assert bytes(await phone.readable.read_value()) == b"\x03"
        finally:
            await phone.stop()


async def comes_back(place: Rootcanal) -> None:
    """The device is reported as advertised again, and a phone finds it."""
    async with Program(place) as run:
        for _ in range(2):
            port = place.port
            await Rootcanal.close(place)
            await run.until(lambda event: event["event"] == "radio.lost")
            await place.start_again(port)
            await run.until(lambda event: event["event"] == "radio.recovered")
            await run.until(lambda event: event["event"] == "advertising.started")
            phone = Subscriber(await open_host(await place.address()), 0)
            try:
                await phone.subscribe_to_all()
                await phone.until_counted(5)
            finally:
                await phone.stop()
