"""The kernel and bluetoothd as the phone: `mynah air --vhci` makes an adapter, and `mynah run` plays beside it."""

import asyncio
import contextlib
import os
import re
from pathlib import Path

from lab.adapter import adapters
from lab.events import Signal
from lab.mynah import Mynah
from lab.places import BINARY, CHECKOUT, WORK
from lab.scenario import Lab, expect, expect_that, scenario
from lab.services import end

HEART_RATE = CHECKOUT / "profiles" / "heart-rate.yaml"
ADDRESS = "C0:DE:AA:00:00:01"
NAME = "Mynah HRM"
# Both ends of a link are on one slow machine: bluetoothd asks for links that bear that.
PATIENT = """
[LE]
MinConnectionInterval=400
MaxConnectionInterval=400
ConnectionSupervisionTimeout=3200
[Policy]
AutoEnable=true
"""
# The colours and the prompt that bluetoothctl prints.
DECORATION = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x01|\x02|\r|\[[^]]*\]# ")


async def start_bluetoothd(lab: Lab) -> None:
    configuration = WORK / "patient.conf"
    configuration.write_text(PATIENT)
    await lab.services.stop_bluetoothd()
    await lab.services.start_bluetoothd("stock", "-f", str(configuration))
    await lab.services.until_adapter()


class Tool:
    """A program of BlueZ, what it prints, and what is typed."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.log = lab.results / f"{name}.log"
        self.text = ""
        self.signal = Signal()

    async def start(self, *command: str) -> "Tool":
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        self.reader = asyncio.create_task(self.read())
        return self

    async def read(self) -> None:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(65536):
            with open(self.log, "ab") as log:
                log.write(data)
            self.text += DECORATION.sub("", data.decode(errors="replace"))
            self.signal.happened()

    async def type(self, line: str, answer: str | None = None, within: float = 60) -> str:
        """Types a line, and waits for a text that matches the pattern after it."""
        start = len(self.text)
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()
        return "" if answer is None else await self.until(answer, start, within)

    async def until(self, pattern: str, start: int = 0, within: float = 60) -> str:
        found = await self.signal.until(
            lambda: re.search(pattern, self.text[start:]), f"{pattern!r} of {self.log.name}", within
        )
        return found[0]

    async def stop(self) -> None:
        await end(self.process)
        await self.reader


class OpenAir:
    """`mynah air --vhci`, a device on the same air, and bluetoothctl and btmon for its adapter."""

    def __init__(self, lab: Lab, profile: Path, *options: str) -> None:
        self.lab, self.profile, self.options = lab, profile, options
        self.air = Mynah("", lab.results)
        self.device = Mynah("virtual", lab.results)

    async def __aenter__(self) -> "OpenAir":
        lab = self.lab
        await start_bluetoothd(lab)
        ready = await self.air.open_air("--vhci", "--address", ADDRESS)
        (self.adapter,) = ready["adapters"]
        expect_that(self.adapter in adapters(), f"{self.adapter} is among {adapters()}")
        joined = await self.air.wait_for("host.joined")
        expect((joined["host"], joined["address"], joined["place"]), (self.adapter, ADDRESS, "vhci"), "the host")
        self.monitor = await Tool(lab, "btmon").start("btmon", "-i", self.adapter)
        path = f"/org/bluez/{self.adapter}"
        await lab.services.until(lambda objects: path in objects, f"{self.adapter} of bluetoothd", 60)
        self.control = await Tool(lab, "bluetoothctl").start("bluetoothctl", *self.options)
        await self.control.until("Agent registered")
        await self.control.type(f"select {ADDRESS}")
        await self.control.type("power on", "Changing power on succeeded")
        await self.device.start(self.profile)
        return self

    async def __aexit__(self, *error) -> None:
        for tool in (self.control, self.monitor):
            with contextlib.suppress(ProcessLookupError):
                await tool.stop()
        await self.device.stop()
        expect(await self.air.stop(), 0, "the exit status of mynah air")

    async def find(self, name: str) -> str:
        """Scans for the device, and returns its address."""
        await self.control.type("scan le", rf"Device \S+ {name}")
        found = re.search(rf"Device (\S+) {name}", self.control.text)
        assert found is not None
        await self.control.type("scan off", "Discovery stopped|Discovering: no")
        return found[1]

    def expect_no_errors(self) -> None:
        """No command failed that the kernel sent while it brought the adapter up and used it."""
        failures = re.findall(r"Status: (?!Success)[^\n]*|HCI Event: Hardware Error", self.monitor.text)
        expect(failures, [], "the failures that btmon shows")


@scenario(daemon=None, fresh=True, limit=300, needs=("daemon",))
async def is_used(lab: Lab) -> None:
    """bluetoothctl finds a device of the virtual radio by an adapter of mynah air, pairs, reads and is notified"""
    async with OpenAir(lab, HEART_RATE) as air:
        control = air.control
        address = await air.find(NAME)
        await control.type(f"connect {address}", "Connection successful", 90)
        await control.until("ServicesResolved: yes")
        await control.type(f"pair {address}", "Pairing successful", 90)
        await control.type("menu gatt")
        await control.type("select-attribute 00002a38-0000-1000-8000-00805f9b34fb")
        await control.type("read", r"\b01 +\.")
        await control.type("select-attribute 00002a37-0000-1000-8000-00805f9b34fb")
        await control.type("notify on", "Notify started")
        await control.until(r"CHG.*Value:|Value:", len(control.text))
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
