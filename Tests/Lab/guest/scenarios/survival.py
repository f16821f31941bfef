"""The device lives through what befalls its radio, and leaves nothing behind."""

import signal
from collections.abc import Awaitable, Callable

from dbus_fast import Variant

from lab.adapter import RadioSwitch
from lab.scenario import Lab, expect, expect_that, scenario

HEART_RATE, CONTROL = "2A37", "2A39"


async def survives(lab: Lab, lose: Callable[[], Awaitable[None]], give_back: Callable[[], Awaitable[None]]) -> None:
    """A phone subscribes and writes; the radio goes and comes back; it finds the same device with the same values."""
    phone = await lab.meet()
    heard = await phone.subscribe(phone.characteristic(HEART_RATE))
    await phone.until_heard(heard, 3)
    await phone.write(phone.characteristic(CONTROL).handle, b"\x07")
    on_air = await lab.air.until_advertised()
    advert = (on_air.data, on_air.scan_response, on_air.interval)
    before = lab.mynah.mark
    await lose()
    await lab.mynah.wait_for("radio.lost", before)
    await phone.until_disconnected()
    await give_back()
    await lab.mynah.wait_for("radio.recovered", before)
    on_air = await lab.air.until_advertised()
    expect((on_air.data, on_air.scan_response, on_air.interval), advert, "advert after the recovery")
    phone = await lab.meet()
    expect(await phone.read(phone.characteristic("2A38").handle), b"\x01", "static value")
    expect(await phone.read(phone.characteristic(CONTROL).handle), b"\x07", "value that was written before")
    heard = await phone.subscribe(phone.characteristic(HEART_RATE))
    await phone.until_heard(heard, 10)
    await phone.signal.until(lambda: len(set(heard)) > 3, "a generator that moves")
    expect_that(lab.mynah.running, "mynah has ended")
    expect(len(lab.mynah.all("radio.lost", before)), 1, "count of radio.lost")
    expect(len(lab.mynah.all("radio.recovered", before)), 1, "count of radio.recovered")


@scenario("heart-rate.yaml", fresh=True, needs=("daemon",))
async def bluetoothd_restarted(lab: Lab) -> None:
    """bluetoothd is restarted: the device comes back by itself, values and generator unharmed"""
    mode = lab.services.mode
    await survives(lab, lab.services.stop_bluetoothd, lambda: lab.services.start_bluetoothd(mode))


@scenario("heart-rate.yaml", fresh=True, needs=("daemon",))
async def bluetoothd_killed(lab: Lab) -> None:
    """bluetoothd is killed and started again: the device comes back by itself, values and generator unharmed"""
    mode = lab.services.mode
    await survives(
        lab, lambda: lab.services.stop_bluetoothd(signal.SIGKILL), lambda: lab.services.start_bluetoothd(mode)
    )


@scenario("heart-rate.yaml", fresh=True, needs=("daemon",))
async def adapter_powered_off(lab: Lab) -> None:
    """the adapter is powered off and on: the device comes back by itself, values and generator unharmed"""
    await survives(lab, lambda: lab.services.power(False), lambda: lab.services.power(True))


@scenario("heart-rate.yaml", fresh=True)
async def adapter_pulled_out(lab: Lab) -> None:
    """the adapter is pulled out and put back: the device comes back by itself, values and generator unharmed"""
    await survives(lab, lab.adapter.pull_out, lab.adapter.plug_in)


@scenario("heart-rate.yaml", fresh=True, needs=("daemon",))
async def twice(lab: Lab) -> None:
    """the same failure is survived twice"""
    for _ in range(2):
        await survives(lab, lambda: lab.services.power(False), lambda: lab.services.power(True))
        await lab.phone.disconnect()
        await lab.services.until_alone()


@scenario(fresh=True, needs=("daemon",))
async def put_back(lab: Lab) -> None:
    """after SIGTERM the adapter's alias, power, discoverability and pairability are as they were, and no advert is left"""
    await lab.services.set("Alias", Variant("s", "Somebody's machine"))
    await lab.services.set("Pairable", Variant("b", True))
    before = await lab.services.settings()
    await lab.play("heart-rate.yaml")
    expect((await lab.services.settings())["Alias"], "Mynah HRM", "alias while the device plays")
    expect(await lab.mynah.stop(), 0, "exit status")
    expect(await lab.services.settings(), before, "settings of the adapter")
    expect(await lab.instances(), 0, "active instances")
    await lab.air.until_silent()


@scenario(fresh=True, needs=("daemon",))
async def put_back_powered_off(lab: Lab) -> None:
    """an adapter that was off is powered on while the device plays and off again after SIGINT"""
    await lab.services.power(False)
    try:
        await lab.play("heart-rate.yaml")
        await lab.meet(discover=False)
        await lab.phone.disconnect()
        expect(await lab.mynah.stop(signal.SIGINT), 0, "exit status")
        expect((await lab.services.settings())["Powered"], False, "power afterwards")
    finally:
        await lab.services.power(True)


@scenario(fresh=True, needs=("links_of_its_own",))
async def services_withdrawn(lab: Lab) -> None:
    """after SIGTERM the services are gone, also for a phone that stays connected"""
    await lab.play("heart-rate.yaml")
    phone = await lab.meet()
    phone.service("180D")
    expect(await lab.mynah.stop(), 0, "exit status")
    await phone.discover()
    expect([each.uuid for each in phone.services], ["1800", "1801"], "services afterwards")


@scenario("heart-rate.yaml", fresh=True, needs=("daemon",))
async def stopped_while_lost(lab: Lab) -> None:
    """SIGTERM ends a device whose bluetoothd is gone, with exit status 0"""
    mode = lab.services.mode
    await lab.services.stop_bluetoothd()
    await lab.mynah.wait_for("radio.lost")
    expect(await lab.mynah.stop(), 0, "exit status")
    await lab.services.start_bluetoothd(mode)
    await lab.services.until_adapter()
    # Nobody was there to give the name back to.
    await lab.services.set("Alias", Variant("s", ""))


@scenario("heart-rate.yaml", fresh=True)
async def stopped_without_adapter(lab: Lab) -> None:
    """SIGTERM ends a device whose adapter is gone, with exit status 0"""
    await lab.adapter.pull_out()
    try:
        await lab.mynah.wait_for("radio.lost")
        expect(await lab.mynah.stop(), 0, "exit status")
    finally:
        await lab.adapter.plug_in()
        await lab.services.until_adapter()


@scenario("heart-rate.yaml", fresh=True, needs=("daemon",))
async def blocked_and_released(lab: Lab) -> None:
    """an adapter that rfkill blocks is lost, and back when it is released"""
    before = lab.mynah.mark
    RadioSwitch.block(True)
    try:
        await lab.mynah.wait_for("radio.lost", before)
    finally:
        RadioSwitch.block(False)
    await lab.services.until_powered()
    await lab.mynah.wait_for("radio.recovered", before)
    await lab.meet()


@scenario(fresh=True)
async def stopped_as_a_phone_comes(lab: Lab) -> None:
    """a device that is stopped in the moment a phone connects, or leaves, leaves nothing behind, and bluetoothd alive"""
    for leave in (False, True, False, True):
        await lab.play("heart-rate.yaml")
        await lab.phone.connect(lab.adapter.address)
        if leave:
            await lab.phone.disconnect()
        expect(await lab.mynah.stop(), 0, "exit status")
        await lab.phone.disconnect()
        await lab.services.until_alone()
        lab.services.check()
        expect(await lab.instances(), 0, "active instances")
