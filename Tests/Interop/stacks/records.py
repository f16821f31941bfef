"""A glucose meter of the built program, whose records a phone asks for."""

import asyncio
import struct

from bumble import hci
from bumble.att import ATT_Error
from bumble.device import Peer

from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, open_host
from stacks.program import Program

SENTENCE = "a phone pages, counts and deletes the records of a glucose meter, aborts, and disconnects in the middle"

PROFILE = """
mynah: 1
name: Meter
advertising: {localName: Meter, interval: 20 ms}
services:
  - use: glucose
    records: 6
    characteristics:
      - {uuid: glucose-measurement, every: 200 ms}
"""

MEASUREMENT, CONTEXT, CONTROL_POINT = "2A18", "2A34", "2A52"
# Glucose Service 1.0.1, 3.4: report, delete, abort, number; and the values of a response.
ALL, LAST, FIRST = b"\x01\x01", b"\x01\x06", b"\x01\x05"
NUMBER, ABORT, DELETE_FIRST = b"\x04\x01", b"\x03\x00", b"\x02\x05"
SUCCESS, NO_RECORDS, ABORT_UNSUCCESSFUL = 1, 6, 7
# 1.6.
IN_PROGRESS, IMPROPERLY_CONFIGURED = 0x80, 0x81


class Collector(Phone):
    """A phone with an app that collects records."""

    async def meet(self) -> None:
        self.came: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        await self.connect(await self.find("Meter"))
        self.peer = Peer(self.connection)
        await self.peer.discover_services()
        self.opcodes: list[int] = []
        dispatch = self.peer.gatt_client.on_gatt_pdu

        def take(pdu) -> None:
            self.opcodes.append(pdu.op_code)
            dispatch(pdu)

        self.peer.gatt_client.on_gatt_pdu = take
        self.found = {}
        for service in self.peer.services:
            await service.discover_characteristics()
            for each in service.characteristics:
                self.found[each.uuid.to_hex_str().upper()] = each

    async def listen(self, *names: str) -> None:
        for name in names:
            each = self.found[name]
            await each.discover_descriptors()
            await each.subscribe(lambda value, name=name: self.came.put_nowait((name, bytes(value))))

    async def ask(self, request: bytes) -> int:
        """The ATT error, or 0."""
        try:
            await self.found[CONTROL_POINT].write_value(request, with_response=True)
            return 0
        except ATT_Error as error:
            return error.error_code

    async def next(self) -> tuple[str, bytes]:
        return await asyncio.wait_for(self.came.get(), PATIENCE)

    async def answer(self, request: bytes) -> tuple[list[int], bytes]:
        """The sequence numbers of the records that come, and the response after them."""
        self.opcodes.clear()
        assert await self.ask(request) == 0, f"{request.hex()} was refused"
        numbers: list[int] = []
        while True:
            name, value = await self.next()
            (number,) = struct.unpack_from("<H", value, 1)
            if name == MEASUREMENT:
                numbers.append(number)
            elif name == CONTEXT:
                assert numbers[-1:] == [number], f"the context of {number} follows {numbers}"
            else:
                # The Write Response comes before the indication; records may, during an abort.
                assert self.opcodes.index(0x13) < self.opcodes.index(0x1D), f"{self.opcodes}"
                return numbers, value

    async def records(self, request: bytes) -> list[int]:
        numbers, response = await self.answer(request)
        assert response == bytes([6, 0, request[0], SUCCESS]), response.hex()
        return numbers

    async def count(self) -> int:
        numbers, response = await self.answer(NUMBER)
        assert not numbers and response[:2] == b"\x05\x00", response.hex()
        return int.from_bytes(response[2:], "little")

    async def until_record(self, number: int) -> None:
        """Until the record has come, and its context."""
        while True:
            name, value = await self.next()
            if name == CONTEXT and int.from_bytes(value[1:3], "little") == number:
                return


def sequence(operation: int, *numbers: int) -> bytes:
    """A report of the records whose sequence numbers an operator selects."""
    return struct.pack(f"<BBB{len(numbers)}H", 1, operation, 1, *numbers)


async def are_paged(place: Place) -> None:
    async with Program(place, PROFILE):
        phone = Collector(await open_host(await place.address()), hci.Address("F5:F4:F3:F2:F1:F0"))
        await phone.start()
        try:
            await phone.meet()
            await walk(phone)
        finally:
            await phone.stop()


async def walk(phone: Collector) -> None:
    # Nothing is subscribed to, and then only the control point.
    assert await phone.ask(NUMBER) == IMPROPERLY_CONFIGURED
    await phone.listen(CONTROL_POINT)
    assert await phone.ask(ALL) == IMPROPERLY_CONFIGURED
    assert await phone.count() == 6
    await phone.listen(MEASUREMENT, CONTEXT)

    assert await phone.records(ALL) == [1, 2, 3, 4, 5, 6]
    assert await phone.records(FIRST) == [1]
    assert await phone.records(LAST) == [6]
    assert await phone.records(sequence(2, 2)) == [1, 2]
    assert await phone.records(sequence(3, 5)) == [5, 6]
    assert await phone.records(sequence(4, 2, 4)) == [2, 3, 4]
    assert await phone.answer(sequence(4, 9, 10)) == ([], bytes([6, 0, 1, NO_RECORDS]))
    # By the time that its user sees: three hours from one to the next, from 08:00 on. The third is at 14:00.
    assert await phone.records(bytes([1, 2, 2]) + struct.pack("<HBBBBB", 2026, 1, 1, 14, 0, 0)) == [1, 2, 3]

    # Aborted in the middle.
    assert await phone.ask(ALL) == 0
    await phone.until_record(2)
    assert await phone.ask(NUMBER) == IN_PROGRESS
    numbers, response = await phone.answer(ABORT)
    assert response == bytes([6, 0, 3, SUCCESS]) and len(numbers) < 4, f"{numbers} {response.hex()}"
    assert await phone.answer(ABORT) == ([], bytes([6, 0, 3, ABORT_UNSUCCESSFUL]))

    # Disconnected in the middle, and again.
    for _ in range(2):
        assert await phone.ask(ALL) == 0
        await phone.until_record(2)
        await phone.disconnect()
        await phone.meet()
        assert await phone.ask(NUMBER) == IMPROPERLY_CONFIGURED
        await phone.listen(CONTROL_POINT, MEASUREMENT, CONTEXT)
        assert await phone.count() == 6
    assert await phone.records(ALL) == [1, 2, 3, 4, 5, 6]

    assert await phone.answer(DELETE_FIRST) == ([], bytes([6, 0, 2, SUCCESS]))
    assert await phone.records(FIRST) == [2]
    assert await phone.answer(b"\x02\x01") == ([], bytes([6, 0, 2, SUCCESS]))
    assert await phone.count() == 0
    assert await phone.answer(ALL) == ([], bytes([6, 0, 1, NO_RECORDS]))
