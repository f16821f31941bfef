"""A test that holds the device in its hand: the Python client changes it, the phone sees what came of that."""

import asyncio

from lab.control import OPTIONS, Client, Device, Problem, calmly
from lab.control import held as held_device
from lab.places import CHECKOUT
from lab.scenario import Lab, expect, expect_refusal, expect_that, of, scenario


def held() -> tuple[Client, Device]:
    return held_device("Heart rate")


@scenario("heart-rate.yaml", options=OPTIONS)
async def a_value_is_set(lab: Lab) -> None:
    """a value that a test sets is read by a phone, and heard by one that has subscribed"""
    client, device = held()
    phone = await lab.meet()
    heard = await phone.subscribe(phone.characteristic("2A37"))
    await phone.until_heard(heard, 2)
    await calmly(device.set, "2A37", b"\x00\xc8", notify=True)
    await phone.signal.until(lambda: b"\x00\xc8" in heard, "the value that was set")
    await calmly(device.set, "body-sensor-location", b"\x02")
    expect(await phone.read(phone.characteristic("2A38").handle), b"\x02", "the location that was set")
    expect(await calmly(device.get, "2A38"), b"\x02", "the same, asked of the device")


@scenario("heart-rate.yaml", options=OPTIONS)
async def a_write_is_awaited(lab: Lab) -> None:
    """a wait that begins before the phone writes is answered by the write, and one that begins after it too"""
    client, device = held()
    phone = await lab.meet()
    await calmly(client.mark, "write")
    wait = asyncio.create_task(calmly(client.wait, "write of=180D/2A39 value=01", within=30))
    await phone.write(phone.characteristic("2A39").handle, b"\x01")
    found = await wait
    expect([each["value"] for each in found], ["01"], "the writes that were awaited")
    again = await calmly(client.wait, "write of=180D/2A39", within=30)
    expect(again[0]["seq"], found[0]["seq"], "the write that a later wait finds")
    expect(await calmly(client.verify, "write", exactly=1), 1, "writes since the mark")
    try:
        await calmly(client.verify, "write value=02", at_least=1)
    except Problem as problem:
        expect((problem.status, problem.members["nearest"][0]["differs"]), (422, ["value"]), "what came nearest")
    else:
        expect_that(False, "a write that there was not was verified")


@scenario("heart-rate.yaml", options=OPTIONS)
async def a_link_is_dropped(lab: Lab) -> None:
    """a link that a test drops is gone on the phone's side, and the phone may come again"""
    client, device = held()
    phone = await lab.meet()
    await calmly(client.mark, "drop")
    expect(len(await calmly(lambda: device.centrals)), 1, "centrals")
    await calmly(device.disconnect)
    await phone.until_disconnected()
    await lab.meet(phone)
    await calmly(client.wait, "central.connected", within=30)
    await calmly(client.verify, order=["central.disconnected", "central.connected"])


@scenario("heart-rate.yaml", options=OPTIONS)
async def a_reset(lab: Lab) -> None:
    """after a reset the link has ended, the device is on the air, and its values are those of the profile"""
    client, device = held()
    phone = await lab.meet()
    await calmly(device.set, "2A38", b"\x05")
    await phone.write(phone.characteristic("2A39").handle, b"\x07")
    await calmly(client.reset)
    await phone.until_disconnected()
    await lab.meet(phone)
    for characteristic, value in [("2A38", b"\x01"), ("2A39", b"\x00")]:
        expect(await phone.read(phone.characteristic(characteristic).handle), value, characteristic)
    expect(await calmly(client.verify, "write", exactly=0), 0, "writes in the journal")


@scenario("heart-rate.yaml", options=OPTIONS, fresh=True)
async def it_goes_off_the_air(lab: Lab) -> None:
    """a device that a test takes off the air is heard no more, and again when it is put back"""
    client, device = held()
    await lab.phone.find(lab.adapter.address)
    await calmly(device.advertise, False)
    expect_that(not (await calmly(device.info))["advertising"]["on"], "the device says that it advertises")
    expect(await lab.instances(), 0, "advertisements that are on the air")
    await calmly(device.advertise, True)
    await lab.phone.find(lab.adapter.address)


@scenario("heart-rate.yaml", options=OPTIONS, fresh=True)
async def a_device_is_removed(lab: Lab) -> None:
    """a device that a test removes is gone from the phone, and the same profile may be added again"""
    client, device = held()
    phone = await lab.meet()
    await calmly(device.remove)
    await phone.until_disconnected()
    expect(await calmly(client.devices), [], "devices")
    added = await calmly(client.add, CHECKOUT / "Tests" / "Lab" / "profiles" / "heart-rate.yaml")
    expect(added.name, device.name, "the device's name")
    await lab.meet(phone)
    expect(await phone.read(phone.characteristic("2A38").handle), b"\x01", "the location")


@scenario("ask.yaml", options=OPTIONS)
async def requests_are_answered(lab: Lab) -> None:
    """a read and a write are answered by the test, with a value, with an acceptance and with an error"""
    client, _ = held()
    phone = await lab.meet()
    secret = of(phone, 0x0701).handle
    for answer, found in [({"value": b"\x2a"}, b"\x2a"), ({"value": bytes(range(60))}, bytes(range(60)))]:
        await calmly(client.mark, "read")
        read = asyncio.create_task(phone.read_long(secret))
        [asked] = await calmly(client.wait, "request.asked by=read", within=30)
        await calmly(client.answer, asked["id"], **answer)
        expect(await read, found, "the value that the test gave")
    await calmly(client.mark, "write")
    write = asyncio.create_task(phone.write(secret, b"\x07"))
    [asked] = await calmly(client.wait, "request.asked by=write value=07", within=30)
    await calmly(client.answer, asked["id"])
    await write
    await calmly(client.mark, "refused")
    refused = asyncio.create_task(expect_refusal(0x80, phone.write(secret, b"\x08"), "the write that the test refuses"))
    [asked] = await calmly(client.wait, "request.asked by=write value=08", within=30)
    await calmly(client.answer, asked["id"], error="0x80")
    await refused


@scenario("ask.yaml", options=OPTIONS)
async def nobody_answers(lab: Lab) -> None:
    """a request that no test answers gets 0x0E, and another phone is served meanwhile"""
    client, _ = held()
    phone = await lab.meet()
    await calmly(client.mark, "nobody")
    refused = asyncio.create_task(expect_refusal(0x0E, phone.read(of(phone, 0x0701).handle), "the read without an answer"))
    await calmly(client.wait, "request.asked", within=30)
    second = await lab.meet(lab.second)
    expect(await second.read(of(second, 0x0702).handle), b"\x01", "what another phone reads meanwhile")
    await refused
    [told] = await calmly(client.wait, "request.unanswered", within=40)
    expect(told["because"], "timeout", "why it was not answered")
