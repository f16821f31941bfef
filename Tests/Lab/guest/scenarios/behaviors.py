"""Services that behave: their control points, walked by a phone."""

import struct

from lab.phone import Phone
from lab.scenario import Lab, expect, expect_refusal, expect_that, scenario

RECORD, RECORD_CONTROL = "2A18", "2A52"
BIKE, MACHINE_STATUS, MACHINE_CONTROL = "2AD2", "2ADA", "2AD9"
RECEIVE, TRANSMIT = "6E400002-B5A3-F393-E0A9-E50E24DCCA9E", "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"
# Glucose Service 1.0.1, 1.6.
RECORDS_IN_PROGRESS, RECORDS_UNCONFIGURED = 0x80, 0x81


async def ask(phone: Phone, uuid: str, request: bytes) -> None:
    await phone.write(phone.characteristic(uuid).handle, request)


@scenario("behaviors.yaml")
async def records(lab: Lab) -> None:
    """a glucose meter aborts a report, deletes, counts and reports records, and refuses what is not subscribed to"""
    phone = await lab.meet()
    await expect_refusal(RECORDS_UNCONFIGURED, ask(phone, RECORD_CONTROL, b"\x01\x01"), "request without a subscription")
    responses = await phone.subscribe(phone.characteristic(RECORD_CONTROL), indications=True)
    found = await phone.subscribe(phone.characteristic(RECORD))
    # The report of all takes 10 s, in which a busy machine aborts it too.
    await ask(phone, RECORD_CONTROL, b"\x01\x01")
    await phone.until_heard(found, 1)
    await expect_refusal(RECORDS_IN_PROGRESS, ask(phone, RECORD_CONTROL, b"\x04\x01"), "request during a report")
    await ask(phone, RECORD_CONTROL, b"\x03\x00")
    expect(await phone.until_heard(responses, 1), [b"\x06\x00\x03\x01"], "response to the abort")
    expect_that(len(found) < 500, "the report was not aborted")

    async def report(request: bytes) -> tuple[list[int], bytes]:
        """The sequence numbers of the records that come, and the response."""
        found.clear()
        responses.clear()
        await ask(phone, RECORD_CONTROL, request)
        await phone.until_heard(responses, 1)
        return [struct.unpack_from("<H", each, 1)[0] for each in found], responses[0]

    expect(await report(b"\x02\x03\x01\x05\x00"), ([], b"\x06\x00\x02\x01"), "deletion of the records from the fifth on")
    expect(await report(b"\x01\x01"), ([1, 2, 3, 4], b"\x06\x00\x01\x01"), "all records")
    expect(await report(b"\x01\x05"), ([1], b"\x06\x00\x01\x01"), "the first record")
    expect(await report(b"\x04\x01"), ([], b"\x05\x00\x04\x00"), "number of records")
    expect(await report(b"\x01\x03\x01\x20\x00"), ([], b"\x06\x00\x01\x06"), "records that there are none of")


@scenario("behaviors.yaml")
async def machine(lab: Lab) -> None:
    """a trainer grants control, takes a power and refuses others, reports it, and its power approaches it"""
    phone = await lab.meet()
    refused = lab.capabilities.unconfigured_error
    await expect_refusal(refused, ask(phone, MACHINE_CONTROL, b"\x00"), "request without a subscription")
    responses = await phone.subscribe(phone.characteristic(MACHINE_CONTROL), indications=True)
    status = await phone.subscribe(phone.characteristic(MACHINE_STATUS))
    data = await phone.subscribe(phone.characteristic(BIKE))

    async def command(request: bytes) -> bytes:
        responses.clear()
        await ask(phone, MACHINE_CONTROL, request)
        return (await phone.until_heard(responses, 1))[0]

    expect(await command(b"\x05\xc8\x00"), b"\x80\x05\x05", "a power without control")
    expect(await command(b"\x00"), b"\x80\x00\x01", "request for control")
    expect(await command(b"\x05\xff\x7f"), b"\x80\x05\x03", "a power out of range")
    expect(await command(b"\x02\xe8\x03"), b"\x80\x02\x02", "a target that the machine has not")
    await phone.until_heard(data, 1)
    expect(power(data[-1]), 100, "power before")
    expect(await command(b"\x05\x2c\x01"), b"\x80\x05\x01", "300 W")
    expect(await phone.until_heard(status, 1), [b"\x08\x2c\x01"], "status")
    await phone.signal.until(lambda: power(data[-1]) >= 200, "a power that approaches 300 W")
    risen = [power(each) for each in data]
    expect(risen, sorted(risen), "the powers, which rise")
    expect_that(risen[-1] <= 300, f"{risen[-1]} W are beyond the target")


def power(value: bytes) -> int:
    """Instantaneous Power of Indoor Bike Data, its only field here: bit 6 of the flags, and bit 0 says that there is no speed."""
    (flags,) = struct.unpack_from("<H", value)
    expect(flags, 0x0041, "flags of Indoor Bike Data")
    return struct.unpack_from("<h", value, 2)[0]


@scenario("behaviors.yaml")
async def echo(lab: Lab) -> None:
    """a serial port sends back what a phone writes and commands, in parts that fit"""
    phone = await lab.meet()
    heard = await phone.subscribe(phone.characteristic(TRANSMIT))
    receive = phone.characteristic(RECEIVE).handle
    await phone.write(receive, b"hello")
    await phone.command(receive, b"there")
    expect(await phone.until_heard(heard, 2), [b"hello", b"there"], "echo")
    long = bytes(range(50))
    await phone.write_long(receive, long)
    expect(await phone.until_heard(heard, 5), [b"hello", b"there", long[:20], long[20:40], long[40:]], "echo in parts")
