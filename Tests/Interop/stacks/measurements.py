"""A blood pressure monitor and an oximeter of the built program, and a phone that collects their measurements."""

import struct

from bumble import hci

from stacks.places import Place, open_host
from stacks.program import Program
from stacks.records import ALL, NO_RECORDS, NUMBER, SUCCESS, Collector

SENTENCE = "measurements are indicated until a phone has confirmed them, and spot checks are reported and deleted"

PROFILE = """
mynah: 1
name: Meter
advertising: {localName: Meter, interval: 20 ms}
services:
  - use: blood-pressure
    records: 3
    characteristics:
      - {uuid: blood-pressure-measurement, every: 1 h, value: {fields: {systolic: {generate: counter, from: 120},
         diastolic: 80, meanArterialPressure: 93}}}
  - use: pulse-oximeter
    records: 4
"""

PRESSURE, SPOT_CHECK, CONTROL_POINT = "2A35", "2A5E", "2A52"
# Pulse Oximeter Service 1.0.1, 3.5: an operator other than all records.
LAST, OPERATOR_NOT_SUPPORTED, DELETE_ALL = b"\x01\x06", 4, b"\x02\x01"


async def pressures(phone: Collector, count: int) -> list[int]:
    """The systolic pressures of so many indications."""
    found = []
    for _ in range(count):
        name, value = await phone.next()
        assert name == PRESSURE, name
        found.append(struct.unpack_from("<H", value, 1)[0])
    return found


async def spot_checks(phone: Collector) -> list[bytes]:
    """The spot checks that a report sends before its response."""
    assert await phone.ask(ALL) == 0
    found = []
    while True:
        name, value = await phone.next()
        if name == CONTROL_POINT:
            assert value == bytes([6, 0, 1, SUCCESS]), value.hex()
            return found
        found.append(value)


async def response(phone: Collector, request: bytes) -> bytes:
    assert await phone.ask(request) == 0
    name, value = await phone.next()
    assert name == CONTROL_POINT, name
    return value


async def are_collected(place: Place) -> None:
    async with Program(place, PROFILE) as run:
        phone = Collector(await open_host(await place.address()), hci.Address("F5:F4:F3:F2:F1:F0"))
        await phone.start()
        try:
            await phone.meet()
            await phone.listen(PRESSURE)
            assert await pressures(phone, 3) == [120, 121, 122]
            # The last one is confirmed before the link ends, and none comes twice.
            for _ in range(3):
                await run.until(lambda event: event["event"] == "confirmed")
            await phone.disconnect()
            await phone.meet()
            await phone.listen(PRESSURE)
            await phone.listen(CONTROL_POINT, SPOT_CHECK)
            assert await response(phone, NUMBER) == b"\x05\x00\x04\x00"
            assert len(await spot_checks(phone)) == 4
            assert await response(phone, LAST) == bytes([6, 0, 1, OPERATOR_NOT_SUPPORTED])
            assert await response(phone, DELETE_ALL) == bytes([6, 0, 2, SUCCESS])
            assert await response(phone, ALL) == bytes([6, 0, 1, NO_RECORDS])
        finally:
            await phone.stop()
