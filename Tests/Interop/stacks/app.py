"""An app of ours that is a central, with a device that is Bumble's."""

import asyncio
import os
import pty
import tempfile
from pathlib import Path

from bumble import hci
from bumble.core import AdvertisingData

from stacks.bumble_device import NAME, BumbleDevice, uuid
from stacks.netsim import Run
from stacks.places import Place, open_host
from stacks.program import Program

SENTENCE = "an app finds a Bumble device, uses it, sleeps, loses it, has it back, and is relaunched by its value"


def path(number: int) -> str:
    return f"{text(1)}/{text(number)}"


def text(number: int) -> str:
    return str(uuid(number)).upper().removeprefix("UUID-128:").split(" ")[0]


PROFILE = f"""
mynah: 1
name: App
app: {{backgroundModes: [bluetooth-central]}}
central:
  restoreIdentifier: com.example.app
  scan: {{services: [{text(1)}]}}
  peripherals:
    - name: Strap
      match: {{services: [{text(1)}]}}
      read: [{path(2)}, {path(5)}]
      subscribe: [{path(4)}]
      write: [{{to: {path(2)}, value: {{hex: 2A}}}}]
"""


class Strap(BumbleDevice):
    """It advertises its service, and its name in the scan response."""

    async def start(self) -> None:
        await self.device.power_on()
        data = AdvertisingData([
            (AdvertisingData.FLAGS, bytes([6])),
            (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, uuid(1).to_bytes()),
        ])  # fmt: skip
        name = AdvertisingData([(AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
        await self.device.start_advertising(
            advertising_data=bytes(data), scan_response_data=bytes(name), auto_restart=True,
            own_address_type=hci.OwnAddressType.RANDOM, advertising_interval_min=20, advertising_interval_max=20,
        )  # fmt: skip

    async def leave(self) -> None:
        for connection in list(self.device.connections.values()):
            await connection.disconnect()


class Phone:
    """`mynah run` with the app, whose life is moved by keys."""

    def __init__(self, place: Place) -> None:
        self.place = place

    async def __aenter__(self) -> "Phone":
        self.directory = tempfile.TemporaryDirectory(prefix="mynah-app-")
        profile = Path(self.directory.name) / "app.yaml"
        profile.write_text(PROFILE)
        radio = await self.place.our_address()
        self.keyboard, terminal = pty.openpty()
        environment = self.place.environment or {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"}
        process = await asyncio.create_subprocess_exec(
            str(Program.path), "run", "--events", "json", "--radio",
            radio if radio.startswith("netsim") else f"hci:{radio}",
            "--state-dir", f"{self.directory.name}/state", str(profile),
            stdin=terminal, stdout=asyncio.subprocess.PIPE, env=environment,
        )  # fmt: skip
        os.close(terminal)
        self.run = Run(process)
        return self

    async def until(self, name: str, **fields) -> dict:
        return await self.run.until(
            lambda event: event["event"] == name and all(event.get(key) == value for key, value in fields.items())
        )

    async def press(self, key: str, name: str) -> None:
        os.write(self.keyboard, key.encode())
        await self.until(name)

    async def __aexit__(self, *error) -> None:
        try:
            await self.run.end()
        finally:
            os.close(self.keyboard)
            self.directory.cleanup()


async def lives(place: Place) -> None:
    strap = Strap(await open_host(await place.address()))
    await strap.start()
    try:
        async with Phone(place) as phone:
            await phone.until("peripheral.discovered", **{"as": "Strap"})
            await phone.until("peripheral.connected")
            await phone.until("services.discovered")
            await phone.until("value.read", value="01")
            # It wants security, and the phone pairs by itself.
            await phone.until("value.read", value="05")
            await phone.until("notification.changed", on=True)
            await phone.until("value.written", value="2A")
            assert strap.values[2] == b"\x2a", f"{strap.values[2]}"
            await strap.notify(b"\x11")
            await phone.until("value.updated", value="11")

            await phone.press("s", "app.suspended")
            await strap.notify(b"\x22")
            await phone.until("app.woken", by="notified")
            await phone.until("value.updated", value="22")

            await phone.press("s", "app.suspended")
            await strap.leave()
            await phone.until("app.woken", by="disconnected")
            await phone.until("peripheral.disconnected")
            await phone.until("peripheral.connecting")
            await phone.until("peripheral.connected")
            await phone.until("notification.changed", on=True)

            await phone.press("t", "app.terminated")
            before = len(phone.run.events)
            await strap.notify(b"\x33")
            await phone.until("value.updated", value="33")
            names = [event["event"] for event in phone.run.events[before:]]
            wanted = ["app.launched", "app.restored", "state.changed", "app.woken", "value.updated"]
            assert [name for name in names if name in wanted] == wanted, f"{names}"
    finally:
        await strap.stop()
