"""Writes captures of made-up devices, and the truth about each: what a phone asked, what the device sent, and why.

Nothing here knows how `mynah import` works. Times are in seconds.
"""

import random
import struct
from dataclasses import dataclass, field

READ, COMMAND, WRITE, NOTIFY, INDICATE = 0x02, 0x04, 0x08, 0x10, 0x20
CCCD = 0x2902
ADV_IND, ADV_SCAN_IND, ADV_NONCONN_IND, SCAN_RSP = 0, 2, 3, 4
# From the year 0 to 1970 in microseconds, as btsnoop counts.
BTSNOOP_EPOCH = 0x00DCDDB30F2F8000
# How long a response to a write takes.
RESPONSE = 0.003
# Microseconds since 1970 at which every capture begins.
START = 1_750_000_000_000_000


def u16(value: int) -> bytes:
    return struct.pack("<H", value)


def uuid_bytes(uuid: int | str) -> bytes:
    return u16(uuid) if isinstance(uuid, int) else bytes.fromhex(uuid.replace("-", ""))[::-1]


def uuid_text(uuid: int | str) -> str:
    return f"{uuid:04X}" if isinstance(uuid, int) else uuid.upper()


def ad(kind: int, data: bytes) -> bytes:
    """One AD structure."""
    return bytes([len(data) + 1, kind]) + data


class Capture:
    """The HCI packets between a phone and its controller."""

    def __init__(self) -> None:
        self.packets: list[tuple[float, bool, bytes]] = []

    def add(self, at: float, incoming: bool, packet: bytes) -> None:
        self.packets.append((at, incoming, packet))

    def event(self, at: float, code: int, body: bytes) -> None:
        self.add(at, True, bytes([4, code, len(body)]) + body)

    def report(self, at: float, address: bytes, kind: int, data: bytes) -> None:
        body = bytes([2, 1, kind, 1]) + address[::-1] + bytes([len(data)]) + data + struct.pack("b", -50)
        self.event(at, 0x3E, body)

    def extended_report(self, at: float, address: bytes, kind: int, data: bytes, sid: int = 1) -> None:
        """A whole extended advertisement; kind has its bits as HCI has them: 1 connectable, 2 scannable."""
        body = bytes([0x0D, 1]) + u16(kind) + b"\x01" + address[::-1] + bytes([1, 1, sid, 0x7F])
        body += struct.pack("b", -50) + u16(0) + b"\0" + bytes(6) + bytes([len(data)]) + data
        self.event(at, 0x3E, body)

    def connected(self, at: float, link: int, address: bytes) -> None:
        body = bytes([1, 0]) + u16(link) + b"\0\x01" + address[::-1] + struct.pack("<HHHB", 24, 0, 72, 0)
        self.event(at, 0x3E, body)

    def disconnected(self, at: float, link: int) -> None:
        self.event(at, 0x05, b"\0" + u16(link) + b"\x13")

    def att(self, at: float, link: int, incoming: bool, pdu: bytes) -> None:
        """An ATT PDU, in fragments of 251 octets as controllers have them."""
        rest, first = struct.pack("<HH", len(pdu), 4) + pdu, True
        while rest:
            part, rest = rest[:251], rest[251:]
            boundary = (0x2000 if incoming else 0) if first else 0x1000
            self.add(at, incoming, b"\x02" + u16(link | boundary) + u16(len(part)) + part)
            first = False

    def sorted(self) -> list[tuple[int, bool, bytes]]:
        ordered = sorted(enumerate(self.packets), key=lambda each: (each[1][0], each[0]))
        return [(round(at * 1e6), incoming, packet) for _, (at, incoming, packet) in ordered]

    def btsnoop(self) -> bytes:
        out = [b"btsnoop\0" + struct.pack(">II", 1, 1002)]
        for at, incoming, packet in self.sorted():
            flags = (1 if incoming else 0) | (2 if packet[0] in (1, 4) else 0)
            head = struct.pack(">IIIIq", len(packet), len(packet), flags, 0, START + at + BTSNOOP_EPOCH)
            out.append(head + packet)
        return b"".join(out)

    def pcap(self) -> bytes:
        out = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 201)]
        for at, incoming, packet in self.sorted():
            body = struct.pack(">I", incoming) + packet
            seconds, micros = divmod(START + at, 1_000_000)
            out.append(struct.pack("<IIII", seconds, micros, len(body), len(body)) + body)
        return b"".join(out)

    def pcapng(self) -> bytes:
        def block(kind: int, body: bytes) -> bytes:
            body += bytes(-len(body) % 4)
            size = len(body) + 12
            return struct.pack("<II", kind, size) + body + struct.pack("<I", size)

        out = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), block(1, struct.pack("<HHI", 201, 0, 0))]
        for at, incoming, packet in self.sorted():
            body = struct.pack(">I", incoming) + packet
            high, low = divmod(START + at, 1 << 32)
            out.append(block(6, struct.pack("<IIIII", 0, high, low, len(body), len(body)) + body))
        return b"".join(out)

    def bytes(self, form: str) -> bytes:
        return {"log": self.btsnoop, "pcap": self.pcap, "pcapng": self.pcapng}[form]()


@dataclass
class Characteristic:
    uuid: int | str
    properties: int
    value: bytes | None = None
    descriptors: tuple[int | str, ...] = ()
    # An ATT error in place of the value.
    error: int | None = None
    handle: int = 0
    path: str = ""

    def descriptor(self, uuid: int | str) -> int:
        return self.handle + 1 + self.descriptors.index(uuid)


def numbered(names: list[str]) -> list[str]:
    """The names, with ~1, ~2 and so on after one that is repeated."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if names.count(name) == 1 else f"{name}~{seen[name]}")
    return out


class Table:
    """A device's attributes, each with its handle."""

    def __init__(self, services: list[tuple[int | str, list[Characteristic]]]) -> None:
        self.services, self.ranges = services, []
        handle = 1
        for name, (_, characteristics) in zip(numbered([uuid_text(s) for s, _ in services]), services):
            first, handle = handle, handle + 1
            for path, each in zip(numbered([uuid_text(c.uuid) for c in characteristics]), characteristics):
                each.path, each.handle = f"{name}/{path}", handle + 1
                handle += 2 + len(each.descriptors)
            self.ranges.append((first, handle - 1))

    def discover(self, capture: Capture, at: float, link: int) -> float:
        def ask(request: bytes, response: bytes) -> None:
            nonlocal at
            capture.att(at, link, False, request)
            capture.att(at + 0.015, link, True, response)
            at += 0.03

        start = 1
        for (first, last), (service, _) in zip(self.ranges, self.services):
            uuid = uuid_bytes(service)
            ask(b"\x10" + u16(start) + b"\xff\xff\x00\x28", bytes([0x11, 4 + len(uuid)]) + u16(first) + u16(last) + uuid)
            start = last + 1
        ask(b"\x10" + u16(start) + b"\xff\xff\x00\x28", b"\x01\x10" + u16(start) + b"\x0a")
        for (first, last), (_, characteristics) in zip(self.ranges, self.services):
            start = first
            for each in characteristics:
                uuid = uuid_bytes(each.uuid)
                entry = u16(each.handle - 1) + bytes([each.properties]) + u16(each.handle) + uuid
                ask(b"\x08" + u16(start) + u16(last) + b"\x03\x28", bytes([9, len(entry)]) + entry)
                start = each.handle
            ask(b"\x08" + u16(start) + u16(last) + b"\x03\x28", b"\x01\x08" + u16(start) + b"\x0a")
        for _, characteristics in self.services:
            for each in characteristics:
                for index, descriptor in enumerate(each.descriptors):
                    uuid, handle = uuid_bytes(descriptor), each.handle + 1 + index
                    answer = bytes([5, 1 if len(uuid) == 2 else 2]) + u16(handle) + uuid
                    ask(b"\x04" + u16(handle) + u16(handle), answer)
        return at

    def truth(self) -> list:
        return [
            [uuid_text(s), [[uuid_text(c.uuid), c.properties, [uuid_text(d) for d in c.descriptors]] for c in cs]]
            for s, cs in self.services
        ]


@dataclass
class Link:
    """One connection: what is subscribed, written and sent, with times that count from the last subscription."""

    table: Table
    rng: random.Random
    mtu: int = 23
    now: float = 1.0
    events: list[tuple[float, int, str, tuple]] = field(default_factory=list)
    subscribed: list[Characteristic] = field(default_factory=list)
    writes: list[dict] = field(default_factory=list)
    sent: list[dict] = field(default_factory=list)

    def jitter(self, delay: float) -> float:
        """The delay as devices keep it: a few milliseconds more or less."""
        return max(0.004, delay + max(-0.006, min(0.006, self.rng.gauss(0, 0.002))))

    def put(self, at: float, kind: str, *what) -> None:
        self.events.append((at, len(self.events), kind, what))

    def send(self, at: float, target: Characteristic | int, value: bytes, cause: str, indicate: bool = False) -> None:
        handle = target if isinstance(target, int) else target.handle
        path = None if isinstance(target, int) else target.path
        self.put(at, "send", handle, value, indicate)
        self.sent.append({"at": at, "path": path, "handle": handle, "value": value.hex(), "cause": cause})

    def write(
        self,
        target: Characteristic,
        value: bytes,
        *answers: tuple,
        response: bool = True,
        error: int | None = None,
        wait: float = 1.0,
        at: float | None = None,
    ) -> float:
        """A write at the present time with its answers (from whom, value, delay); then time passes."""
        at = self.now if at is None else at
        self.put(at, "write", target.handle, value, response, error)
        expected = []
        for source, answer, delay in answers:
            delay = self.jitter(delay)
            indicate = not isinstance(source, int) and not source.properties & NOTIFY
            self.send(at + delay, source, answer, "answer", indicate)
            if not isinstance(source, int):
                # As an app sees it: after the response, if there is one.
                expected.append([source.path, answer.hex(), max(0, delay - (RESPONSE if response else 0))])
        self.writes.append(
            {"at": at, "to": target.path, "value": value.hex(), "response": response, "error": error, "answers": expected}
        )
        self.now = max(self.now, at + wait)
        return at

    def subscribe_again(self, source: Characteristic, at: float) -> None:
        self.put(at, "subscribe", source.descriptor(CCCD))

    def stream(self, source: Characteristic, period: float, values, until: float, start: float = 0.3) -> None:
        at = start
        for value in values:
            if at > until:
                return
            self.send(at + self.rng.uniform(-0.003, 0.003), source, value, "stream")
            at += period

    def record(self, capture: Capture, at: float, link: int) -> float:
        """Puts the connection into a capture, with its discovery; returns its end."""
        if self.mtu != 23:
            capture.att(at, link, False, b"\x02" + u16(self.mtu))
            capture.att(at + 0.01, link, True, b"\x03" + u16(self.mtu))
            at += 0.03
        at = self.table.discover(capture, at, link)
        for _, characteristics in self.table.services:
            for each in characteristics:
                if each.properties & READ and (each.value is not None or each.error is not None):
                    at = self.read(capture, at, link, each)
        for each in self.subscribed:
            flag = b"\1\0" if each.properties & NOTIFY else b"\2\0"
            capture.att(at, link, False, b"\x12" + u16(each.descriptor(CCCD)) + flag)
            capture.att(at + 0.004, link, True, b"\x13")
            at += 0.005
        zero = at - 0.005
        for time, _, kind, what in sorted(self.events):
            if kind == "send":
                handle, value, indicate = what
                capture.att(zero + time, link, True, (b"\x1d" if indicate else b"\x1b") + u16(handle) + value)
                if indicate:
                    capture.att(zero + time + 0.0001, link, False, b"\x1e")
            elif kind == "subscribe":
                capture.att(zero + time, link, False, b"\x12" + u16(what[0]) + b"\1\0")
                capture.att(zero + time + RESPONSE, link, True, b"\x13")
            else:
                handle, value, response, error = what
                code = b"\x12" if response else b"\x52"
                capture.att(zero + time, link, False, code + u16(handle) + value)
                if error is not None:
                    capture.att(zero + time + RESPONSE, link, True, b"\x01\x12" + u16(handle) + bytes([error]))
                elif response:
                    capture.att(zero + time + RESPONSE, link, True, b"\x13")
        return zero + max([time for time, *_ in self.events], default=0) + 1

    def read(self, capture: Capture, at: float, link: int, each: Characteristic) -> float:
        handle, room = u16(each.handle), self.mtu - 1
        capture.att(at, link, False, b"\x0a" + handle)
        if each.error is not None:
            capture.att(at + 0.01, link, True, b"\x01\x0a" + handle + bytes([each.error]))
            return at + 0.02
        assert each.value is not None
        capture.att(at + 0.01, link, True, b"\x0b" + each.value[:room])
        at, offset = at + 0.02, room
        while len(each.value) >= offset:
            capture.att(at, link, False, b"\x0c" + handle + u16(offset))
            capture.att(at + 0.01, link, True, b"\x0d" + each.value[offset : offset + room])
            at, offset = at + 0.02, offset + room
        return at

    def truth(self) -> dict:
        return {
            "subscribed": [each.path for each in self.subscribed],
            "writes": sorted(self.writes, key=lambda each: each["at"]),
            "sent": sorted(self.sent, key=lambda each: each["at"]),
        }


@dataclass
class Advertisement:
    """Writes the advertisements before the connections: each payload in turn, with its scan response."""

    kind: int
    payloads: list[bytes]
    response: bytes | None = None
    interval: float = 0.1
    # So many reports of each payload.
    each: int = 6
    extended: bool = False

    def record(self, capture: Capture, at: float, address: bytes) -> float:
        for payload in self.payloads:
            for _ in range(self.each):
                if self.extended:
                    capture.extended_report(at, address, self.kind, payload)
                else:
                    capture.report(at, address, self.kind, payload)
                if self.response is not None:
                    capture.report(at + 0.001, address, SCAN_RSP, self.response)
                at += self.interval
        return at

    def truth(self) -> dict:
        scans = self.response.hex() if self.response is not None else None
        return {
            "kind": self.kind,
            "extended": self.extended,
            "payloads": [each.hex() for each in self.payloads],
            "response": scans,
            "interval": self.interval * self.each,
        }


@dataclass
class Device:
    name: str
    address: bytes
    advertisement: Advertisement | None
    table: Table
    links: list[Link]
    form: str = "log"
    # False: the log begins in the connection.
    connection: bool = True

    def capture(self) -> Capture:
        capture, at = Capture(), 0.0
        if self.advertisement:
            at = self.advertisement.record(capture, at, self.address)
        for number, link in enumerate(self.links):
            handle = 0x40 + number
            if self.connection:
                capture.connected(at + 0.05, handle, self.address)
            at = link.record(capture, at + 0.1, handle)
            if self.connection:
                capture.disconnected(at, handle)
            at += 2
        return capture

    def truth(self) -> dict:
        return {
            "name": self.name,
            "address": ":".join(f"{each:02X}" for each in self.address),
            "file": f"{self.name}.{self.form}",
            "advertisement": self.advertisement.truth() if self.advertisement else None,
            "services": self.table.truth(),
            "links": [link.truth() for link in self.links],
        }
