"""The capabilities of the radio under test, so that a scenario is skipped for a reason and never for a product."""

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
    # A subscription can be refused.
    refuses_subscriptions: bool = True
    # More than the name can stand in the scan response.
    places_scan_response: bool = True
    # The bytes on the air are all the profile's own, and their order Mynah's.
    exact_advert: bool = True
    # More than 31 bytes of extended advertising data.
    long_adverts: bool = True
    # Advertising sets with an address of their own.
    own_addresses: bool = True
    # A daemon is between the device and its adapter. It can be restarted and configured, and it can switch the adapter
    # off.
    daemon: bool = False
    # The MTU of a link can be unknown to the device.
    unknown_mtu: bool = False
    # Subscribers are reported by address.
    names_subscribers: bool = True
    # A phone's link outlives the run that it came for.
    links_of_its_own: bool = False
    # A bonded phone's subscriptions are remembered, also after the device is restarted.
    keeps_subscriptions: bool = True
    # A bonded phone is asked to encrypt as soon as it is connected.
    asks_for_encryption: bool = False
    # A run that is killed leaves the adapter to others, or without a host; one that was taken whole goes on as it was.
    falls_silent: bool = True
    # An app that is a central can be played.
    connects: bool = True
    # Requests that never reach the device, and those that nobody answers, can have faults.
    faults_below_att: bool = True
    # A connection is refused with an advertisement that is not connectable, and not by its end.
    refuses_by_advertising: bool = True
    # A device that falls silent ends its links for the phone.
    ends_links_when_silent: bool = False
    # The error for a control point that is not subscribed to.
    unconfigured_error: int = 0xFD
    # The ATT errors that a fault can answer with, beside those of applications.
    errors: tuple[int, ...] = (0x02, 0x03, 0x06, 0x07, 0x08, 0x0D, 0x0E, 0xFC, 0xFD, 0xFE, 0xFF)
    # The error for a phone without a key that accesses an attribute that requires encryption. Volume 3, Part C,
    # 10.3.1.
    unpaired_error: int = 0x05


def of_host(radio: str) -> Capabilities:
    # Bumble's controller has no supervision timeout, and keeps its links at an HCI Reset.
    return Capabilities(falls_silent=not radio.startswith("hci:user:"))


async def of_bluez() -> Capabilities:
    version = await bluez_version()
    return Capabilities(
        longest_write=510 if version < (5, 69) else 512,
        longest_prepared_write=508 if version < (5, 69) else 512,
        stock_interval=version >= (5, 77),
        refuses_beside_commands=False,
        refuses_subscriptions=False,
        places_scan_response=version >= (5, 80),
        exact_advert=False,
        long_adverts=version >= (5, 69),
        own_addresses=False,
        daemon=True,
        unknown_mtu=True,
        links_of_its_own=True,
        names_subscribers=version >= (5, 80),
        keeps_subscriptions=False,
        asks_for_encryption=True,
        connects=False,
        unpaired_error=0x0F,
        faults_below_att=False,
        refuses_by_advertising=False,
        ends_links_when_silent=True,
        unconfigured_error=0xFD if version >= (5, 76) else 0x0E,
        errors=(0x02, 0x06, 0x07, 0x08, 0x0D, 0x0E, *((0xFD,) if version >= (5, 76) else ()), 0xFE),
    )


async def bluez_version() -> tuple[int, int]:
    process = await asyncio.create_subprocess_exec(BLUETOOTHD, "-v", stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    found = re.search(rb"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)
