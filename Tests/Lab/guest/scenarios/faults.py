"""Faults: the very PDU, error, reason, delay or silence that a phone meets."""

import asyncio
import struct

from bumble.hci import HCI_Error

from lab.air import structures
from lab.control import OPTIONS, calmly, fault, held
from lab.phone import IO, Phone
from lab.scenario import Lab, expect, expect_refusal, expect_that, of, scenario

VALUE, TICKS, REMOVED, ENCRYPTED = 0x0801, 0x0802, 0x0803, 0x0804
WHOLE = b"\x01\x02\x03\x04"
REMOTE_USER_ENDED, KEY_MISSING = 0x13, 0x06
SERVICE_CHANGED = "2A05"
# Seconds by which the clocks of the phone and the device may differ.
SLACK = 0.05


def now() -> float:
    return asyncio.get_running_loop().time()


@scenario("faults.yaml", options=OPTIONS)
async def errors(lab: Lab) -> None:
    """a read is refused once with the error of its fault, and with each other error that the radio can send"""
    _, device = held("Faults")
    phone = await lab.meet()
    handle = of(phone, VALUE).handle
    async with fault(device, "refused"):
        await expect_refusal(0x81, phone.read(handle), "first read")
        expect(await phone.read(handle), WHOLE, "second read")
    for code in lab.capabilities.errors:
        # `nth` counts on from 1 as soon as it is added.
        rule = {"name": "code", "on": "read", "of": "6D796E61-0801-4C61-8000-6C6162000000", "error": f"{code:#04x}"}
        await calmly(device.add_fault, rule)
        await expect_refusal(code, phone.read(handle), f"read with a fault of {code:#04x}")
        await calmly(device.remove_fault, "code")
    expect(await phone.read(handle), WHOLE, "read without a fault")


@scenario("faults.yaml", options=OPTIONS)
async def answers(lab: Lab) -> None:
    """the answer to a read is another one, truncated, corrupted or late, and the device keeps its value"""
    _, device = held("Faults")
    phone = await lab.meet()
    handle = of(phone, VALUE).handle
    for name, wanted in (("other", b"\xfe\xfd"), ("short", WHOLE[:3]), ("wrong", b"\x01\x02\xf3\x04")):
        async with fault(device, name):
            expect(await phone.read(handle), wanted, f"read with the fault {name}")
    async with fault(device, "slow"):
        start = now()
        expect(await phone.read(handle), WHOLE, "read with a delay")
        expect_that(now() - start >= 0.6 - SLACK, f"the answer came after {now() - start:.2f} s")
    expect(await phone.read(handle), WHOLE, "read without a fault")


@scenario("faults.yaml", options=OPTIONS)
async def writes(lab: Lab) -> None:
    """a write is refused, or answered and lost; neither changes the value"""
    client, device = held("Faults")
    phone = await lab.meet()
    handle = of(phone, VALUE).handle
    async with fault(device, "barred"):
        await expect_refusal(0x8A, phone.write(handle, b"\x09"), "write")
    await calmly(client.mark, "lost")
    async with fault(device, "lost"):
        await phone.write(handle, b"\x09")
    expect(await calmly(client.verify, "write", exactly=0), 0, "writes that reached the device")
    expect(await phone.read(handle), WHOLE, "value")


@scenario("faults.yaml", options=OPTIONS)
async def values(lab: Lab) -> None:
    """values are dropped, repeated, swapped, truncated, corrupted, replaced and held up, each as its fault says"""
    _, device = held("Faults")
    phone = await lab.meet()
    heard = await phone.subscribe(of(phone, TICKS))
    for name, wanted in (
        ("dropped", b"\x01\x10 \x03\x30"), ("twice", b"\x01\x10 \x01\x10 \x02\x20 \x03\x30"),
        ("swapped", b"\x02\x20 \x01\x10 \x03\x30"), ("cut", b"\x01\x10 \x02 \x03\x30"),
        ("bent", b"\x01\x10 \x02\xdf \x03\xcf"), ("replaced", b"\x01\x10 \x02\x20 \xaa\xbb"),
    ):  # fmt: skip
        heard.clear()
        async with fault(device, name):
            for value in (b"\x01\x10", b"\x02\x20", b"\x03\x30"):
                await calmly(device.set, "6D796E61-0802-4C61-8000-6C6162000000", value, notify=True)
            # The last value says that nothing more comes.
            await calmly(device.set, "6D796E61-0802-4C61-8000-6C6162000000", b"\xee\xee", notify=True)
            await phone.signal.until(lambda: heard[-1:] == [b"\xee\xee"], f"the last value with the fault {name}")
        expect(b" ".join(heard[:-1]), wanted, f"values with the fault {name}")
    heard.clear()
    async with fault(device, "late"):
        start = now()
        await calmly(device.set, "6D796E61-0802-4C61-8000-6C6162000000", b"\x05\x50", notify=True)
        await phone.until_heard(heard, 1)
        expect_that(now() - start >= 0.6 - SLACK, f"the value came after {now() - start:.2f} s")


@scenario("faults.yaml", options=OPTIONS)
async def links(lab: Lab) -> None:
    """the second write ends the link with the reason 0x13, and the phone may come again"""
    _, device = held("Faults")
    phone = await lab.meet()
    handle = of(phone, VALUE).handle
    async with fault(device, "gone"):
        await phone.write(handle, WHOLE)
        expect(await phone.until_ended_by(phone.write(handle, WHOLE)), REMOTE_USER_ENDED, "reason")
    phone = await lab.meet()
    expect(await phone.read(of(phone, VALUE).handle), WHOLE, "value")


@scenario("faults.yaml", options=OPTIONS)
async def refused_connections(lab: Lab) -> None:
    """while connections are refused no phone can stay, and after that it can"""
    _, device = held("Faults")
    phone = lab.phone
    async with fault(device, "busy"):
        if lab.capabilities.refuses_by_advertising:
            # Bumble's controllers call every advertisement connectable, and let a phone connect to it.
            await until_connectable(lab, False)
        else:
            await phone.find(lab.adapter.address)
            await phone.connect(lab.adapter.address)
            await phone.until_disconnected()
            expect(phone.reason, REMOTE_USER_ENDED, "reason")
    await until_connectable(lab, True)
    await lab.meet()
    expect(await phone.read(of(phone, VALUE).handle), WHOLE, "value")


async def until_connectable(lab: Lab, wanted: bool) -> None:
    def is_so() -> bool:
        return any(each.connectable == wanted for each in lab.air.advertised)

    await lab.air.signal.until(is_so, f"an advert that is {'' if wanted else 'not '}connectable")


@scenario("faults.yaml", options=OPTIONS)
async def changed_services(lab: Lab) -> None:
    """a characteristic is gone after Service Changed, and is there again after another one"""
    _, device = held("Faults")
    phone = await lab.meet()
    changed = await phone.subscribe(phone.characteristic(SERVICE_CHANGED), indications=True)
    whole = found(phone)
    reduced = [each for each in whole if each != "6D796E61-0803-4C61-8000-6C6162000000"]
    async with fault(device, "reduced"):
        await phone.write(of(phone, VALUE).handle, WHOLE)
        await discovers_again(phone, changed, reduced)
        expect(await phone.read(of(phone, VALUE).handle), WHOLE, "value meanwhile")
    await discovers_again(phone, changed, whole)
    expect(await phone.read(of(phone, REMOVED).handle), b"\x07", "value of the one that was gone")


def found(phone: Phone) -> list[str]:
    return sorted(each.uuid for service in phone.services for each in service.characteristics)


async def discovers_again(phone: Phone, changed: list[bytes], wanted: list[str]) -> None:
    """Discovers after each Service Changed about the service, until it finds the characteristics that are wanted.

    A removal and an addition may have an indication each."""
    before = [each.handle for each in phone.services if each.uuid == "6D796E61-0800-4C61-8000-6C6162000000"]
    first = True
    while first or found(phone) != wanted:
        await phone.signal.until(lambda: changed, f"Service Changed, before {wanted} are found")
        ranges = [struct.unpack("<HH", each) for each in changed]
        changed.clear()
        if first:
            expect_that(any(low <= before[0] <= high for low, high in ranges), f"{before} are not in {ranges}")
        first = False
        await phone.discover()


@scenario("faults.yaml", options=OPTIONS)
async def advertising(lab: Lab) -> None:
    """the advertisement has another name and another service while its fault is on, and then what it had"""
    _, device = held("Faults")
    phone = await lab.meet()
    before = await lab.air.until_advertised() if lab.air.advertised else None
    async with fault(device, "renamed"):
        await phone.write(of(phone, VALUE).handle, WHOLE)
        await phone.disconnect()
        data = await phone.find(lab.adapter.address, suits=lambda each: b"\x59\xfe" in each.data_bytes)
        expect_that(b"Mynah faults" not in data, f"the old name is in {data.hex()}")
        on_air = await lab.air.until_advertised()
        expect_that((0x09, b"DFU") in structures(on_air.data) + structures(on_air.scan_response), "no name DFU on the air")
    await phone.find(lab.adapter.address, suits=lambda each: b"\x59\xfe" not in each.data_bytes)
    expect_that(before is None or lab.air.advertised, "nothing is advertised")


@scenario("faults.yaml", options=OPTIONS, fresh=True)
async def lost_bond(lab: Lab) -> None:
    """a bonded phone whose bond the device lost cannot encrypt with its key, and can after it forgets it and pairs again"""
    _, device = held("Faults")
    phone = await lab.meet()
    await phone.pair(IO.NO_OUTPUT_NO_INPUT)
    expect(await phone.read(of(phone, ENCRYPTED).handle), b"\x08", "encrypted value")
    async with fault(device, "wiped"):
        if lab.capabilities.daemon:
            # RemoveDevice ends the link.
            await phone.until_ended_by(phone.write(of(phone, VALUE).handle, WHOLE))
        else:
            await phone.write(of(phone, VALUE).handle, WHOLE)
            await phone.disconnect()
    phone = await lab.meet()
    try:
        await phone.encrypt()
        expect_that(False, "the phone could encrypt")
    except HCI_Error as error:
        expect(error.error_code, KEY_MISSING, "error of the encryption")
    await phone.forget()
    phone = await lab.meet()
    await phone.pair(IO.NO_OUTPUT_NO_INPUT)
    expect(await phone.read(of(phone, ENCRYPTED).handle), b"\x08", "encrypted value after a new pairing")


@scenario("faults.yaml", options=OPTIONS, fresh=True)
async def vanishing(lab: Lab) -> None:
    """a device that vanishes is heard no more, and is there again after that"""
    _, device = held("Faults")
    phone = await lab.meet()
    async with fault(device, "away"):
        write = asyncio.ensure_future(phone.write(of(phone, VALUE).handle, WHOLE))
        await lab.air.until_silent()
        if lab.capabilities.ends_links_when_silent:
            await phone.until_ended_by(write)
        else:
            await phone.disconnect()
            await asyncio.gather(write, return_exceptions=True)
    phone = await lab.meet()
    expect(await phone.read(of(phone, VALUE).handle), WHOLE, "value")


@scenario("below-att.yaml", options=OPTIONS, needs=("faults_below_att",))
async def below_att(lab: Lab) -> None:
    """requests that no app sees are refused, and one gets no answer, while values go on"""
    _, device = held("Below ATT")
    phone = await lab.meet()
    async with fault(device, "hidden"):
        await expect_refusal(0x80, phone.groups(0x2800), "discovery of services")
    async with fault(device, "small"):
        expect(await phone.exchange_mtu(185), 40, "MTU")
    async with fault(device, "closed"):
        await expect_refusal(0x03, phone.subscribe(of(phone, TICKS)), "subscription")
    heard = await phone.subscribe(of(phone, TICKS))
    async with fault(device, "silent"):
        pending = asyncio.ensure_future(phone.read(of(phone, VALUE).handle))
        await asyncio.sleep(1)
        expect_that(not pending.done(), "the read was answered")
        heard.clear()
        await phone.until_heard(heard, 2)
    expect_that(not pending.done(), "the read was answered")
    pending.cancel()
