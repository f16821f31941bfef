"""`mynah air --vhci`, with bluetoothd, bluetoothctl and btmon on its adapter, and devices on the same air."""

import asyncio
import contextlib
import re
from pathlib import Path

from lab.adapter import adapters
from lab.events import Signal
from lab.mynah import Mynah
from lab.places import WORK
from lab.scenario import Lab, expect, expect_that
from lab.services import end

ADDRESS = "C0:DE:AA:00:00:01"
# Both ends of a link are on one slow machine: bluetoothd asks for links that bear that, and keeps what it has found.
# Its connection interval is in units of 1.25 ms.
INTERVAL = 400
PATIENT = """
[General]
TemporaryTimeout=900
DeviceID=false
[LE]
MinConnectionInterval={interval}
MaxConnectionInterval={interval}
ConnectionSupervisionTimeout=3200
[Policy]
AutoEnable=true
"""
# The colours and the prompt that bluetoothctl prints.
DECORATION = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x01|\x02|\r|\[[^]]*\]# ")


async def start_bluetoothd(lab: Lab, interval: int = INTERVAL) -> None:
    """Starts bluetoothd anew with `PATIENT`, and waits until it has powered hci0."""
    configuration = WORK / "patient.conf"
    configuration.write_text(PATIENT.format(interval=interval))
    await lab.services.stop_bluetoothd()
    lab.services.drop_bonds()
    await lab.services.start_bluetoothd("stock", "-f", str(configuration))
    await lab.services.until_adapter(60)


@contextlib.asynccontextmanager
async def only_air(lab: Lab):
    """Without the lab's own adapter: the first of mynah air is hci0, and what programs use by default."""
    await lab.services.stop_bluetoothd()
    await lab.adapter.pull_out()
    try:
        yield
    finally:
        await lab.services.stop_bluetoothd()
        before = len(lab.air.packets)
        await lab.adapter.plug_in()
        await lab.adapter.until_set_up(before)


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

    @property
    def mark(self) -> int:
        return len(self.text)

    async def type(self, line: str, answer: str | None = None, within: float = 90) -> str:
        """Types a line, and waits for a text that matches the pattern after it."""
        start = self.mark
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()
        return "" if answer is None else await self.until(answer, start, within)

    async def until(self, pattern: str, start: int = 0, within: float = 90) -> str:
        found = await self.signal.until(
            lambda: re.search(pattern, self.text[start:]), f"{pattern!r} of {self.log.name}", within
        )
        return found[0]

    async def stop(self) -> None:
        await end(self.process)
        await self.reader


class OpenAir:
    """`mynah air --vhci`, devices on the same air, and bluetoothctl and btmon for its adapter."""

    def __init__(
        self, lab: Lab, profile: Path | None = None, *options: str, address: str = ADDRESS, interval: int = INTERVAL
    ) -> None:
        """`options` are those of bluetoothctl; `profile` plays from the start."""
        self.lab, self.profile, self.options, self.address, self.interval = lab, profile, options, address, interval
        self.air = Mynah("", lab.results)
        self.devices: list[Mynah] = []
        self.tools: list[Tool] = []

    @property
    def device(self) -> Mynah:
        """The device that plays, or the one that did last."""
        return self.devices[-1]

    async def __aenter__(self) -> "OpenAir":
        try:
            await self.open()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *error) -> None:
        expect(await self.close(), 0, "the exit status of mynah air")

    async def open(self) -> None:
        lab = self.lab
        ready = await self.air.open_air("--vhci", "--address", self.address)
        (self.adapter,) = ready["adapters"]
        expect_that(self.adapter in adapters(), f"{self.adapter} is among {adapters()}")
        joined = await self.air.wait_for("host.joined")
        expect((joined["host"], joined["address"], joined["place"]), (self.adapter, self.address, "vhci"), "the host")
        self.monitor = await self.tool("btmon", "-i", self.adapter)
        await start_bluetoothd(lab, self.interval)
        self.control = await self.tool("bluetoothctl", *self.options)
        await self.control.until("Agent registered")
        await self.control.type(f"select {self.address}")
        await self.control.type("power on", "Changing power on succeeded")
        if self.profile is not None:
            await self.play(self.profile)

    async def close(self) -> int | None:
        """Ends everything, and returns the exit status of mynah air."""
        for tool in reversed(self.tools):
            with contextlib.suppress(ProcessLookupError):
                await tool.stop()
        for device in self.devices:
            await device.stop()
        return await self.air.stop()

    async def tool(self, name: str, *options: str) -> Tool:
        """Starts a program of BlueZ, which ends with this."""
        self.tools.append(await Tool(self.lab, name).start(name, *options))
        return self.tools[-1]

    async def play(self, profile: Path, *options: str) -> Mynah:
        """Plays a device on the air, beside those that play already."""
        device = Mynah("virtual", self.lab.results)
        self.devices.append(device)
        await device.start(profile, *options)
        return device

    async def find(self, name: str) -> str:
        """Scans for the device, and returns its address."""
        await self.control.type("scan le", rf"Device \S+ {name}")
        found = re.findall(rf"Device (\S+) {name}", self.control.text)
        await self.control.type("scan off", "Discovery stopped|Discovering: no")
        return found[-1]

    async def select(self, uuid: str) -> None:
        """Selects a characteristic in bluetoothctl's menu of GATT."""
        await self.control.type(f"select-attribute {uuid.lower()}")

    async def read(self, uuid: str, value: bytes) -> None:
        """Reads the characteristic, and waits for this value."""
        await self.select(uuid)
        await self.control.type("read", value.hex(" "))

    def expect_no_errors(self) -> None:
        """No command failed that the kernel sent while it brought the adapter up and used it."""
        failures = re.findall(r"Status: (?!Success)[^\n]*|HCI Event: Hardware Error", self.monitor.text)
        expect(failures, [], "the failures that btmon shows")
