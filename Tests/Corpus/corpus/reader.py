"""Reads HCI captures: what was on the air, and what a phone and a device said to each other.

The judge reads with it what a played device did, and what captures of unknown devices show. Packets of a sniffer are read
by tshark, which decodes them without Mynah.
"""

import json
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .writer import BTSNOOP_EPOCH, numbered

class Unreadable(Exception):
    """The file is no capture that this reader knows."""


@dataclass
class Packet:
    at: float
    incoming: bool
    # With the indicator of H4.
    data: bytes
    interface: str = ""


def packets(content: bytes) -> Iterator[Packet]:
    """The HCI packets of a btsnoop, pcap or pcapng file; the air's packets have the interface «air» and no indicator."""
    if content.startswith(b"btsnoop\0"):
        yield from btsnoop(content)
    elif content[:4] in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4"):
        yield from pcap(content, "<" if content[0] == 0xD4 else ">")
    elif content[:4] == b"\x0a\x0d\x0d\x0a":
        yield from pcapng(content)
    else:
        raise Unreadable("neither btsnoop nor pcap nor pcapng")


def btsnoop(content: bytes) -> Iterator[Packet]:
    kind, at = struct.unpack(">I", content[12:16])[0], 16
    if kind not in (1001, 1002):
        raise Unreadable(f"btsnoop with the datalink {kind}")
    while at + 24 <= len(content):
        _, size, flags, _, time = struct.unpack(">IIIIq", content[at : at + 24])
        data, at = content[at + 24 : at + 24 + size], at + 24 + size
        if kind == 1001:
            data = bytes([(1, 4)[flags & 1] if flags & 2 else 2]) + data
        yield Packet((time - BTSNOOP_EPOCH) / 1e6, bool(flags & 1), data)


def classic(link: int, body: bytes, at: float, name: str = "") -> Iterator[Packet]:
    if link == 201:
        yield Packet(at, bool(body[3] & 1), body[4:], name)
    elif link == 187:
        yield Packet(at, body[:1] in (b"\4",), body, name)
    elif link == 256:
        yield Packet(at, True, body, "air")
    else:
        raise Unreadable(f"the link type {link}")


def pcap(content: bytes, order: str) -> Iterator[Packet]:
    link, at = struct.unpack(order + "I", content[20:24])[0], 24
    while at + 16 <= len(content):
        seconds, micros, size, _ = struct.unpack(order + "IIII", content[at : at + 16])
        yield from classic(link, content[at + 16 : at + 16 + size], seconds + micros / 1e6)
        at += 16 + size


def pcapng(content: bytes) -> Iterator[Packet]:
    interfaces: list[tuple[int, str, float]] = []
    at, order = 0, "<"
    while at + 12 <= len(content):
        kind, size = struct.unpack(order + "II", content[at : at + 8])
        if kind == 0x0A0D0D0A:
            order = "<" if content[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            kind, size = struct.unpack(order + "II", content[at : at + 8])
        body = content[at + 8 : at + size - 4]
        if kind == 1:
            name, unit, option = "", 1e-6, 8
            while option + 4 <= len(body):
                code, length = struct.unpack(order + "HH", body[option : option + 4])
                text = body[option + 4 : option + 4 + length]
                name = text.decode(errors="replace") if code == 2 else name
                if code == 9:
                    unit = 2.0 ** -(text[0] & 127) if text[0] & 128 else 10.0 ** -text[0]
                option += 4 + length + -length % 4
            interfaces.append((struct.unpack(order + "H", body[:2])[0], name, unit))
        elif kind == 6:
            number, high, low, length, _ = struct.unpack(order + "IIIII", body[:20])
            link, name, unit = interfaces[number]
            yield from classic(link, body[20 : 20 + length], ((high << 32) | low) * unit, name)
        if size < 12:
            return
        at += size


@dataclass
class Report:
    at: float
    address: str
    # As HCI's legacy reports name the types; 16 and more: an extended one.
    kind: int
    data: bytes


@dataclass
class Conversation:
    """One connection as ATT shows it."""

    began: float
    address: str | None
    # Handle to uuid; declarations to (properties, value handle, uuid).
    services: dict[int, str] = field(default_factory=dict)
    declarations: dict[int, tuple[int, int, str]] = field(default_factory=dict)
    found: dict[int, str] = field(default_factory=dict)
    # (time, handle, value, with response, error or None, time of the response)
    writes: list[list] = field(default_factory=list)
    # (time, handle, value, is an indication)
    sent: list[tuple[float, int, bytes, bool]] = field(default_factory=list)
    mtu: int = 23
    pending: bytes = b""
    open: list | None = None

    def paths(self) -> dict[int, str]:
        """The path of each characteristic's value."""
        starts = sorted(self.services)
        names = dict(zip(starts, numbered([self.services[each] for each in starts])))
        out: dict[int, str] = {}
        for index, start in enumerate(starts):
            end = starts[index + 1] if index + 1 < len(starts) else 0x10000
            inside = [self.declarations[each] for each in sorted(self.declarations) if start <= each < end]
            for name, (_, handle, _) in zip(numbered([uuid for *_, uuid in inside]), inside):
                out[handle] = f"{names[start]}/{name}"
        return out

    def table(self) -> list:
        """As Table.truth(): services with their characteristics and descriptors."""
        starts, heads = sorted(self.services), sorted(self.declarations)
        out = []
        for index, start in enumerate(starts):
            end = starts[index + 1] if index + 1 < len(starts) else 0x10000
            inside = [each for each in heads if start <= each < end]
            rows = []
            for place, head in enumerate(inside):
                properties, handle, uuid = self.declarations[head]
                stop = inside[place + 1] if place + 1 < len(inside) else end
                rows.append([uuid, properties, [self.found[h] for h in sorted(self.found) if handle < h < stop]])
            out.append([self.services[start], rows])
        return out

    def cccds(self) -> dict[int, int]:
        """The handle of each CCCD that was found, with its characteristic's value."""
        values = sorted(handle for _, handle, _ in self.declarations.values())
        return {h: max(v for v in values if v < h) for h, u in self.found.items() if u == "2902" and values and values[0] < h}


def uuid_name(raw: bytes) -> str:
    if len(raw) == 2:
        return raw[::-1].hex().upper()
    text = raw[::-1].hex().upper()
    if len(raw) == 16 and text.endswith("00001000800000805F9B34FB") and text.startswith("0000"):
        return text[4:8]
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


class Reader:
    """Follows packets; afterwards it has the reports and the conversations."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.conversations: list[Conversation] = []
        self.open: dict[object, Conversation] = {}
        self.parts: dict[tuple, bytearray] = {}

    def read(self, source: Iterator[Packet]) -> "Reader":
        for each in source:
            try:
                self.packet(each)
            except (IndexError, struct.error):
                continue
        return self

    def packet(self, packet: Packet) -> None:
        data = packet.data
        if packet.interface == "air":
            self.air(packet)
        elif data[0] == 4:
            self.event(packet.at, data[1], data[3:])
        elif data[0] == 2:
            word, size = struct.unpack("<HH", data[1:5])
            link, boundary = word & 0xFFF, word >> 12 & 3
            key = (link, packet.incoming)
            if boundary != 1:
                self.parts[key] = bytearray()
            part = self.parts.setdefault(key, bytearray())
            part += data[5 : 5 + size]
            if len(part) >= 4 and len(part) >= 4 + struct.unpack("<H", part[:2])[0]:
                if part[2:4] == b"\4\0":
                    self.att(packet.at, link, packet.incoming, bytes(part[4:]))
                self.parts[key] = bytearray()

    def air(self, packet: Packet) -> None:
        """The air of the virtual radio: legacy advertisements."""
        data = packet.data[10:]
        if data[:4] == b"\xd6\xbe\x89\x8e" and data[4] & 15 in (0, 2, 4, 6):
            kind = {0: 0, 2: 3, 4: 4, 6: 2}[data[4] & 15]
            body = data[6 : 6 + data[5]]
            self.reports.append(Report(packet.at, address_text(body[:6]), kind, body[6:]))

    def event(self, at: float, code: int, body: bytes) -> None:
        if code == 5:
            self.open.pop(struct.unpack("<H", body[1:3])[0], None)
        elif code == 0x3E and body[0] in (1, 0x0A, 0x29):
            link = struct.unpack("<H", body[2:4])[0]
            if body[1] == 0:
                self.begin(at, link, address_text(body[6:12]))
        elif code == 0x3E and body[0] == 2:
            place = 2
            for _ in range(body[1]):
                kind, address, size = body[place], body[place + 2 : place + 8], body[place + 8]
                self.reports.append(Report(at, address_text(address), kind, body[place + 9 : place + 9 + size]))
                place += 10 + size
        elif code == 0x3E and body[0] == 0x0D:
            self.extended(at, body)

    def extended(self, at: float, body: bytes) -> None:
        place = 2
        for _ in range(body[1]):
            kind = struct.unpack("<H", body[place : place + 2])[0]
            size = body[place + 23]
            legacy = {0x13: 0, 0x15: 1, 0x12: 2, 0x10: 3, 0x1B: 4, 0x1A: 4}.get(kind)
            address = address_text(body[place + 3 : place + 9])
            number = legacy if legacy is not None else 16 + (kind & 7)
            self.reports.append(Report(at, address, number, body[place + 24 : place + 24 + size]))
            place += 24 + size

    def begin(self, at: float, link: object, address: str | None) -> Conversation:
        self.open[link] = Conversation(at, address)
        self.conversations.append(self.open[link])
        return self.open[link]

    def att(self, at: float, link: object, incoming: bool, pdu: bytes) -> None:
        talk = self.open.get(link) or self.begin(at, link, None)
        if pdu[0] == 0x1E or bool(pdu[0] & 1) != incoming:
            # The phone has a server too, and the device may be its client.
            return
        if not incoming:
            self.request(talk, at, pdu)
        elif pdu[0] in (0x1B, 0x1D):
            talk.sent.append((at, struct.unpack("<H", pdu[1:3])[0], pdu[3:], pdu[0] == 0x1D))
        elif pdu[0] == 0x23:
            place = 1
            while place + 4 <= len(pdu):
                handle, size = struct.unpack("<HH", pdu[place : place + 4])
                talk.sent.append((at, handle, pdu[place + 4 : place + 4 + size], False))
                place += 4 + size
        else:
            self.response(talk, at, pdu)

    def request(self, talk: Conversation, at: float, pdu: bytes) -> None:
        if pdu[0] in (0x12, 0x52):
            talk.writes.append([at, struct.unpack("<H", pdu[1:3])[0], pdu[3:], pdu[0] == 0x12, None, at])
            talk.open = talk.writes[-1] if pdu[0] == 0x12 else talk.open
        if not pdu[0] & 0x40:
            talk.pending = pdu

    def response(self, talk: Conversation, at: float, pdu: bytes) -> None:
        asked, code = talk.pending, pdu[0]
        if talk.open and (code == 0x13 or code == 1 and pdu[1] == 0x12):
            talk.open[5] = at
        if code == 1 and pdu[1] == 0x12 and talk.open:
            talk.open[4] = pdu[4]
        elif code == 3 and asked[:1] == b"\2":
            talk.mtu = max(23, min(struct.unpack("<H", pdu[1:3])[0], struct.unpack("<H", asked[1:3])[0]))
        elif code == 0x11 and len(asked) >= 7 and asked[5:7] == b"\0\x28":
            for place in range(2, len(pdu) - pdu[1] + 1, pdu[1]):
                talk.services[struct.unpack("<H", pdu[place : place + 2])[0]] = uuid_name(pdu[place + 4 : place + pdu[1]])
        elif code == 0x07 and len(asked) >= 9:
            for place in range(1, len(pdu) - 3, 4):
                talk.services[struct.unpack("<H", pdu[place : place + 2])[0]] = uuid_name(asked[7:])
        elif code == 0x09 and asked[5:7] == b"\3\x28" and len(asked) == 7:
            for place in range(2, len(pdu) - pdu[1] + 1, pdu[1]):
                entry = pdu[place : place + pdu[1]]
                head, properties, handle = struct.unpack("<HBH", entry[:5])
                talk.declarations[head] = (properties, handle, uuid_name(entry[5:]))
        elif code == 0x05:
            width = 4 if pdu[1] == 1 else 18
            for place in range(2, len(pdu) - width + 1, width):
                name = uuid_name(pdu[place + 2 : place + width])
                handle = struct.unpack("<H", pdu[place : place + 2])[0]
                values = [value for _, value, _ in talk.declarations.values()]
                if name not in ("2800", "2801", "2802", "2803") and handle not in values:
                    talk.found[handle] = name
        if code in (1, 0x13):
            talk.open = None


def address_text(raw: bytes) -> str:
    return ":".join(f"{each:02X}" for each in raw[::-1])


def read(path: Path) -> Reader:
    content = path.read_bytes()
    try:
        return Reader().read(packets(content))
    except Unreadable as error:
        if "link type" in str(error):
            return sniffed(path)
        raise


def sniffed(path: Path) -> Reader:
    """The content that tshark reads in a sniffer's capture: advertisements and links that are not encrypted."""
    try:
        done = subprocess.run(["tshark", "-r", str(path), "-Y", "btle && !(btle.crc.incorrect || nordic_ble.crcok == 0)",
                               "-T", "json", "-x"], capture_output=True, text=True, timeout=600)  # fmt: skip
        frames = json.loads(done.stdout or "[]", strict=False)
    except (OSError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        raise Unreadable(f"tshark: {error}") from error
    reader = Reader()
    for frame in frames:
        layers = frame["_source"]["layers"]
        at, data = float(layers["frame"]["frame.time_epoch"]), bytes.fromhex(layers["btle_raw"][0])
        if data[:4] == b"\xd6\xbe\x89\x8e":
            kind, body = data[4] & 15, data[6 : 6 + data[5]]
            if kind in (0, 2, 4, 6):
                number = {0: 0, 2: 3, 4: 4, 6: 2}[kind]
                reader.reports.append(Report(at, address_text(body[:6]), number, body[6:]))
            elif kind == 5 and len(body) >= 18:
                reader.begin(at, body[12:16], address_text(body[6:12]))
        elif "btatt_raw" in layers:
            pdu = bytes.fromhex(layers["btatt_raw"][0])
            if pdu:
                # An answer has an odd opcode, and so do values that the device sends; 0x1E confirms.
                reader.att(at, data[:4], bool(pdu[0] & 1), pdu)
    return reader


__all__ = ["Conversation", "Reader", "Report", "Unreadable", "read"]
