"""Two phones at once."""

import asyncio

from lab.scenario import Lab, expect, expect_that, scenario

HEART_RATE = "2A37"


async def both_are_served(lab: Lab) -> None:
    """The second phone finds the device while the first is connected; both subscribe and hear; one leaves."""
    first = await lab.meet(lab.phone)
    on_air = await lab.air.until_advertised()
    expect_that(on_air.connectable, "what is on the air while one phone is connected is not connectable")
    second = await lab.meet(lab.second)
    mine, yours = [await phone.subscribe(phone.characteristic(HEART_RATE)) for phone in (first, second)]
    await asyncio.gather(first.until_heard(mine, 10), second.until_heard(yours, 10))
    expect_that(overlap(mine, yours), f"the phones hear different values: {mine[-5:]}, {yours[-5:]}")
    await first.disconnect()
    count = len(yours)
    await second.until_heard(yours, count + 5)
    await second.disconnect()


def overlap(one: list[bytes], other: list[bytes]) -> bool:
    """Both lists hold the same run of five values."""
    runs = [{tuple(each[index : index + 5]) for index in range(len(each) - 4)} for each in (one, other)]
    return bool(runs[0] & runs[1])


@scenario("heart-rate.yaml")
async def with_uuids(lab: Lab) -> None:
    """two phones find the device one after the other, both subscribe and hear, one leaves and the other still hears"""
    await both_are_served(lab)


@scenario("no-uuids.yaml")
async def without_uuids(lab: Lab) -> None:
    """so do two phones of a device that advertises only its name"""
    await both_are_served(lab)


@scenario("manufacturer.yaml")
async def with_manufacturer_data(lab: Lab) -> None:
    """so do two phones of a device that advertises manufacturer data and no UUID"""
    await both_are_served(lab)


@scenario("heart-rate.yaml")
async def same_advert_again(lab: Lab) -> None:
    """the advert is the same, byte for byte, while a phone is connected and after it has left"""
    before = await lab.air.until_advertised()
    wanted = (before.data, before.scan_response, before.interval)
    await lab.meet()
    during = await lab.air.until_advertised()
    expect((during.data, during.scan_response, during.interval), wanted, "advert while a phone is connected")
    await lab.phone.disconnect()
    after = await lab.air.until_advertised()
    expect((after.data, after.scan_response, after.interval), wanted, "advert after it has left")


@scenario("heart-rate.yaml")
async def phones_are_told_apart(lab: Lab) -> None:
    """connections and disconnections are told with the phone's address"""
    before = lab.mynah.mark
    await lab.meet(lab.phone, discover=False)
    await lab.mynah.wait_for("central.connected", before, central=lab.phone.address)
    before = lab.mynah.mark
    await lab.meet(lab.second, discover=False)
    await lab.mynah.wait_for("central.connected", before, central=lab.second.address)
    await lab.second.disconnect()
    await lab.mynah.wait_for("central.disconnected", before, central=lab.second.address)
    expect(lab.mynah.all("central.disconnected", before, central=lab.phone.address), [], "events of the one that stays")


@scenario(fresh=True, needs=("names_subscribers",))
async def subscribers_have_names(lab: Lab) -> None:
    """each subscriber is reported, both receive, and one that leaves changes nothing for the other"""
    await lab.play("heart-rate.yaml", *(["--name-subscribers"] if lab.capabilities.daemon else []))
    first, second = await lab.meet(lab.phone), await lab.meet(lab.second)
    mine = await first.subscribe(first.characteristic(HEART_RATE))
    await lab.mynah.wait_for("subscribed", central=first.address)
    before = lab.mynah.mark
    yours = await second.subscribe(second.characteristic(HEART_RATE))
    await lab.mynah.wait_for("subscribed", before, central=second.address)
    await asyncio.gather(first.until_heard(mine, 10), second.until_heard(yours, 10))
    await first.unsubscribe(first.characteristic(HEART_RATE))
    await lab.mynah.wait_for("unsubscribed", before, central=first.address)
    await first.disconnect()
    await second.until_heard(yours, len(yours) + 5)
    expect(lab.mynah.all("unsubscribed", before, central=second.address), [], "events of the one that stays")
