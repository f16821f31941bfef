"""Input that cannot work ends with a clear error and a status, and leaves nothing behind."""

from pathlib import Path

from lab.adapter import SETS, RadioSwitch
from lab.other import other_application
from lab.places import WORK
from lab.scenario import Lab, expect, expect_that, scenario
from lab.services import HCI0


async def refuses(lab: Lab, *words: str, profile: str | Path = "heart-rate.yaml", options: tuple[str, ...] = (), **more) -> None:
    """`run` ends by itself with a status that is not 0, and its error speaks of one of the words."""
    mynah = await lab.play(profile, *options, ready=False, **more)
    status = await mynah.ended()
    expect_that(0 < status < 128, f"wanted a failure of its own, found the exit status {status}: {mynah.errors.strip()}")
    expect(mynah.all("ready"), [], "events ready")
    said = mynah.errors.lower()
    expect_that(any(word in said for word in words), f"the error speaks of none of {words}: {mynah.errors.strip() or '(nothing)'}")
    expect(lab.air.advertised, [], "adverts on the air")


@scenario(needs=("daemon",))
async def no_bus(lab: Lab) -> None:
    """without a message bus"""
    await refuses(lab, "bus", environment={"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"})


@scenario(needs=("daemon",))
async def no_bluetoothd(lab: Lab) -> None:
    """with a bus and without bluetoothd"""
    mode = lab.services.mode
    await lab.services.stop_bluetoothd()
    try:
        await refuses(lab, "bluetoothd")
    finally:
        await lab.services.start_bluetoothd(mode)
        await lab.services.until_adapter()


@scenario()
async def no_adapter(lab: Lab) -> None:
    """without an adapter"""
    await lab.adapter.pull_out()
    try:
        await refuses(lab, "adapter", "controller")
    finally:
        await lab.adapter.plug_in()
        await lab.services.until_adapter()


@scenario(needs=("daemon",))
async def other_adapter(lab: Lab) -> None:
    """with another adapter than the one that was asked for"""
    await refuses(lab, "hci7", options=("--adapter", "hci7"))


@scenario(needs=("daemon",))
async def blocked(lab: Lab) -> None:
    """with an adapter that rfkill blocks"""
    RadioSwitch.block(True)
    try:
        await lab.services.until(lambda objects: not power(objects), "the end of the adapter's power", 20)
        await refuses(lab, "rfkill", "blocked")
    finally:
        RadioSwitch.block(False)
        await lab.services.until_powered()


def power(objects: dict) -> bool:
    return objects[HCI0]["org.bluez.Adapter1"]["Powered"].value


POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy user="nobody">
    <deny send_destination="org.bluez"/>
  </policy>
</busconfig>
"""


@scenario(needs=("daemon",))
async def no_permission(lab: Lab) -> None:
    """as a user to whom the bus denies bluetoothd"""
    path = Path("/etc/dbus-1/system.d/zz-lab.conf")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(POLICY)
    try:
        await reload_bus(lab)
        await refuses(lab, "permission", "denied", "not allowed", "may not", user="nobody")
    finally:
        path.unlink()
        await reload_bus(lab)


async def reload_bus(lab: Lab) -> None:
    bus = "org.freedesktop.DBus"
    await lab.services.call(bus, "/org/freedesktop/DBus", bus, "ReloadConfig")


@scenario(needs=("daemon",))
async def held_by_another(lab: Lab) -> None:
    """when another application holds every advertising set, and it may keep them"""
    before = await lab.services.settings()
    async with other_application(lab.services) as other:
        for _ in range(SETS):
            await other.hold()
        mynah = await lab.play("heart-rate.yaml", ready=False)
        status = await mynah.ended()
        expect_that(0 < status < 128, f"exit status {status}: {mynah.errors.strip()}")
        expect_that("advertis" in mynah.errors.lower(), f"the error does not speak of advertising: {mynah.errors.strip()}")
        expect(await lab.instances(), SETS, "instances of the other application")
        expect(await lab.services.settings(), before, "settings of the adapter")


@scenario()
async def profiles(lab: Lab) -> None:
    """with invalid profiles: absent, no YAML, of wrong types, too long, reserved, over their budget"""
    head = "mynah: 1\nname: Bad\ndevice: {name: Bad}\n"
    service = "services:\n  - uuid: battery\n    characteristics:\n      - {uuid: 2A19, properties: [read], value: {hex: 64}}\n"
    bad = {
        "no-yaml": ("{ [", "no-yaml"),
        "wrong-type": (head + "services: 7\n", "services"),
        "unknown-key": (head + "advertizing: {}\n" + service, "advertis"),
        "duplicate-key": (head + "name: Twice\n" + service, "name"),
        "uuid-length": (head + service.replace("battery", "12345"), "12345"),
        "reserved": (head + service.replace("battery", "1800"), "1800"),
        "cccd": (head + service.replace("}}\n", "}, descriptors: [{uuid: 2902, value: {hex: 0000}}]}\n"), "2902"),
        "value-of-513": (head + service.replace("{hex: 64}", "{hex: " + "00" * 513 + "}"), "512"),
        "over-budget": (head + "advertising: {manufacturerData: {0x0059: " + "00" * 40 + "}}\n" + service, "manufacturerdata"),
        "nested": ("[" * 10_000_000, "nested"),
    }
    for name, (text, word) in bad.items():
        await refuses(lab, word, profile=lab.written(f"{name}.yaml", text))
    await refuses(lab, "nowhere", profile=WORK / "nowhere.yaml")
    empty = WORK / "empty"
    empty.mkdir(exist_ok=True)
    await refuses(lab, "the folder has no profile", profile=empty)
    expect(await lab.instances(), 0, "active instances")
