"""A phone that tells what it sees of one profile: what `make lab` shows."""

import asyncio
from pathlib import Path

from bumble import gatt  # noqa: F401  It registers the SIG's names.
from bumble.core import UUID

from lab.air import structures
from lab.mynah import Mynah
from lab.phone import Characteristic, Phone, Refused
from lab.scenario import Lab

AD_TYPES = {
    0x01: "Flags", 0x02: "Some 16-bit UUIDs", 0x03: "16-bit UUIDs", 0x06: "Some 128-bit UUIDs", 0x07: "128-bit UUIDs",
    0x08: "Shortened name", 0x09: "Name", 0x0A: "Tx power", 0x16: "Service data", 0x19: "Appearance",
    0xFF: "Manufacturer data",
}  # fmt: skip
SECONDS = 15


def tell(line: str) -> None:
    print(line, flush=True)


async def demonstrate(lab: Lab, profile: Path) -> int:
    await lab.services.start_bluetoothd("experimental")
    await lab.services.until_adapter()
    lab.mynah = Mynah(lab.adapter.radio, lab.results)
    try:
        await lab.mynah.start(profile)
    except AssertionError as error:
        tell(str(error))
        return 1
    if not lab.air.advertised:
        tell("The profile advertises nothing, so no phone can find it.")
        return 0 if await lab.mynah.stop() == 0 else 1
    on_air = await lab.air.until_advertised()
    tell("On the air:")
    for title, data in (("advert", on_air.data), ("scan response", on_air.scan_response)):
        for kind, payload in structures(data):
            shown = payload.decode(errors="replace") if kind in (0x08, 0x09) else payload.hex(" ").upper()
            tell(f"  {title:14} {AD_TYPES.get(kind, f'AD type {kind:#04x}'):18} {shown}")
    phone = await lab.meet()
    tell(f"The phone found {lab.adapter.address.to_string(False)} and connected.")
    await show(phone)
    await listen(phone)
    await phone.disconnect()
    status = await lab.mynah.stop()
    tell("The phone left and the device was stopped.")
    return 0 if status == 0 else 1


async def show(phone: Phone) -> None:
    for service in phone.services:
        if service.uuid in ("1800", "1801"):
            continue
        tell(name(service.uuid) + ("" if service.primary else ", secondary"))
        for each in service.characteristics:
            tell(f"  {name(each.uuid)}: {', '.join(each.properties)}{await value(phone, each)}")


async def value(phone: Phone, characteristic: Characteristic) -> str:
    if "read" not in characteristic.properties:
        return ""
    try:
        found = await phone.read_long(characteristic.handle)
    except Refused as refused:
        return f" → {refused}"
    return f" → {found[:20].hex(' ').upper() or '(empty)'}{'…' if len(found) > 20 else ''}"


async def listen(phone: Phone) -> None:
    """Subscribes to every characteristic that notifies and prints the values, for a while."""
    told: dict[int, int] = {}
    for service in phone.services:
        for each in service.characteristics:
            if service.uuid != "1801" and {"notify", "indicate"} & set(each.properties):
                try:
                    await phone.subscribe(each, indications="notify" not in each.properties)
                except Refused as refused:
                    tell(f"Subscribing to {name(each.uuid)}: {refused}")
                else:
                    told[each.handle] = 0
    if not told:
        return
    tell(f"Subscribed; what comes within {SECONDS} s:")
    ends = asyncio.get_running_loop().time() + SECONDS
    while (left := ends - asyncio.get_running_loop().time()) > 0 and phone.connection is not None:
        try:
            await phone.signal.until(lambda: any(len(phone.heard[key]) > count for key, count in told.items()), "", left)
        except AssertionError:
            break
        for handle, count in told.items():
            for found in phone.heard[handle][count:]:
                tell(f"  {name(uuid_of(phone, handle))}  {found.hex(' ').upper()}{meaning(phone, handle, found)}")
            told[handle] = len(phone.heard[handle])


def uuid_of(phone: Phone, handle: int) -> str:
    return next(each.uuid for service in phone.services for each in service.characteristics if each.handle == handle)


def meaning(phone: Phone, handle: int, found: bytes) -> str:
    """A Heart Rate Measurement of 8 bits in words."""
    if uuid_of(phone, handle) == "2A37" and len(found) >= 2 and not found[0] & 1:
        return f"  {found[1]} beats a minute"
    return f"  {found[0]} %" if uuid_of(phone, handle) == "2A19" and len(found) == 1 else ""


def name(uuid: str) -> str:
    known = UUID.from_16_bits(int(uuid, 16)).name if len(uuid) == 4 else None
    return f"{known} ({uuid})" if known else uuid
