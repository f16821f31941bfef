"""An iOS app plays the device: what a phone hears and gets in each state of the app's life."""

from lab.air import AdvertisingSet, structures
from lab.scenario import PROFILES, Lab, expect, expect_refusal, expect_that, scenario

RATE, STATIC, CONTROL = "2A37", "2A38", "2A39"
NAME = (0x09, b"Fred")
LIST = (0x03, bytes.fromhex("07C0"))
UNLIKELY = 0x0E
# 181.25 ms.
SLOW = (290, 290)
# bluetoothd takes 181 ms, and the kernel the steps of 0.625 ms that fit into them.
BLUETOOTHD_SLOW = (289, 289)
# bluetoothd takes 30 ms as they are.
FAST = (48, 48)


def mask(*bits: int) -> tuple[int, bytes]:
    """Apple's overflow area with these bits, counted from the lowest of each byte."""
    area = bytearray(16)
    for bit in bits:
        area[bit >> 3] |= 1 << (bit & 7)
    return 0xFF, b"\x4c\x00\x01" + bytes(area)


C007, FIRST = mask(36), mask(57)
BOTH = mask(36, 57)


def parts(on_air: AdvertisingSet) -> list[tuple[int, bytes]]:
    """The bytes of a set in either payload, without the Flags, which are bluetoothd's."""
    return [each for each in structures(on_air.data) + structures(on_air.scan_response) if each[0] != 0x01]


def slow(lab: Lab) -> tuple[int, int]:
    return SLOW if lab.capabilities.exact_advert else BLUETOOTHD_SLOW


async def until_heard_as(lab: Lab, wanted: list[tuple[int, bytes]], within: float = 30) -> AdvertisingSet:
    def found():
        return next((each for each in lab.air.advertised if sorted(parts(each)) == sorted(wanted)), None)

    shown = [(kind, payload.hex()) for kind, payload in wanted]
    return await lab.air.signal.until(found, f"an advert with {shown}", within)


@scenario("app.yaml", fresh=True)
async def on_and_off_the_screen(lab: Lab) -> None:
    """in the foreground name and UUID are on the air, in the background the mask alone and more slowly, and back"""
    on_air = await until_heard_as(lab, [NAME, LIST])
    expect(on_air.interval, FAST, "interval in the foreground")
    await lab.mynah.press("b", "app.background")
    on_air = await until_heard_as(lab, [C007])
    expect(on_air.interval, slow(lab), "interval in the background, in 0.625 ms")
    # As iOS 12 and later have it, where the radio can.
    place = on_air.scan_response if lab.capabilities.places_scan_response else on_air.data
    expect_that(C007 in structures(place), f"the mask is not where it belongs: {on_air}")
    expect_that(on_air.connectable, "the advert in the background is not connectable")
    heard = await lab.phone.find(lab.adapter.address)
    expect_that(b"Fred" not in heard and b"iPhone" not in heard, f"the phone heard a name: {heard.hex()}")
    await lab.mynah.press("s", "app.suspended")
    on_air = await until_heard_as(lab, [C007])
    await lab.mynah.press("f", "app.foreground")
    on_air = await until_heard_as(lab, [NAME, LIST])
    expect(on_air.interval, FAST, "interval in the foreground again")


@scenario("app.yaml", fresh=True)
async def told_as_it_is(lab: Lab) -> None:
    """the events of each state give the very bytes that are on the air"""
    before = lab.mynah.mark
    await lab.mynah.press("b", "app.background")
    on_air = await until_heard_as(lab, [C007])
    told = await lab.mynah.wait_for("advertising.changed", before)
    expect(told["data"], on_air.data.hex().upper(), "data of the event")
    expect(told["scanResponse"], on_air.scan_response.hex().upper(), "scanResponse of the event")
    omitted = {each["item"] for each in told["omitted"]}
    expect_that({"localName", "serviceUUIDs[0]"} <= omitted, f"omitted names {sorted(omitted)}")


@scenario("foreground-app.yaml", fresh=True)
async def suspended_foreground_only(lab: Lab) -> None:
    """an app without background mode is silent and answers static values alone, until it is back"""
    phone = await lab.meet()
    await lab.mynah.press("s", "app.suspended")
    await lab.air.until_silent()
    expect(await phone.read(phone.characteristic(STATIC).handle), b"\x01", "static value while suspended")
    control = phone.characteristic(CONTROL).handle
    await expect_refusal(UNLIKELY, phone.read(control), "a dynamic value while suspended")
    before = lab.mynah.mark
    if lab.capabilities.refuses_subscriptions:
        await expect_refusal(UNLIKELY, phone.subscribe(phone.characteristic(RATE)), "a subscription while suspended")
        heard = []
    else:
        heard = await phone.subscribe(phone.characteristic(RATE))
    await phone.command(control, b"\x05")
    # Behind both on the same link, so that both have been seen when it is answered.
    expect(await phone.read(phone.characteristic(STATIC).handle), b"\x01", "static value after them")
    expect(len(heard), 0, "count of notifications while suspended")
    expect(len(lab.mynah.all("subscribed")), 0, "count of subscribed before the return")
    refused = await lab.mynah.wait_for("request.refused", before, by="write", characteristic="2A39")
    expect(refused["because"], "suspended", "why the command was dropped")
    before = lab.mynah.mark
    await lab.mynah.press("f", "app.foreground")
    if lab.capabilities.refuses_subscriptions:
        heard = await phone.subscribe(phone.characteristic(RATE))
    await phone.until_heard(heard, 3)
    told = [each["event"] for each in lab.mynah.events[before:] if each.get("queued")]
    waited = [] if lab.capabilities.refuses_subscriptions else ["subscribed"]
    expect(told, waited, "events that had waited")
    expect(await phone.read(control), b"\x00", "value that the dropped command did not change")
    await until_heard_as(lab, [NAME, LIST])


@scenario("app.yaml", fresh=True)
async def woken_by_a_read(lab: Lab) -> None:
    """a read wakes a suspended app, which answers it and is suspended again some ten seconds later"""
    phone = await lab.meet()
    await lab.mynah.press("s", "app.suspended")
    before = lab.mynah.mark
    control = phone.characteristic(CONTROL).handle
    expect(await phone.read(control), b"\x00", "value of the woken app")
    woken = await lab.mynah.wait_for("app.woken", before)
    expect(woken["by"], "read", "what woke it")
    await lab.mynah.wait_for("app.suspended", before)
    expect(await phone.read(control), b"\x00", "value of the app that is woken again")
    expect(len(await lab.mynah.wait_for_all("app.woken", 2, before)), 2, "count of app.woken")


@scenario("app.yaml", fresh=True)
async def woken_by_a_subscription(lab: Lab) -> None:
    """a subscription wakes a suspended app; it notifies for as long as it is awake, and stops after that"""
    phone = await lab.meet()
    await lab.mynah.press("s", "app.suspended")
    before = lab.mynah.mark
    heard = await phone.subscribe(phone.characteristic(RATE))
    await phone.until_heard(heard, 10)
    await lab.mynah.wait_for("app.suspended", before)
    # Earlier notifications come before the answer to a later static read.
    await phone.read(phone.characteristic(STATIC).handle)
    still = len(heard)
    await phone.write(phone.characteristic(CONTROL).handle, b"\x01")
    await phone.until_heard(heard, still + 3)
    expect(len(await lab.mynah.wait_for_all("app.woken", 2, before)), 2, "count of app.woken")


@scenario("app.yaml", fresh=True)
async def terminated_and_relaunched(lab: Lab) -> None:
    """an app that the system has ended stays on the air, and a read relaunches it, restored"""
    phone = await lab.meet()
    await lab.mynah.press("t", "app.terminated", reason="system")
    await until_heard_as(lab, [C007])
    before = lab.mynah.mark
    expect(await phone.read(phone.characteristic(CONTROL).handle), b"\x00", "value of the relaunched app")
    await lab.mynah.wait_for("read", before)
    wanted = ["app.launched", "app.restored", "state.changed", "app.woken", "read"]
    told = [each["event"] for each in lab.mynah.events[before:] if each["event"] in wanted]
    expect(told, wanted, "events of the relaunch")
    expect(lab.mynah.all("app.launched", before)[0]["restoreIdentifiers"], ["com.example.lab"], "identifiers to restore")


@scenario("app.yaml", fresh=True)
async def quit_by_the_user(lab: Lab) -> None:
    """an app that its user has quit is gone from the air and from the database, until its user opens it"""
    await lab.meet()
    await lab.mynah.press("q", "app.quit")
    await lab.air.until_silent()
    expect(await lab.instances(), 0, "count of advertisements")
    await lab.mynah.press("f", "app.foreground")
    await until_heard_as(lab, [NAME, LIST])
    await lab.phone.forget()
    phone = await lab.meet()
    expect(await phone.read(phone.characteristic(STATIC).handle), b"\x01", "static value")


@scenario(fresh=True)
async def two_apps(lab: Lab) -> None:
    """two apps of one phone share one advert: name and list of the one in front, one mask, and the faster rate"""
    await lab.play("app.yaml", str(PROFILES / "second-app.yaml"))
    # One is on the screen: the first, as both start there.
    on_air = await until_heard_as(lab, [NAME, LIST, FIRST])
    expect(on_air.interval, FAST, "interval with one in the foreground")
    await lab.mynah.press("b", "app.background", device="App")
    on_air = await until_heard_as(lab, [BOTH])
    expect(on_air.interval, slow(lab), "interval with both in the background, in 0.625 ms")
    expect(len(lab.air.advertised), 1, "count of adverts on the air")
    phone = await lab.meet()
    expect(await phone.read(phone.characteristic("2A19").handle), b"\x63", "value of the second app")
    expect(await phone.read(phone.characteristic(CONTROL).handle), b"\x00", "value of the first app")


@scenario("app.yaml", fresh=True, needs=("daemon",))
async def bluetoothd_restarted(lab: Lab) -> None:
    """bluetoothd is restarted: the Bluetooth state is resetting, and the app publishes its services again"""
    mode = lab.services.mode
    before = lab.mynah.mark
    await lab.services.stop_bluetoothd()
    await lab.mynah.wait_for("state.changed", before, state="resetting")
    await lab.services.start_bluetoothd(mode)
    await lab.mynah.wait_for("state.changed", before, state="poweredOn")
    await until_heard_as(lab, [NAME, LIST])
    phone = await lab.meet()
    expect(await phone.read(phone.characteristic(CONTROL).handle), b"\x00", "value after the restart")
