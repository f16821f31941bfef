"""A device that Bumble's snooper has captured, or that our program records, is imported, and played to the same phone."""

import asyncio
import json
import os
import re
import tempfile
from pathlib import Path

from bumble import att, hci
from bumble.snoop import BtSnooper

from stacks.bumble_device import BumbleDevice
from stacks.our_device import OurDevice
from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, open_host
from stacks.program import Program

CAPTURED = "a Bumble device in Bumble's capture comes back with its values, its pairing and its notifications"
PREPARED = "a device with prepared writes in Bumble's capture comes back"
RECORDED = "a Bumble device that mynah record was connected to comes back"

TICKS = [bytes([0x10, number]) for number in range(3)]
LONG = bytes(0xFF - (each & 0xFF) for each in range(300))


async def outcome(request) -> bytes | str:
    """The value that a read gets, or that it needs security: Bumble says 0x0F if our host says 0x05."""
    try:
        return await request
    except att.ATT_Error as refusal:
        assert refusal.error_name.startswith("INSUFFICIENT_"), refusal.error_name
        return "needs security"


async def meet(phone: Phone, notify=None, prepares: bool = False) -> dict:
    """All that a phone reads, writes and hears; `notify` has the device send the ticks."""
    await phone.start()
    phone.holds("noInputNoOutput", True)
    await phone.connect(await phone.find())
    await phone.peer.request_mtu(185)
    await phone.discover()
    answers: dict = {
        "properties": {str(each.uuid): int(each.properties) for each in phone.service.characteristics},
        "values": [await phone.read(number) for number in (2, 3, 6)],
        "unpaired": [await outcome(phone.read(number)) for number in (5, 7)],
    }
    await asyncio.wait_for(phone.connection.pair(), PATIENCE)
    answers["paired"] = [await outcome(phone.read(number)) for number in (5, 7)]
    await phone.subscribe()
    for tick in TICKS:
        if notify is not None:
            await notify(tick)
    answers["heard"] = [await phone.until_heard() for _ in TICKS]
    # Values that follow a write would be its answers.
    await phone.write(2, b"\x22")
    await phone.write(6, b"\x66", with_response=False)
    if prepares:
        await phone.write_long(3, LONG)
    answers["written"] = [await phone.read(number) for number in (2, 3, 6)]
    await phone.disconnect()
    return answers


async def run(*words: object) -> str:
    """Standard output of our program, which must end well."""
    child = await asyncio.create_subprocess_exec(
        Program.path, *(str(word) for word in words), stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"},
    )  # fmt: skip
    try:
        output, errors = await child.communicate()
    except asyncio.CancelledError:
        child.kill()
        raise
    assert child.returncode == 0, errors.decode()
    return output.decode()


async def profile_in(files: str) -> str:
    """The profile that was written, which is valid; it names its recording by its whole path."""
    profile, *rest = files.split()
    await run("check", profile)
    text = Path(profile).read_text()
    for recording in rest:
        text = re.sub(r'file: "[^"]*"', f'file: "{recording}"', text)
    return text


async def play(place: Place, profile: str, prepares: bool = False) -> dict:
    async with Program(place, profile):
        phone = Phone(await open_host(await place.address()))
        try:
            return await meet(phone, prepares=prepares)
        finally:
            await phone.stop()


async def capture(place: Place, device, prepares: bool) -> None:
    """The phone's host writes btsnoop; what is imported answers it as the device did."""
    with tempfile.TemporaryDirectory(prefix="mynah-imports-") as name:
        log = Path(name) / "phone.btsnoop"
        with log.open("wb") as file:
            try:
                await device.start()
                phone = Phone(await open_host(await place.address()))
                phone.device.host.snooper = BtSnooper(file)
                try:
                    first = await meet(phone, device.notify, prepares)
                finally:
                    await phone.stop()
            finally:
                await device.stop()
        text = await profile_in(await run("import", log, "--output", Path(name) / "imported"))
        again = await play(place, text, prepares)
        assert again == first, f"{again}\n{first}\n{text}"


async def is_captured(place: Place) -> None:
    await capture(place, BumbleDevice(await open_host(await place.address())), prepares=False)


async def is_captured_with_prepared_writes(place: Place) -> None:
    await capture(place, await OurDevice.make(place, "noInputNoOutput", True, False), prepares=True)


async def is_recorded(place: Place) -> None:
    """`mynah record` of the device, and the phone of what was recorded; then the phone of the device itself."""
    with tempfile.TemporaryDirectory(prefix="mynah-imports-") as name:
        device = BumbleDevice(await open_host(await place.address()))
        await device.start()
        sending = asyncio.ensure_future(send(device))
        try:
            address = (await place.address()).replace("tcp-client", "hci:tcp-client")
            files = await run(
                "record", device.device.random_address.to_string(False), "--radio", address, "--timeout", "2s",
                "--output", Path(name) / "recorded")  # fmt: skip
            text = await profile_in(files)
        finally:
            sending.cancel()
        try:
            phone = Phone(await open_host(await place.address()), hci.Address("F5:F4:F3:F2:F1:F1"))
            try:
                first = await meet(phone, device.notify)
            finally:
                await phone.stop()
        finally:
            await device.stop()
        again = await play(place, text)
        # The phone of the device hears other ticks than the recorder did, of which the profile has those.
        recording = Path(files.split()[1]).read_text().splitlines()
        recorded = [bytes.fromhex(json.loads(line)["value"]) for line in recording]
        heard = again.pop("heard")
        assert heard == recorded[: len(heard)], f"{heard}\n{recorded}"
        first.pop("heard")
        assert again == first, f"{again}\n{first}\n{text}"


async def send(device: BumbleDevice) -> None:
    """Ticks for anything that is subscribed, until it is cancelled."""
    while True:
        for tick in TICKS:
            await device.notify(tick)
            # A device's own pace: what it sends is the recording.
            await asyncio.sleep(0.1)


SCENES = [(CAPTURED, is_captured), (PREPARED, is_captured_with_prepared_writes), (RECORDED, is_recorded)]
