"""A host of HID devices: bluetoothd as a central, told by bluetoothctl, and the kernel's input devices."""

import asyncio
import os
import re
import struct
from pathlib import Path

from lab.events import Signal

# linux/input.h: struct input_event on 64 bits, and the types of events.
EVENT = struct.Struct("<qqHHi")
SYNCHRONISATION, KEY, LED = 0, 1, 0x11


class Bluetoothctl:
    """bluetoothctl on a pipe, with an agent for devices that neither show nor take a number."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.said = ""
        self.signal = Signal()
        self.process: asyncio.subprocess.Process | None = None
        self.reader: asyncio.Task | None = None

    async def __aenter__(self) -> "Bluetoothctl":
        self.process = await asyncio.create_subprocess_exec(
            "bluetoothctl", "--agent", "NoInputNoOutput", stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        self.reader = asyncio.create_task(self.read())
        await self.until("Agent registered")
        return self

    async def __aexit__(self, *_error) -> None:
        assert self.process is not None and self.process.stdin is not None and self.reader is not None
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 10)
        except TimeoutError:
            self.process.kill()
        await self.reader

    async def read(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        while data := await self.process.stdout.read(4096):
            self.said += data.decode(errors="replace")
            self.log.write_text(self.said)
            self.signal.happened()

    async def until(self, text: str, since: int = 0, within: float = 60) -> None:
        await self.signal.until(lambda: text in self.said[since:], f"bluetoothctl's {text!r}", within)

    async def tell(self, command: str, answer: str) -> None:
        """Types a command, and waits until this is said."""
        assert self.process is not None and self.process.stdin is not None
        since = len(self.said)
        self.process.stdin.write(command.encode() + b"\n")
        await self.process.stdin.drain()
        await self.until(answer, since)


class InputDevice:
    """An input device of the kernel, by its name."""

    def __init__(self, node: Path) -> None:
        self.signal = Signal()
        # The keys that were pressed and released, as the kernel numbers them.
        self.keys: list[tuple[int, int]] = []
        self.descriptor = os.open(node, os.O_RDWR | os.O_NONBLOCK)
        asyncio.get_running_loop().add_reader(self.descriptor, self.read)

    @classmethod
    async def named(cls, name: str, within: float = 60) -> "InputDevice":
        async def node() -> Path:
            while True:
                for entry in Path("/proc/bus/input/devices").read_text().split("\n\n"):
                    found = re.search(r"^H: Handlers=.*\b(event\d+)", entry, re.MULTILINE)
                    path = Path("/dev/input") / found[1] if found else None
                    if path and f'N: Name="{name}"' in entry and path.exists():
                        return path
                # The kernel makes it when bluetoothd has read the report map, and says so to udev alone.
                await asyncio.sleep(0.1)

        try:
            return cls(await asyncio.wait_for(node(), within))
        except TimeoutError:
            raise AssertionError(f"the kernel has no input device {name!r} after {within:g} s") from None

    def read(self) -> None:
        try:
            data = os.read(self.descriptor, 64 * EVENT.size)
        except BlockingIOError:
            return
        except OSError:
            # The device is gone.
            asyncio.get_running_loop().remove_reader(self.descriptor)
            return
        for _, _, kind, code, value in EVENT.iter_unpack(data):
            if kind == KEY:
                self.keys.append((code, value))
        self.signal.happened()

    def light(self, led: int, on: bool) -> None:
        os.write(self.descriptor, EVENT.pack(0, 0, LED, led, int(on)) + EVENT.pack(0, 0, SYNCHRONISATION, 0, 0))

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self.descriptor)
        os.close(self.descriptor)
