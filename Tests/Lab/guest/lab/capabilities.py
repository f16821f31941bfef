"""What the radio under test can do, by name, so that a scenario rules itself out by a reason and never by a product."""

import asyncio
import re
from dataclasses import dataclass

from lab.services import BLUETOOTHD


@dataclass
class Capabilities:
    # The longest value that one Write Request may carry, and a queue of prepared writes.
    longest_write: int = 512
    longest_prepared_write: int = 512
    # The advertising interval that was asked for is honoured by a daemon in its stock configuration.
    stock_interval: bool = True
    # A write to a characteristic that also takes Write Commands can be refused.
    refuses_beside_commands: bool = True
    # More than the name can stand in the scan response.
    places_scan_response: bool = True
    # The bytes on the air are all the profile's own, and their order Mynah's.
    exact_advert: bool = True
    # A daemon stands between the device and its adapter, which can be restarted and configured, and has an adapter's power.
    daemon: bool = False
    # The MTU of a link can be unknown to the device.
    unknown_mtu: bool = False
    # Who subscribed is told, where it is asked for.
    names_subscribers: bool = True
    # A phone's link outlives the run that it came for.
    links_of_its_own: bool = False
    # What a bonded phone has subscribed to is remembered, also when the device is started anew.
    keeps_subscriptions: bool = True
    # A bonded phone is asked to encrypt as soon as it is connected.
    asks_for_encryption: bool = False
    # A run that is killed leaves the adapter to others, or without a host; one that was taken whole goes on as it was.
    falls_silent: bool = True
    # An app that is a central can be played.
    connects: bool = True
    # What a phone without a key gets where encryption is wanted. Volume 3, Part C, 10.3.1.
    unpaired_error: int = 0x05


def of_host(radio: str) -> Capabilities:
    return Capabilities(falls_silent=not radio.startswith("hci:user:"))


async def of_bluez() -> Capabilities:
    version = await bluez_version()
    return Capabilities(
        longest_write=510 if version < (5, 69) else 512,
        longest_prepared_write=508 if version < (5, 69) else 512,
        stock_interval=version >= (5, 77),
        refuses_beside_commands=False,
        places_scan_response=version >= (5, 80),
        exact_advert=False,
        daemon=True,
        unknown_mtu=True,
        links_of_its_own=True,
        names_subscribers=version >= (5, 80),
        keeps_subscriptions=False,
        asks_for_encryption=True,
        connects=False,
        unpaired_error=0x0F,
    )


async def bluez_version() -> tuple[int, int]:
    process = await asyncio.create_subprocess_exec(BLUETOOTHD, "-v", stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    found = re.search(rb"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)
