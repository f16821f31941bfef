"""Updates of the built program: PyPI's smpclient with MCUmgr, and Nordic's secure DFU from a client of ours."""

import asyncio
import hashlib
import os
import struct
import zlib
from functools import partial
from pathlib import Path

from bumble import hci
from bumble.device import Peer

from stacks import packages
from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, open_host
from stacks.program import Program

CLIENT = Path(__file__).resolve().parent.parent / "mcumgr-client"
MTUS = [23, 185, 517]

PROFILE = """
mynah: 1
name: Updated
advertising: {{localName: Updated, interval: 20 ms}}
services:
  - use: {}
"""


async def uploads(place: Place, mtu: int) -> None:
    async with Program(place, PROFILE.format("mcumgr")):
        environment = {**os.environ, "PYTHONPATH": str(packages.smpclient()), "PYTHONDONTWRITEBYTECODE": "1"}
        client = await asyncio.create_subprocess_exec(
            str(CLIENT), await place.address(), "Updated", str(mtu), env=environment, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        try:
            said, _ = await client.communicate()
        except BaseException:
            client.kill()
            raise
        assert client.returncode == 0, said.decode(errors="replace")


# Nordic's secure DFU: nRF5 SDK 17.1, "DFU Transport", "BLE" and "Request handling"; and the init packet of dfu-cc.proto.
POINT, PACKET = "8EC90001-F315-4F60-9FB8-838830DAEA50", "8EC90002-F315-4F60-9FB8-838830DAEA50"
CREATE, SET_RECEIPTS, CHECKSUM, EXECUTE, SELECT = 1, 2, 3, 4, 6
COMMAND, DATA = 1, 2
SUCCESS = b"\x01"
RECEIPTS = 5
FIRMWARE = bytes(each * 31 >> 3 & 0xFF for each in range(10_000))


def number(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + number(value >> 7)


def field(key: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value


def init_packet(version: int = 1, hardware: int = 52) -> bytes:
    digest = field(1, 3) + field(2, hashlib.sha256(FIRMWARE).digest()[::-1])
    init = field(1, version) + field(2, hardware) + field(3, number(0x100)) + field(4, 0) + field(7, len(FIRMWARE))
    command = field(1, 1) + field(2, init + field(8, digest) + field(9, 0))
    return field(2, field(1, command) + field(2, 0) + field(3, bytes(64)))


class Updater(Phone):
    """A phone with an app that updates devices."""

    async def meet(self, mtu: int) -> None:
        self.came: asyncio.Queue[bytes] = asyncio.Queue()
        await self.connect(await self.find("Updated"))
        self.peer = Peer(self.connection)
        # 23 is the one that a link begins with.
        assert mtu == 23 or await self.peer.request_mtu(mtu) == mtu
        self.size = min(mtu - 3, 512)
        await self.peer.discover_services()
        self.found = {}
        for service in self.peer.services:
            await service.discover_characteristics()
            self.found |= {each.uuid.to_hex_str("-").upper(): each for each in service.characteristics}
        point = self.found[POINT]
        await point.discover_descriptors()
        await point.subscribe(lambda value: self.came.put_nowait(bytes(value)))
        assert await self.ask(SET_RECEIPTS, struct.pack("<H", RECEIPTS)) == SUCCESS

    async def ask(self, opcode: int, parameters: bytes = b"") -> bytes:
        """The result, and what follows it."""
        await self.found[POINT].write_value(bytes([opcode]) + parameters, with_response=True)
        return await self.response(opcode)

    async def response(self, opcode: int) -> bytes:
        value = await asyncio.wait_for(self.came.get(), PATIENCE)
        assert value[:2] == bytes([0x60, opcode]), value.hex()
        return value[2:]

    async def checksum(self, whole: bytes) -> None:
        """The device has all of this."""
        assert await self.ask(CHECKSUM) == SUCCESS + struct.pack("<II", len(whole), zlib.crc32(whole))

    async def select(self, kind: int) -> tuple[int, int, int]:
        """The greatest length of an object, the offset, and the CRC."""
        answer = await self.ask(SELECT, bytes([kind]))
        assert answer[:1] == SUCCESS, answer.hex()
        return struct.unpack("<III", answer[1:])

    async def write(self, whole: bytes, start: int, end: int, most: int | None = None) -> None:
        """Part of an object, in packets, of which every fifth has a receipt; only the first ones if there is a limit."""
        for count, offset in enumerate(range(start, end, self.size), 1):
            if most is not None and count > most:
                return
            part = whole[offset : min(offset + self.size, end)]
            await self.found[PACKET].write_value(part, with_response=False)
            if count % RECEIPTS == 0:
                sofar = whole[: offset + len(part)]
                receipt = await self.response(CHECKSUM)
                assert receipt == SUCCESS + struct.pack("<II", len(sofar), zlib.crc32(sofar)), receipt.hex()

    async def create(self, kind: int, length: int) -> None:
        assert await self.ask(CREATE, struct.pack("<BI", kind, length)) == SUCCESS

    async def begin(self, packet: bytes) -> bytes:
        """Transfers what the device lacks of an init packet, and executes it."""
        longest, offset, crc = await self.select(COMMAND)
        assert len(packet) <= longest == 512
        if offset == 0 or crc != zlib.crc32(packet[:offset]):
            await self.create(COMMAND, len(packet))
            offset = 0
        if offset:
            # The receipts count from here.
            assert await self.ask(SET_RECEIPTS, struct.pack("<H", RECEIPTS)) == SUCCESS
        await self.write(packet, offset, len(packet))
        await self.checksum(packet)
        return await self.ask(EXECUTE)

    async def transfer(self, firmware: bytes, packets: int | None = None) -> bytes:
        """Transfers what the device lacks of the firmware, or so many packets of it; returns the last response."""
        longest, offset, crc = await self.select(DATA)
        assert longest == 4096 and crc == zlib.crc32(firmware[:offset]), f"{longest} {offset} {crc:08X}"
        assert await self.ask(SET_RECEIPTS, struct.pack("<H", RECEIPTS)) == SUCCESS
        result = SUCCESS
        while offset < len(firmware):
            end = min((offset // longest + 1) * longest, len(firmware))
            if offset % longest == 0:
                await self.create(DATA, end - offset)
            await self.write(firmware, offset, end, packets)
            if packets is not None:
                return result
            await self.checksum(firmware[:end])
            result = await self.ask(EXECUTE)
            offset = end
        return result


async def updates(place: Place, mtu: int) -> None:
    async with Program(place, PROFILE.format("nordic-dfu")):
        phone = Updater(await open_host(await place.address()), hci.Address("F5:F4:F3:F2:F1:F0"))
        await phone.start()
        try:
            await phone.meet(mtu)
            await walk(phone, mtu)
        finally:
            await phone.stop()


async def walk(phone: Updater, mtu: int) -> None:
    packet = init_packet()
    assert await phone.begin(init_packet(hardware=51)) == b"\x0b\x06"
    assert await phone.ask(CREATE, struct.pack("<BI", DATA, 4096)) == b"\x08"

    # The link ends in the middle of the init packet.
    await phone.create(COMMAND, len(packet))
    await phone.write(packet, 0, 20)
    await phone.disconnect()
    await phone.meet(mtu)
    assert (await phone.select(COMMAND))[1] == 20
    assert await phone.begin(packet) == SUCCESS

    # And in the middle of the first object and of the second one.
    for packets in (3, 3):
        await phone.transfer(FIRMWARE, packets)
        _, before, _ = await phone.select(DATA)
        await phone.disconnect()
        await phone.meet(mtu)
        assert await phone.begin(packet) == SUCCESS
        assert (await phone.select(DATA))[1] == before > 0
        # To the end of the object, and on to the next one.
        end = (before // 4096 + 1) * 4096
        await phone.write(FIRMWARE, before, end)
        await phone.checksum(FIRMWARE[:end])
        assert await phone.ask(EXECUTE) == SUCCESS

    assert await phone.transfer(FIRMWARE) == SUCCESS
    # The device restarts.
    await asyncio.wait_for(phone.gone, PATIENCE)
    await phone.meet(mtu)
    assert await phone.select(DATA) == (4096, 0, 0)

    # Firmware that is not as its hash says.
    assert await phone.begin(packet) == SUCCESS
    assert await phone.transfer(FIRMWARE[:-1] + b"\x00") == b"\x0b\x0c"
    assert await phone.begin(packet) == SUCCESS
    assert await phone.transfer(FIRMWARE) == SUCCESS
    await asyncio.wait_for(phone.gone, PATIENCE)


SCENES = [
    *((f"smpclient uploads an image in two links and reads its hash back, at an ATT_MTU of {mtu}", partial(uploads, mtu=mtu)) for mtu in MTUS),
    *((f"firmware is updated with secure DFU, over several links, at an ATT_MTU of {mtu}", partial(updates, mtu=mtu)) for mtu in MTUS),
]  # fmt: skip
