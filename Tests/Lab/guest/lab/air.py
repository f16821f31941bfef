"""Every HCI packet between the kernel and its virtual controller, and what they leave on the air."""

import struct
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.events import Signal

COMMAND, ACL, EVENT = 1, 2, 4
BTSNOOP_EPOCH = 0x00DCDDB30F2F8000


@dataclass
class AdvertisingSet:
    """One set as the kernel ordered it, in bytes."""

    properties: int = 0
    interval: tuple[int, int] = (0, 0)  # in units of 0.625 ms
    data: bytes = b""
    scan_response: bytes = b""
    enabled: bool = False

    @property
    def connectable(self) -> bool:
        return bool(self.properties & 0x0001)

    @property
    def scannable(self) -> bool:
        return bool(self.properties & 0x0002)

    @property
    def interval_milliseconds(self) -> tuple[float, float]:
        return self.interval[0] * 0.625, self.interval[1] * 0.625


@dataclass
class Packet:
    time: float
    from_kernel: bool
    data: bytes


@dataclass
class Air:
    """Listens to the HCI line. Volume 4, Part E, 7.7 and 7.8 of the Core Specification say what the packets mean."""

    capture: Path
    packets: list[Packet] = field(default_factory=list)
    sets: dict[int, AdvertisingSet] = field(default_factory=dict)
    # Each change of data or parameters as it passed, so that a scenario can look at all of them.
    history: list[tuple[str, int, bytes]] = field(default_factory=list)
    signal: Signal = field(default_factory=Signal)

    def __post_init__(self) -> None:
        self.file = open(self.capture, "wb")
        self.file.write(b"btsnoop\0" + struct.pack(">II", 1, 1002))

    @property
    def advertised(self) -> list[AdvertisingSet]:
        return [each for each in self.sets.values() if each.enabled]

    async def until_advertised(self, within: float = 30) -> AdvertisingSet:
        return await self.signal.until(lambda: next(iter(self.advertised), None), "an advert on the air", within)

    async def until_silent(self, within: float = 30) -> None:
        await self.signal.until(lambda: not self.advertised, "no advert on the air", within)

    def record(self, from_kernel: bool, data: bytes) -> None:
        now = time.time()
        self.packets.append(Packet(now, from_kernel, data))
        stamp = int(now * 1_000_000) + BTSNOOP_EPOCH
        flags = (0 if from_kernel else 1) | (2 if data[0] in (COMMAND, EVENT) else 0)
        self.file.write(struct.pack(">IIIIQ", len(data), len(data), flags, 0, stamp) + data)
        self.file.flush()
        if data[0] == COMMAND and len(data) >= 4:
            self.on_command(data[1] | data[2] << 8, data[4:])
        elif data[0] == EVENT:
            self.on_event(data[1], data[3:])
        self.signal.happened()

    def on_command(self, opcode: int, body: bytes) -> None:
        match opcode:
            case 0x0C03:  # Reset
                self.sets.clear()
            case 0x2006:  # LE Set Advertising Parameters
                low, high, kind = struct.unpack_from("<HHB", body)
                each = self.set(0)
                each.interval, each.properties = (low, high), {0: 0x13, 2: 0x12, 3: 0x10}.get(kind, 0)
                self.history.append(("parameters", 0, body))
            case 0x2008 | 0x2009:  # LE Set Advertising Data, LE Set Scan Response Data
                self.put(0, opcode == 0x2009, body[1 : 1 + body[0]])
            case 0x200A:  # LE Set Advertising Enable
                self.set(0).enabled = body[0] == 1
            case 0x2036:  # LE Set Extended Advertising Parameters
                handle, properties = struct.unpack_from("<BH", body)
                each = self.set(handle)
                each.properties = properties
                each.interval = (int.from_bytes(body[3:6], "little"), int.from_bytes(body[6:9], "little"))
                self.history.append(("parameters", handle, body))
            case 0x2037 | 0x2038:  # LE Set Extended Advertising Data, … Scan Response Data
                handle, operation, _, length = body[:4]
                part, each, answer = body[4 : 4 + length], self.set(handle), opcode == 0x2038
                before = each.scan_response if answer else each.data
                if operation in (1, 3):
                    self.put(handle, answer, part)
                elif operation in (0, 2):
                    self.put(handle, answer, before + part)
            case 0x2039:  # LE Set Extended Advertising Enable
                handles = [body[2 + 4 * index] for index in range(body[1])] or list(self.sets)
                # A set that was removed meanwhile is not brought back by enabling it: the controller refuses that.
                for handle in handles:
                    if handle in self.sets:
                        self.sets[handle].enabled = body[0] == 1
            case 0x203C:  # LE Remove Advertising Set
                self.sets.pop(body[0], None)
            case 0x203D:  # LE Clear Advertising Sets
                self.sets.clear()

    def on_event(self, code: int, body: bytes) -> None:
        if code != 0x3E:
            return
        if body[0] == 0x12:  # LE Advertising Set Terminated
            if body[2] in self.sets:
                self.sets[body[2]].enabled = False
        elif body[0] in (0x01, 0x0A) and body[1] == 0 and body[4] == 1 and 0 in self.sets:
            # LE Connection Complete as peripheral ends the one legacy advert.
            self.sets[0].enabled = False

    def set(self, handle: int) -> AdvertisingSet:
        return self.sets.setdefault(handle, AdvertisingSet())

    def put(self, handle: int, answer: bool, data: bytes) -> None:
        each = self.set(handle)
        if answer:
            each.scan_response = data
        else:
            each.data = data
        self.history.append(("scan response" if answer else "data", handle, data))

    def unplugged(self) -> None:
        self.sets.clear()
        self.signal.happened()


def structures(data: bytes) -> list[tuple[int, bytes]]:
    """The AD structures (type, payload) of advertising data. Volume 3, Part C, 11."""
    found = []
    index = 0
    while index < len(data) and (length := data[index]):
        found.append((data[index + 1], data[index + 2 : index + 1 + length]))
        index += 1 + length
    return found
