"""`mynah air`: a Bumble host on a controller of the virtual radio, where `mynah run` plays the device."""

import asyncio
import json
import os
import signal
import tempfile
from pathlib import Path

from bumble import hci

from stacks.netsim import PROFILE, Run
from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, open_host

SENTENCE = "a phone on mynah air finds a device of mynah run, reads and subscribes, beside hosts that break the rules"
LOCATION, MEASUREMENT = "2A38", "2A37"


class OpenAir(Place):
    """`mynah air`, on an air of its own."""

    name = "mynah air"
    # The built mynah.
    program: Path

    async def open(self) -> None:
        self.directory = tempfile.TemporaryDirectory(prefix="mynah-open-air-")
        self.environment = {
            **os.environ, "MYNAH_AIR": self.directory.name, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus",
        }  # fmt: skip
        self.process = await asyncio.create_subprocess_exec(
            str(self.program), "air", "--listen", "tcp:0", "--events", "json", stdout=asyncio.subprocess.PIPE,
            stdin=asyncio.subprocess.DEVNULL, env=self.environment,
        )  # fmt: skip
        self.events: list[dict] = []
        ready = await self.until("ready")
        self.port = int(ready["listening"][0].rsplit(":", 1)[1])

    async def until(self, name: str, **fields) -> dict:
        """The next event with this name and these fields."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            async for line in self.process.stdout:
                event = json.loads(line)
                self.events.append(event)
                if event["event"] == name and all(event.get(key) == value for key, value in fields.items()):
                    return event
        raise AssertionError(f"mynah air ended; it said {self.events}")

    async def address(self) -> str:
        return f"tcp-client:127.0.0.1:{self.port}"

    async def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        await asyncio.wait_for(self.process.communicate(), PATIENCE)
        assert self.process.returncode == 0, f"mynah air ended with {self.process.returncode}"
        self.directory.cleanup()


async def host(place: OpenAir, packets: bytes) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_connection("127.0.0.1", place.port)
    writer.write(packets)
    await writer.drain()
    return writer


async def is_used(place: OpenAir) -> None:
    device = await Run.start(place.program, place.environment, PROFILE, "--radio", "virtual")
    await device.until(lambda event: event["event"] == "ready")
    phone = Phone(await open_host(await place.address()))
    await phone.start()
    try:
        await phone.connect(await phone.find("Mynah HRM"))
        await phone.peer.discover_services()
        (service,) = [each for each in phone.peer.services if each.uuid.to_hex_str() == "180D"]
        await service.discover_characteristics()
        found = {each.uuid.to_hex_str(): each for each in service.characteristics}
        assert bytes(await found[LOCATION].read_value()) == b"\x01"
        heard: asyncio.Queue[bytes] = asyncio.Queue()
        await phone.peer.subscribe(found[MEASUREMENT], heard.put_nowait)
        assert len(await asyncio.wait_for(heard.get(), PATIENCE)) >= 2
        flood, nonsense = bytes.fromhex("01030C00") * 1000, b"GET / HTTP/1.1\r\n"
        for packets, reason in [(flood, "Memory Capacity Exceeded"), (nonsense, "Invalid HCI Command Parameters")]:
            writer = await host(place, packets)
            await place.until("host.left", reason=reason)
            writer.close()
        half = await host(place, b"\x02\x40")
        heard = asyncio.Queue()
        await phone.peer.subscribe(found[MEASUREMENT], heard.put_nowait)
        for _ in range(2):
            assert len(await asyncio.wait_for(heard.get(), PATIENCE)) >= 2
        half.close()
        await phone.connection.disconnect(hci.HCI_REMOTE_USER_TERMINATED_CONNECTION_ERROR)
        await device.until(lambda event: event["event"] == "central.disconnected")
    finally:
        await phone.stop()
        await device.end()
