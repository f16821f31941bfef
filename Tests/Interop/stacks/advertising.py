"""Several advertising sets of one device, legacy and extended, as a scanner that is not ours reports them."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field

from bumble import hci
from bumble.device import Device, DeviceConfiguration

from stacks.patience import PATIENCE
from stacks.places import Bumbles, Ours, Place, Rootcanal, open_host
from stacks.program import Program

SENTENCE = "a scanner hears each advertising set as the profile has it"

CONNECTABLE, SCANNABLE, RESPONSE, LEGACY = 1, 2, 8, 16
M1, M2, CODED = 1, 2, 3
# How much data a place's controllers take: all, what rootcanal is configured with, and what Bumble puts in one report.
ROOM = {Ours.name: 1650, Rootcanal.name: 512, Bumbles.name: 229}
# Rootcanal's controllers answer a scan request as the last of the sets with its address, so each has its own there.
# Bumble's link reports neither scan responses nor the sets' numbers and PHYs.
WHOLE = {Ours.name, Rootcanal.name}


@dataclass
class Heard:
    """The reports of one set: the numbers of its first report, and its data, complete."""

    type: int
    primary: int
    secondary: int
    sid: int
    address: hci.Address
    data: bytes = field(default=b"")


@dataclass
class Expected:
    data: bytes
    type: int
    primary: int = M1
    secondary: int = 0
    random: bool = False


def structure(type: int, data: bytes) -> bytes:
    return bytes([len(data) + 1, type]) + data


def sets(room: int, others: str) -> tuple[str, dict[str, Expected]]:
    """A profile, whose other scannable sets have this address, and what is to be heard of it by the sets' names."""
    # Structures of 204 bytes, and a shorter one: all the room there is.
    long = [bytes([number]) * (min(204, room - start) - 4) for number, start in enumerate(range(0, room, 204))]
    entries = ", ".join(f"{{company: 0xFFFF, value: {{hex: {each.hex()}}}}}" for each in long)
    asked = bytes(range(100))
    single = bytes(range(180))
    profile = f"""
mynah: 1
name: Tracker
advertising:
  - {{name: main, interval: 20 ms, serviceUUIDs: [180F], scanResponse: {{manufacturerData: {{0x1234: 01 02}}}}}}
  - {{name: beacon, interval: 20 ms, connectable: false, scannable: false, localName: "", flags: 0x1A, address: random,
      raw: [{{0xFF: 4C 00 02 15 07}}, {{0xFF: 34 12 08}}]}}
  - {{name: asks, interval: 20 ms, connectable: false, localName: "", flags: none, serviceData: {{FCD2: 40 01}},
      address: {others}}}
  - {{name: long, interval: 20 ms, connectable: false, localName: "", flags: none, extended: {{data: 2M}},
      address: random, manufacturerData: [{entries}]}}
  - {{name: asked, interval: 20 ms, connectable: false, scannable: true, localName: "", flags: none, extended: {{data: coded, primary: coded}},
      address: {others}, scanResponse: {{manufacturerData: {{0x0102: {asked.hex()}}}}}}}
  - {{name: linked, interval: 20 ms, localName: "", extended: {{data: 2M}}, manufacturerData: {{0x0304: {single.hex()}}}}}
services:
  - {{uuid: battery, characteristics: [{{uuid: battery-level, properties: [read], value: {{hex: 64}}}}]}}
"""
    flags = structure(1, b"\x06")
    return profile, {
        "main": Expected(
            flags + structure(3, b"\x0f\x18") + structure(9, b"Tracker"), LEGACY | CONNECTABLE | SCANNABLE),
        "main's response": Expected(structure(0xFF, b"\x34\x12\x01\x02"), LEGACY | CONNECTABLE | SCANNABLE | RESPONSE),
        "beacon": Expected(
            structure(1, b"\x1a") + structure(0xFF, b"\x4c\x00\x02\x15\x07") + structure(0xFF, b"\x34\x12\x08"),
            LEGACY, random=True),
        "asks": Expected(structure(0x16, b"\xd2\xfc\x40\x01"), LEGACY | SCANNABLE),
        "long": Expected(
            b"".join(structure(0xFF, b"\xff\xff" + each) for each in long), 0, secondary=M2, random=True),
        "asked's response": Expected(
            structure(0xFF, b"\x02\x01" + asked), SCANNABLE | RESPONSE, primary=CODED, secondary=CODED),
        "linked": Expected(flags + structure(0xFF, b"\x04\x03" + single), CONNECTABLE, secondary=M2),
    }  # fmt: skip


class Scanner:
    """Collects extended reports, whose data may come in several."""

    def __init__(self, transport) -> None:
        self.transport = transport
        configuration = DeviceConfiguration(name="scanner", address=hci.Address("F5:F4:F3:F2:F1:F0"))
        self.device = Device.from_config_with_hci(configuration, transport.source, transport.sink)
        self.begun: dict[tuple, Heard] = {}
        self.heard: dict[bytes, list[Heard]] = defaultdict(list)
        self.news = asyncio.Event()

    async def start(self) -> None:
        await self.device.power_on()
        self.device.host.on("advertising_report", self.take)
        await self.device.start_scanning(active=True)

    def take(self, report) -> None:
        kind, progress = int(report.event_type) & 0x1F, int(report.event_type) >> 5 & 3
        place = (str(report.address), report.advertising_sid, kind)
        whole = self.begun.setdefault(
            place, Heard(kind, report.primary_phy, report.secondary_phy, report.advertising_sid, report.address))
        whole.data += bytes(report.data)
        if progress == 1:
            return
        del self.begun[place]
        if progress == 0:
            self.heard[whole.data].append(whole)
            self.news.set()

    async def until(self, data: bytes, name: str) -> Heard:
        try:
            async with asyncio.timeout(PATIENCE):
                while data not in self.heard:
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            others = [(len(each), each[:8].hex()) for each in self.heard]
            raise AssertionError(f"{name} was not heard: {data.hex()}; heard: {others}") from None
        return self.heard[data][0]


async def is_heard(place: Place) -> None:
    profile, expected = sets(ROOM[place.name], "random" if place.name == Rootcanal.name else "identity")
    async with Program(place, profile) as run:
        scanner = Scanner(await open_host(await place.address()))
        try:
            await scanner.start()
            found: dict[str, Heard] = {}
            for name, each in expected.items():
                if place.name not in WHOLE and each.type & RESPONSE:
                    continue
                # rootcanal finds the set of a scan request by its address, which this set shares with another.
                if place.name == Rootcanal.name and name == "main's response":
                    continue
                heard = found[name] = await scanner.until(each.data, name)
                if place.name not in WHOLE:
                    continue
                assert heard.type == each.type, f"{name}: type {heard.type:#x}, not {each.type:#x}"
                # rootcanal reports extended scan responses without the set's number and the PHY of the data.
                if place.name != Rootcanal.name or not each.type & RESPONSE:
                    phys = (each.primary, each.secondary)
                    assert (heard.primary, heard.secondary) == phys, f"{name}: PHYs {heard.primary}, {heard.secondary}"
                    assert (heard.sid == 0xFF) == bool(each.type & LEGACY), f"{name}: SID {heard.sid}"
            started = next(each for each in run.events if each["event"] == "advertising.started")
            addresses = {each["set"]: each["address"] for each in [started, *started["sets"]]}
            for name, heard in found.items():
                said = addresses[name.removesuffix("'s response")]
                assert heard.address.to_string(False) == said, f"{name}: from {heard.address}, not {said}"
                if expected[name].random:
                    assert heard.address.is_static, f"{name}: {heard.address} is not a static random address"
            own = {str(found[name].address) for name in ("beacon", "long", "main")}
            assert len(own) == 3, f"sets with an address of their own share one: {own}"
            sids = [each.sid for name, each in found.items() if not expected[name].type & (LEGACY | RESPONSE)]
            assert place.name not in WHOLE or len(set(sids)) == len(sids), f"two sets have the SID: {sids}"
        finally:
            await scanner.transport.close()
