"""The services of a phone itself, as Bumble's ANCS and AMS clients find them: on a link that they make, and on one of the phone's."""

import asyncio
import contextlib
import os
import tempfile

from bumble import hci
from bumble.core import AdvertisingData
from bumble.device import Peer
from bumble.profiles.ams import AmsClient, EntityId, PlaybackState, PlayerAttributeId, RemoteCommandId, TrackAttributeId
from bumble.profiles.ancs import (
    AncsClient, AppAttributeId, CategoryId, CommandError, ErrorCode, EventFlags, EventId, NotificationAttributeId,
)  # fmt: skip

from stacks.bumble_device import BumbleDevice, uuid
from stacks.patience import PATIENCE
from stacks.phone import Phone
from stacks.places import Place, open_host
from stacks.program import Program

AS_CENTRAL = "a Bumble central uses the phone's notifications and media"
AS_PERIPHERAL = "a Bumble peripheral uses the phone's notifications and media on the phone's own link"

PHONE = """
phone:
  services: [device-information, battery, current-time, ancs, ams]
  batteryLevel: 80
  notifications:
    - app: com.apple.MobileSMS
      appName: Messages
      title: Anna
      message: Are you there? Here is a message that no notification carries at the smallest MTU.
      category: social
      date: "2026-01-31T12:00:00"
      negativeAction: Clear
      flags: [important]
  media:
    tracks: [{artist: The Mynahs, title: A song with a title that is too long for one packet}, {title: Another}]
"""

PROFILE = f"""
mynah: 1
name: Companion
app: {{}}
advertising: {{localName: Companion}}
{PHONE}
"""

CENTRAL_PROFILE = f"""
mynah: 1
name: Companion
app: {{backgroundModes: [bluetooth-central]}}
{PHONE}
central:
  scan: {{services: [{str(uuid(1)).upper().removeprefix("UUID-128:").split(" ")[0]}]}}
  peripherals: [{{name: Watch}}]
"""


class Heard:
    """The notifications that came, in order."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue = asyncio.Queue()

    async def next(self):
        return await asyncio.wait_for(self.queue.get(), PATIENCE)


async def uses(peer: Peer, directory: str, run) -> None:
    """Everything that an accessory does with the services of a phone that it is paired with."""
    control = f"unix:{directory}/control"
    services = {service.uuid.to_hex_str().upper() for service in await peer.discover_services()}
    assert {"1805", "180F", "180A"} <= services, services
    values = {}
    for service in peer.services:
        for each in await service.discover_characteristics():
            if each.uuid.to_hex_str().upper() in ("2A2B", "2A19", "2A24", "2A29"):
                values[each.uuid.to_hex_str().upper()] = bytes(await each.read_value())
    assert values["2A29"] == b"Apple Inc." and values["2A24"] == b"iPhone15,2" and values["2A19"] == b"\x50", values
    assert len(values["2A2B"]) == 10, values

    center = await AncsClient.for_peer(peer)
    heard = Heard()
    center.on("notification", heard.queue.put_nowait)
    await center.start()
    first = await heard.next()
    assert first.event_id == EventId.NOTIFICATION_ADDED and first.category_id == CategoryId.SOCIAL, first
    assert first.event_flags == EventFlags.IMPORTANT | EventFlags.PRE_EXISTING | EventFlags.NEGATIVE_ACTION, first
    known = NotificationAttributeId
    got = await center.get_notification_attributes(
        first.notification_uid,
        [known.APP_IDENTIFIER, known.TITLE, (known.MESSAGE, 200), known.MESSAGE_SIZE, known.DATE,
         known.NEGATIVE_ACTION_LABEL],
    )  # fmt: skip
    text = "Are you there? Here is a message that no notification carries at the smallest MTU."
    assert [each.value for each in got[:4]] == ["com.apple.MobileSMS", "Anna", text, len(text)], got
    assert got[4].value.isoformat() == "2026-01-31T12:00:00" and got[5].value == "Clear", got
    (name,) = await center.get_app_attributes("com.apple.MobileSMS", [AppAttributeId.DISPLAY_NAME])
    assert name.value == "Messages", name

    # The user gets another one.
    process = await asyncio.create_subprocess_exec(
        str(Program.path), "ctl", "alert", "Companion", "Hello", "--title", "Bob", "--control", control,
        stdout=asyncio.subprocess.PIPE, env={**os.environ},
    )  # fmt: skip
    (said, _), second = await asyncio.gather(process.communicate(), heard.next())
    assert process.returncode == 0 and int(said) == second.notification_uid, said
    assert second.event_id == EventId.NOTIFICATION_ADDED and second.event_flags == EventFlags(0), second
    got = await center.get_notification_attributes(second.notification_uid, [known.TITLE, known.MESSAGE])
    assert [each.value for each in got] == ["Bob", "Hello"], got

    await refused(center.perform_positive_action(first.notification_uid), ErrorCode.ACTION_FAILED)
    await center.perform_negative_action(first.notification_uid)
    gone = await heard.next()
    assert gone.event_id == EventId.NOTIFICATION_REMOVED and gone.notification_uid == first.notification_uid, gone
    await refused(center.perform_negative_action(first.notification_uid), ErrorCode.INVALID_PARAMETER)
    await refused(
        center.get_notification_attributes(first.notification_uid, [known.TITLE]), ErrorCode.INVALID_PARAMETER
    )

    media = await AmsClient.for_peer(peer)
    changed: asyncio.Queue = asyncio.Queue()
    for event in ("supported_commands", "track_title", "player_playback_info"):
        media.on(event, lambda event=event: changed.put_nowait(event))

    async def until(event: str) -> None:
        assert (came := await asyncio.wait_for(changed.get(), PATIENCE)) == event, f"{came}, not {event}"

    await media.start()
    await until("supported_commands")
    assert media.supported_commands == set(RemoteCommandId(each) for each in range(11)), media.supported_commands
    # Longer than a packet at the smallest MTU: the client reads the rest.
    await media.observe(EntityId.TRACK, [TrackAttributeId.TITLE])
    await until("track_title")
    assert media.track_title == "A song with a title that is too long for one packet", media.track_title
    await media.observe(EntityId.PLAYER, [PlayerAttributeId.PLAYBACK_INFO])
    await until("player_playback_info")
    await media.play()
    await until("player_playback_info")
    assert media.player_playback_info.playback_state == PlaybackState.PLAYING, media.player_playback_info
    await media.next_track()
    assert {await asyncio.wait_for(changed.get(), PATIENCE) for _ in range(2)} == {"track_title", "player_playback_info"}
    assert media.track_title == "Another", media.track_title
    # The phone reports it: the refused action, and last the command.
    refusal = await run.until(lambda event: event["event"] == "write" and event.get("error") == "0xA3")
    assert refusal["device"] == "phone" and refusal["value"] == "020100000000", refusal
    await run.until(lambda event: event["event"] == "write" and event.get("value") == "03")
    # Nothing of this wakes the app.
    assert not any(event["event"] == "app.woken" for event in run.events)


async def refused(command, code: ErrorCode) -> None:
    try:
        await command
    except CommandError as error:
        assert error.error_code == code, error
    else:
        raise AssertionError(f"it was not refused with {code.name}")


@contextlib.asynccontextmanager
async def controlled(place: Place, profile: str):
    """The program with a control API, and the folder with its socket."""
    with tempfile.TemporaryDirectory(prefix="mynah-phone-") as folder:
        async with Program(place, profile, "--control", f"unix:{folder}/control") as run:
            yield run, folder


async def is_used(place: Place) -> None:
    watch = Phone(await open_host(await place.address()))
    await watch.start()
    watch.holds("noInputNoOutput", True)
    try:
        async with controlled(place, PROFILE) as (run, folder):
            await watch.connect(await watch.find("Companion"))
            await asyncio.wait_for(watch.connection.pair(), PATIENCE)
            await uses(Peer(watch.connection), folder, run)
            await watch.disconnect()
    finally:
        await watch.stop()


class Watch(BumbleDevice):
    """It advertises a service that the app looks for, as accessories with ANCS do."""

    async def start(self) -> None:
        await self.device.power_on()
        self.link = asyncio.get_running_loop().create_future()
        self.device.on("connection", lambda connection: self.link.done() or self.link.set_result(connection))
        data = AdvertisingData([
            (AdvertisingData.FLAGS, bytes([6])),
            (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, uuid(1).to_bytes()),
        ])  # fmt: skip
        await self.device.start_advertising(
            advertising_data=bytes(data), auto_restart=True, own_address_type=hci.OwnAddressType.RANDOM,
            advertising_interval_min=20, advertising_interval_max=20,
        )  # fmt: skip


async def serves_its_peripheral(place: Place) -> None:
    watch = Watch(await open_host(await place.address()))
    await watch.start()
    try:
        async with controlled(place, CENTRAL_PROFILE) as (run, folder):
            connection = await asyncio.wait_for(watch.link, PATIENCE)
            paired = asyncio.get_running_loop().create_future()
            connection.on("pairing", lambda keys: paired.done() or paired.set_result(keys))
            connection.request_pairing()
            await asyncio.wait_for(paired, PATIENCE)
            await uses(Peer(connection), folder, run)
    finally:
        await watch.stop()
