"""The kernel and bluetoothd as the phone: `mynah air --vhci` makes an adapter, and `mynah run` plays beside it."""

import asyncio
import json
import os
from pathlib import Path

from lab import control
from lab.adapter import adapters
from lab.mynah import Mynah
from lab.open_air import ADDRESS, OpenAir, Tool, only_air, start_bluetoothd
from lab.places import BINARY, CHECKOUT
from lab.scenario import Lab, expect, expect_that, scenario, uuid

HEART_RATE = CHECKOUT / "profiles" / "heart-rate.yaml"
NAME = "Mynah HRM"
LOCATION = "00002a38-0000-1000-8000-00805f9b34fb"
MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"


@scenario(daemon=None, fresh=True, limit=300, needs=("daemon",))
async def is_used(lab: Lab) -> None:
    """bluetoothctl finds a device of the virtual radio by an adapter of mynah air, pairs, reads and is notified"""
    async with OpenAir(lab, HEART_RATE) as air:
        control = air.control
        address = await air.find(NAME)
        # The first packets of a link may come too late for a slow machine; a user then connects again.
        while "abort" in await control.type(f"connect {address}", "Connection successful|le-connection-abort-by-local"):
            pass
        await control.until("ServicesResolved: yes")
        await control.type(f"pair {address}", "Pairing successful", 90)
        await control.type("menu gatt")
        await air.select(LOCATION)
        await control.type("read", r"\b01 +\.")
        await air.select(MEASUREMENT)
        await control.type("notify on", "Notify started")
        await control.until(r"CHG.*Value:|Value:", control.mark)
        expect(len(air.device.all("paired")), 1, "pairings that the device reports")
        expect_that(air.device.all("subscribed"), "the device reports the subscription")
        await control.type("notify off", "Notify stopped")
        await control.type("back")
        await control.type(f"disconnect {address}", "Successful disconnected")
        await air.device.wait_for("central.disconnected")
        await control.type(f"remove {address}", "removed")
        # Off and on: the kernel resets the controller and brings it up once more.
        await control.type("power off", "Changing power off succeeded")
        await control.type("power on", "Changing power on succeeded")
        expect(await air.find(NAME), address, "the address that is found again")
        air.expect_no_errors()


async def just_works(air: OpenAir, mark: int) -> None:
    """Nobody is asked."""


async def device_shows(air: OpenAir, mark: int) -> None:
    """The passkey that the device shows is typed on the phone."""
    shown = await air.device.wait_for("pairing.passkey", within=90)
    await air.control.until("Request passkey", mark)
    await air.control.type(shown["passkey"])


async def phone_shows(air: OpenAir, mark: int) -> None:
    """The passkey that the phone shows is typed on the device."""
    asked = await air.device.wait_for("pairing.passkey", within=90)
    shown = (await air.control.until(r"Passkey: \d{6}", mark))[-6:]
    _, device = control.held("Permissions")
    await control.calmly(device.enter_passkey, shown, asked["central"])


async def compared(air: OpenAir, mark: int) -> None:
    """Both show the same number, and both say so."""
    shown = await air.device.wait_for("pairing.passkey", within=90)
    asked = await air.control.until(r"Confirm passkey \d{6}", mark)
    expect(asked[-6:], shown["passkey"], "the number on the phone")
    await air.control.type("yes")


# The security of the device, the capability of bluetoothctl's agent, and what people do.
WAYS = [
    ("{io: noInputNoOutput}", "NoInputNoOutput", just_works),
    ("{io: displayOnly}", "KeyboardOnly", device_shows),
    ("{io: keyboardOnly}", "DisplayOnly", phone_shows),
    ("{io: displayYesNo}", "DisplayYesNo", compared),
]
# Characteristics that are read, written and notified: with a Just Works bond, and with an authenticated one.
ENCRYPTED, AUTHENTICATED = (0x0602, 0x0603, 0x0607), (0x0604, 0x0605, 0x0608)


@scenario(daemon=None, fresh=True, limit=420, needs=("daemon",))
async def pairs(lab: Lab) -> None:
    """bluetoothctl pairs by Just Works, by a passkey of either side and by comparison, and then uses what needs it"""
    async with only_air(lab), OpenAir(lab) as air:
        for security, agent, people in WAYS:
            profile = lab.variant("permissions.yaml", "pairs.yaml", "{io: noInputNoOutput}", security)
            await air.play(profile, *control.OPTIONS)
            await air.control.type("agent off", "Agent unregistered")
            await air.control.type(f"agent {agent}", "Agent registered")
            await pair(air, people)
            await use(air, ENCRYPTED if people is just_works else AUTHENTICATED)
            await air.device.stop()
        air.expect_no_errors()


async def pair(air: OpenAir, people) -> None:
    address, mark = await air.find("Mynah Lab"), air.control.mark
    await air.control.type(f"pair {address}")
    await people(air, mark)
    await air.control.until("Pairing successful", mark)
    await air.control.until("ServicesResolved: yes", mark)
    await air.device.wait_for("paired", within=90)


async def use(air: OpenAir, numbers: tuple[int, int, int]) -> None:
    """Reads, writes and subscribes, disconnects, and forgets the bond."""
    control, (read, written, notified) = air.control, map(uuid, numbers)
    await control.type("menu gatt")
    await air.read(read, b"encrypted" if numbers is ENCRYPTED else b"authenticated")
    await air.select(written)
    await control.type('write "0x42 0x5a"', "Attempting to write")
    write = await air.device.wait_for("write", within=90)
    expect(write["value"], "425A", "value of the write")
    await air.read(written, b"BZ")
    await air.select(notified)
    await control.type("notify on", "Notify started")
    await control.until(b"told".hex(" "), control.mark)
    await control.type("notify off", "Notify stopped")
    await control.type("back")
    await control.type(f"remove {address_of(air)}", "Device has been removed")
    await air.device.wait_for("central.disconnected", within=90)


def address_of(air: OpenAir) -> str:
    return air.device.all("ready")[0]["address"]


@scenario(daemon=None, fresh=True, limit=300, needs=("daemon",))
async def two_adapters(lab: Lab) -> None:
    """two adapters of one mynah air both find the device, and are gone with it; without the module it says what to load"""
    await start_bluetoothd(lab)
    before = adapters()
    air, device = Mynah("", lab.results), Mynah("virtual", lab.results)
    ready = await air.open_air("--vhci", "--vhci", "--address", ADDRESS)
    expect(len(ready["adapters"]), 2, "adapters")
    for name in ready["adapters"]:
        path = f"/org/bluez/{name}"
        await lab.services.until(lambda objects, path=path: path in objects, f"{name} of bluetoothd", 60)
    await device.start(HEART_RATE)
    control = await Tool(lab, "bluetoothctl").start("bluetoothctl")
    await control.until("Agent registered")
    for address in (ADDRESS, ADDRESS[:-1] + "2"):
        await control.type(f"select {address}")
        await control.type("power on", "Changing power on succeeded")
        await control.type("scan le", rf"Device \S+ {NAME}")
        await control.type("scan off", "Discovery stopped|Discovering: no")
    await control.stop()
    await device.stop()
    expect(await air.stop(), 0, "the exit status of mynah air")
    await lab.services.until(lambda objects: adapters() == before, "the end of both adapters", 30)
    missing = Mynah("", lab.results)
    os.rename("/dev/vhci", "/dev/vhci-away")
    try:
        await missing.launch([BINARY, "air", "--vhci"])
        expect(await missing.ended(60), 1, "the exit status without the device file")
    finally:
        os.rename("/dev/vhci-away", "/dev/vhci")
    expect_that("sudo modprobe hci_vhci" in missing.errors, f"the error names the module: {missing.errors}")
    expect_that("linux-modules-extra-" in missing.errors, f"the error names the package: {missing.errors}")


async def run(*command: str) -> tuple[int, str]:
    """The exit status of a command, and all that it prints."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode(errors="replace")


async def verdict() -> str:
    """The finding of `mynah doctor` about the module."""
    _, said = await run(BINARY, "doctor", "--radio", "virtual", "--format", "json")
    (check,) = [each for each in json.loads(said)["checks"] if each["id"] == "vhci"]
    return check["found"]


@scenario(daemon=None, fresh=True, limit=300, needs=("daemon",))
async def module_goes(lab: Lab) -> None:
    """the module stays while mynah air uses it; removed, mynah air says what to load, and works when it is back"""
    async with only_air(lab):
        try:
            air = Mynah("", lab.results)
            ready = await air.open_air("--vhci")
            status, said = await run("rmmod", "hci_vhci")
            expect((status, "in use" in said), (1, True), f"rmmod beside mynah air, which said {said!r}")
            expect(adapters(), ready["adapters"], "adapters after the refusal")
            expect(air.running, True, "mynah air runs on")
            expect(await air.stop(), 0, "the exit status of mynah air")
            expect(await run("rmmod", "hci_vhci"), (0, ""), "rmmod")
            expect(Path("/dev/vhci").exists(), False, "the device file")
            missing = Mynah("", lab.results)
            await missing.launch([BINARY, "air", "--vhci"])
            expect(await missing.ended(60), 1, "the exit status without the module")
            expect_that("module hci_vhci is not loaded" in missing.errors, f"the error names it: {missing.errors}")
            expect_that("sudo modprobe hci_vhci" in missing.errors, f"the error says what to do: {missing.errors}")
            without = await verdict()
        finally:
            expect(await run("modprobe", "hci_vhci"), (0, ""), "modprobe")
        expect_that(await verdict() != without, f"the doctor's finding changes: {without}")
        async with OpenAir(lab, HEART_RATE) as air:
            await air.find(NAME)
            air.expect_no_errors()
