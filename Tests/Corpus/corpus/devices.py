"""Some forty devices of the kinds that people own, each made from a seed: the same seed makes the same bytes."""

import random
import struct
from collections.abc import Callable

from .writer import (
    ADV_IND,
    ADV_NONCONN_IND,
    ADV_SCAN_IND,
    CCCD,
    COMMAND,
    INDICATE,
    NOTIFY,
    READ,
    WRITE,
    Advertisement,
    Characteristic,
    Device,
    Link,
    Table,
    ad,
    u16,
    uuid_bytes,
)

MAKERS: dict[str, Callable[["Maker"], Device]] = {}
FORMS = ["log", "log", "pcap", "pcapng"]
# A battery level and a private service, which several devices have.
PRIVATE = "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"


def maker(function: Callable[["Maker"], Device]) -> Callable[["Maker"], Device]:
    MAKERS[function.__name__.replace("_", "-")] = function
    return function


class Maker:
    """The parts that the makers share: chance, a common table, an ordinary advertisement."""

    def __init__(self, name: str, seed: int) -> None:
        self.rng = random.Random(f"{seed} {name}")
        self.name = name
        self.form = self.rng.choice(FORMS)
        self.address = bytes([0xC0 | self.rng.randrange(64)]) + self.rng.randbytes(5)
        self.ad_name = name[:10].encode()

    def advertisement(self, services: tuple[int, ...] = (), **more) -> Advertisement:
        data = ad(1, b"\x06")
        if services:
            data += ad(3, b"".join(map(u16, services)))
        return Advertisement(ADV_IND, [data + ad(9, self.ad_name)], **more)

    def serial(self, descriptors: tuple = (CCCD,), properties: int = NOTIFY, more: tuple = ()):
        """A device with a service of two characteristics: one is written, the other one answers."""
        tx = Characteristic(0xFFE1, WRITE | COMMAND)
        rx = Characteristic(0xFFE2, properties, descriptors=descriptors)
        gap = (0x1800, [Characteristic(0x2A00, READ, self.ad_name), Characteristic(0x2A01, READ, b"\0\0")])
        table = Table([gap, (0xFFE0, [tx, rx, *more])])
        link = Link(table, self.rng)
        if CCCD in descriptors:
            link.subscribed.append(rx)
        return table, link, tx, rx

    def device(self, table: Table, *links: Link, advertisement: Advertisement | None = None, **more) -> Device:
        advertisement = advertisement or self.advertisement((0xFFE0,))
        return Device(self.name, self.address, advertisement, table, list(links), self.form, **more)

    def gap(self, low: float = 0.6, high: float = 3) -> float:
        return self.rng.uniform(low, high)


# Locks and pumps


@maker
def lock_with_a_challenge(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for _ in range(m.rng.randrange(3, 7)):
        link.write(tx, b"\x01\x00", (rx, b"\x81" + m.rng.randbytes(8), 0.04), wait=0.5)
        link.write(tx, b"\x02" + m.rng.randbytes(8), (rx, b"\x82\x00", 0.09), wait=0.6)
        link.write(tx, b"\x03\x01", (rx, b"\x83\x00", 0.05), (rx, b"\xa0\x01", 0.8), wait=m.gap(1.5, 4))
        link.write(tx, b"\x03\x00", (rx, b"\x83\x00", 0.05), (rx, b"\xa0\x00", 0.8), wait=m.gap(1.5, 4))
    # The door, which nobody asked for.
    link.send(link.now + 3, rx, b"\xd0\x01\x33", "unasked")
    return m.device(table, link)


@maker
def lock_that_refuses_until_unlocked(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    link.write(tx, b"\x10\x01", (rx, b"\xff\x10", 0.03), wait=1.2)
    link.write(tx, b"\x01\x12\x34", (rx, b"\x81\x00", 0.06), wait=1.2)
    for _ in range(5):
        link.write(tx, b"\x10\x01", (rx, b"\x90\x01", 0.03), wait=m.gap(1.2))
        link.write(tx, b"\x10\x00", (rx, b"\x90\x00", 0.03), wait=m.gap(1.2))
    return m.device(table, link)


@maker
def lock_with_an_unasked_status(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for number in range(20):
        link.write(tx, bytes([0x10 + number]), (rx, bytes([0x80 + number, number]), 0.03), wait=1.5)
        if number in (3, 11):
            link.send(link.now + 0.4, rx, bytes([0xEE, number]), "unasked")
            link.now += 1.5
    return m.device(table, link)


@maker
def pump_with_a_password(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    link.write(tx, b"\x02\x05\x00", error=0x80, wait=1)
    link.write(tx, b"\x01\xd2\x04", (rx, b"\x81\x00", 0.05), wait=1)
    for dose in range(1, 6):
        link.write(tx, b"\x02" + u16(dose * 5), (rx, b"\x82\x00", 0.05), (rx, b"\x83" + u16(dose * 5), 1.6), wait=m.gap(3, 5))
    return m.device(table, link)


@maker
def pump_that_is_polled(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    level = 300
    for number in range(30):
        link.write(tx, b"\x05", (rx, b"\x85" + u16(level), 0.045), wait=2)
        level -= m.rng.randrange(0, 3)
        if number in (9, 20):
            link.send(link.now - 0.7, rx, b"\xaa\x01" + bytes([number]), "unasked")
    return m.device(table, link)


@maker
def pump_with_two_channels(m: Maker) -> Device:
    bolus = Characteristic(0xFFE4, NOTIFY | INDICATE, descriptors=(CCCD,))
    table, link, tx, rx = m.serial(more=(Characteristic(0xFFE3, WRITE), bolus))
    other = table.services[1][1][2]
    link.subscribed.append(bolus)
    for number in range(12):
        link.write(tx, bytes([0x21, number % 3]), (rx, bytes([0xA1, number % 3]), 0.03), wait=m.gap(0.5, 1.5))
        if number % 2:
            link.write(other, b"\x07", (bolus, b"\x87\x01", 0.1), (rx, b"\xa7", 0.3), wait=m.gap(0.8, 2))
    return m.device(table, link)


# LED strips


def strip(m: Maker, **more):
    tx = Characteristic(0xFFF3, READ | COMMAND, b"\0")
    rx = Characteristic(0xFFF4, NOTIFY, descriptors=(CCCD,))
    table = Table([(0xFFF0, [tx, rx])])
    link = Link(table, m.rng)
    link.subscribed.append(rx)
    return table, link, tx, rx


@maker
def strip_with_a_scan_response(m: Maker) -> Device:
    table, link, tx, rx = strip(m)
    link.write(tx, b"\xef\x01\x77", (rx, bytes.fromhex("66 15 23 61 23 04 ff 00 00 00 06 99"), 0.05), response=False)
    for _ in range(40):
        link.write(tx, b"\x56" + m.rng.randbytes(3) + b"\x00\xf0\xaa", response=False, wait=m.gap(0.1, 0.6))
    link.write(tx, b"\xcc\x24\x33", response=False)
    link.write(tx, b"\xef\x01\x77", (rx, bytes.fromhex("66 15 24 61 23 04 ff 00 00 00 06 99"), 0.05), response=False)
    data = ad(1, b"\x06") + ad(3, u16(0xFFF0)) + ad(9, b"LEDBLE-00")
    response = ad(0xFF, b"\xf0\x5a" + m.rng.randbytes(12)) + ad(0x12, struct.pack("<HH", 8, 16))
    return m.device(table, link, advertisement=Advertisement(ADV_IND, [data], response))


@maker
def strip_with_two_structures_of_a_company(m: Maker) -> Device:
    table, link, tx, rx = strip(m)
    for number in range(25):
        on = number % 2
        link.write(tx, bytes([0x7E, 4, 4, on, 0, on, 0xFF, 0, 0xEF]), (rx, bytes([0x7E, on]), 0.06), response=False, wait=m.gap(0.7, 2))
    data = ad(1, b"\x05") + ad(0xFF, bytes.fromhex("3412 01")) + ad(0xFF, bytes.fromhex("3412 0203"))
    response = ad(0xFF, bytes.fromhex("3412 040506")) + ad(9, b"STRIP")
    return m.device(table, link, advertisement=Advertisement(ADV_IND, [data], response))


@maker
def strip_that_acknowledges(m: Maker) -> Device:
    table, link, tx, rx = strip(m)
    for _ in range(90):
        link.write(tx, b"\x56" + m.rng.randbytes(3) + b"\xaa", (rx, b"OK", 0.03), response=False, wait=m.gap(0.15, 0.8))
    for _ in range(4):
        link.write(tx, b"\x30", (rx, b"\xb0\x02", 0.03), response=False)
    return m.device(table, link)


@maker
def strip_with_its_uuid_in_the_scan_response(m: Maker) -> Device:
    table, link, tx, rx = strip(m)
    for _ in range(5):
        link.write(tx, b"\x01", (rx, b"\x81\x01\x02", 0.08), response=False)
    data = ad(1, b"\x06") + ad(9, b"ACME-00") + ad(0xFF, b"\x34\x12" + bytes(range(14)))
    response = ad(7, uuid_bytes("0000FFF0-1212-EFDE-1523-785FEABCD123"))
    return m.device(table, link, advertisement=Advertisement(ADV_IND, [data], response))


@maker
def strip_of_which_the_app_asks_after_each_colour(m: Maker) -> Device:
    table, link, tx, rx = strip(m)
    for _ in range(30):
        colour = m.rng.randbytes(3)
        link.write(tx, b"\x56" + colour, response=False, wait=0.35)
        link.write(tx, b"\xef", (rx, b"\x66" + colour, 0.04), response=False, wait=m.gap())
    return m.device(table, link)


# Treadmills


@maker
def treadmill(m: Maker) -> Device:
    data = Characteristic(0x2ACD, NOTIFY, descriptors=(CCCD,))
    control = Characteristic(0x2AD9, WRITE | INDICATE, descriptors=(CCCD,))
    status = Characteristic(0x2ADA, NOTIFY, descriptors=(CCCD,))
    feature = Characteristic(0x2ACC, READ, bytes.fromhex("0C 14 00 00 03 00 00 00"))
    table = Table([(0x1826, [feature, data, control, status])])
    link = Link(table, m.rng)
    link.subscribed += [data, control, status]
    link.write(control, b"\x00", (control, b"\x80\x00\x01", 0.04), wait=2)
    link.write(control, b"\x07", (control, b"\x80\x07\x01", 0.04), (status, b"\x04", 0.1), wait=4)
    for speed in (100, 250, 500, 800):
        link.write(control, b"\x02" + u16(speed), (control, b"\x80\x02\x01", 0.04), (status, b"\x05" + u16(speed), 0.1), wait=m.gap(5, 9))
    link.write(control, b"\x08\x01", (control, b"\x80\x08\x01", 0.04), (status, b"\x02\x01", 0.1), wait=3)
    values = (b"\x84\x04" + u16(100 + n % 700) + u16(n) + b"\0\0" + u16(n) for n in range(600))
    link.stream(data, 1.0, values, link.now)
    advertisement = Advertisement(ADV_IND, [ad(1, b"\x06") + ad(2, u16(0x1826)) + ad(0x16, bytes.fromhex("2618 01 01 00"))])
    advertisement.response = ad(9, b"Treadmill 12")
    return m.device(table, link, advertisement=advertisement)


@maker
def treadmill_that_notifies_from_a_descriptor(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    tx.descriptors = (0xFFE1,)
    table = Table(table.services)
    link.table = table
    for number in range(8):
        link.write(tx, bytes([number]), (tx.descriptor(0xFFE1), bytes([0x80 | number, 1]), 0.03), wait=1.3)
    link.write(tx, b"\x40", (rx, b"\xc0\x01", 0.05))
    return m.device(table, link)


@maker
def treadmill_with_a_stream_and_commands_in_one_channel(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for number in range(14):
        link.write(tx, bytes([0xA0, number % 4]), (rx, bytes([0xB0, number % 4]), 0.05), wait=m.gap(1.5, 5))
    values = (bytes([0x04, n & 255, m.rng.randrange(256)]) for n in range(600))
    link.stream(rx, 0.5, values, link.now)
    return m.device(table, link)


# Toys


@maker
def toy_for_one_central(m: Maker) -> Device:
    battery = Characteristic(0x2A19, READ | NOTIFY, b"\x5a", (CCCD,))
    drive = Characteristic(0xAA02, COMMAND)
    info = Characteristic(0xAA03, NOTIFY, descriptors=(CCCD,))
    table = Table([(0x180F, [battery]), (0xAA01, [drive, info])])
    link = Link(table, m.rng)
    link.subscribed += [battery, info]
    for _ in range(60):
        link.write(drive, b"\x10" + m.rng.randbytes(2), response=False, wait=0.25)
    for _ in range(6):
        link.write(drive, b"\x20", (info, b"\xa0\x07", 0.05), response=False, wait=m.gap())
    link.stream(battery, 5.0, (bytes([90 - n]) for n in range(60)), link.now, start=4.9)
    return m.device(table, link, advertisement=m.advertisement((0xAA01,)))


@maker
def toy_that_says_nothing(m: Maker) -> Device:
    drive = Characteristic(0xAA02, WRITE | COMMAND)
    table = Table([(0xAA01, [drive])])
    link = Link(table, m.rng)
    for number in range(50):
        link.write(drive, bytes([0xF0, number]), response=bool(number % 3), wait=m.gap(0.05, 0.5))
    return m.device(table, link, advertisement=m.advertisement())


@maker
def toy_that_greets(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    link.send(0.05, rx, b"HELLO", "greeting")
    link.send(0.09, rx, b"\x01\x02", "greeting")
    for number in range(9):
        link.write(tx, bytes([number]), (rx, bytes([number | 0x80]), 0.06), wait=m.gap())
    return m.device(table, link)


# Serial modules


@maker
def serial_without_a_cccd(m: Maker) -> Device:
    table, link, tx, rx = m.serial(descriptors=())
    for number in range(8):
        link.write(tx, b"AT+%d" % number, (rx, b"OK+%d" % number, 0.04), response=False, wait=m.gap())
    return m.device(table, link)


@maker
def serial_that_nobody_subscribes_to(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    link.subscribed.clear()
    for number in range(8):
        link.write(tx, bytes([number]), (rx, bytes([0x80 | number]), 0.03), wait=m.gap())
    return m.device(table, link)


@maker
def serial_that_sends_before_anyone_subscribes(m: Maker) -> Device:
    table, link, tx, rx = m.serial(descriptors=())
    values = (b"V=%d\r\n" % m.rng.randrange(1000) for _ in range(200))
    for number in range(5):
        link.write(tx, bytes([0x40 + number]), (rx, b"ack%d" % number, 0.04), wait=m.gap(2, 4))
    link.stream(rx, 1.0, values, link.now)
    return m.device(table, link)


@maker
def serial_with_frames_in_pieces(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for number in range(6):
        frame = bytes([0x55, 0xAA, number]) + m.rng.randbytes(52)
        pieces = [(rx, frame[at : at + 20], 0.04 + at / 2000) for at in range(0, len(frame), 20)]
        link.write(tx, bytes([0xAA, 0x55, 0x90, number]), *pieces, wait=m.gap(1.2))
    return m.device(table, link)


# Meters and histories


@maker
def meter_with_late_results(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for _ in range(6):
        link.write(tx, b"\x10", (rx, b"\x80", 0.03), (rx, b"\x81", 1.43), wait=4)
    return m.device(table, link)


@maker
def meter_with_other_results(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for _ in range(9):
        result = b"\x81" + u16(m.rng.randrange(4000))
        link.write(tx, b"\x10\x01", (rx, b"\x80\x01", 0.03), (rx, result, 2.2), wait=m.gap(4, 6))
    return m.device(table, link)


@maker
def meter_with_two_kinds_of_late_results(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for _ in range(5):
        link.write(tx, b"\x11", (rx, b"\x91", 0.03), (rx, b"\x92\x01", 1.8), wait=m.gap(3, 5))
        link.write(tx, b"\x12", (rx, b"\xa1", 0.03), (rx, b"\xa2\x02\x03", 3.1), wait=m.gap(4, 6))
    return m.device(table, link)


@maker
def meter_that_is_sometimes_busy(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for number in range(24):
        answer = b"\xff\x05" if number in (4, 13) else b"\x90\x01\x02"
        link.write(tx, b"\x10\x00", (rx, answer, 0.06), wait=m.gap(0.6, 2))
    return m.device(table, link)


@maker
def meter_with_records(m: Maker) -> Device:
    records = Characteristic(0x2A18, NOTIFY, descriptors=(CCCD,))
    control = Characteristic(0x2A52, WRITE | INDICATE, descriptors=(CCCD,))
    table = Table([(0x1808, [records, Characteristic(0x2A51, READ, b"\0\0"), control])])
    link = Link(table, m.rng)
    link.subscribed += [records, control]
    link.write(control, b"\x04\x01", (control, b"\x05\x00\x0c\x00", 0.05), wait=1)
    all = [(records, b"\x02" + u16(n) + m.rng.randbytes(9), 0.06 + n * 0.03) for n in range(12)]
    for _ in range(2):
        link.write(control, b"\x01\x01", *all, (control, b"\x06\x00\x01\x01", 0.5), wait=4)
    link.write(control, b"\x01\x06", all[-1][:2] + (0.06,), (control, b"\x06\x00\x01\x01", 0.12), wait=4)
    return m.device(table, link, advertisement=m.advertisement((0x1808,)))


@maker
def history_of_120_values(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    link.write(tx, b"\x01", (rx, b"\x81\x78", 0.03))
    link.write(tx, b"\x02", *[(rx, bytes([0x82, n]) + m.rng.randbytes(6), 0.03 * (n + 1)) for n in range(120)], wait=8)
    link.write(tx, b"\x03", (rx, b"\x83", 0.03))
    return m.device(table, link)


@maker
def history_of_900_values(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    link.write(tx, b"\x02\x00", *[(rx, u16(n) + m.rng.randbytes(10), 0.05 + 0.012 * n) for n in range(900)], wait=15)
    link.write(tx, b"\x03", (rx, b"\x83", 0.03))
    return m.device(table, link)


@maker
def history_by_days(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    days = {d: [bytes([0x31, d, n]) + m.rng.randbytes(3) for n in range(m.rng.randrange(5, 40))] for d in range(4)}
    for day in [0, 1, 2, 3, 0, 1]:
        values = [(rx, value, 0.04 + 0.03 * n) for n, value in enumerate(days[day])]
        link.write(tx, bytes([0x30, day]), *values, wait=0.04 + 0.03 * len(values) + m.gap(1, 3))
    return m.device(table, link)


# Streams


@maker
def stream_of_ten_a_second_with_writes(m: Maker) -> Device:
    imu = Characteristic("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", NOTIFY, descriptors=(CCCD,))
    tx = Characteristic("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", WRITE | COMMAND)
    table = Table([(PRIVATE, [tx, imu])])
    link = Link(table, m.rng)
    link.subscribed.append(imu)
    for number in range(10):
        link.write(tx, bytes([0x70, number % 2]), (imu, bytes([0xF0, number % 2]), 0.02), wait=m.gap(0.8, 2))
    link.stream(imu, 0.1, (bytes([1]) + struct.pack("<hhh", *[m.rng.randrange(-900, 900) for _ in range(3)]) for _ in range(400)), link.now)
    return m.device(table, link)


@maker
def stream_with_a_subscription_that_is_repeated(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    link.stream(rx, 1.0, (bytes([0x16, 60 + n % 40, n]) for n in range(20)), 19)
    link.subscribe_again(rx, 4.35)
    link.now = 21
    link.write(tx, b"\x61", (rx, b"\xe1\x00", 0.05))
    return m.device(table, link)


@maker
def stream_of_frames(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for number in range(15):
        at = 0.9 + 2.0 * number
        link.send(at, rx, bytes([0xAA, number]), "stream")
        link.send(at + 0.0006, rx, bytes([0xBB, number, 7]), "stream")
    return m.device(table, link)


@maker
def stream_at_no_regular_times(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    at = 0.5
    for number in range(25):
        link.send(at, rx, bytes([0x05, number, m.rng.randrange(256)]), "stream")
        at += m.gap(0.3, 4)
    link.now = 20
    link.write(tx, b"\x61", (rx, b"\xe1\x00", 0.05))
    return m.device(table, link)


@maker
def stream_that_a_write_starts(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for _ in range(2):
        values = [(rx, bytes([0x09, n, m.rng.randrange(256)]), 0.1 + 0.2 * n) for n in range(20)]
        link.write(tx, b"\x50\x01", (rx, b"\xd0\x01", 0.03), *values, wait=6)
        link.write(tx, b"\x50\x00", (rx, b"\xd0\x00", 0.03), wait=2)
    return m.device(table, link)


# Sensors that broadcast


@maker
def sensor_of_bthome(m: Maker) -> Device:
    payloads = [
        ad(1, b"\x06") + ad(0x16, b"\xd2\xfc\x40\x00" + bytes([n]) + b"\x02" + struct.pack("<h", 2500 + 10 * n))
        for n in range(12)
    ]
    return m.device(Table([]), advertisement=Advertisement(ADV_NONCONN_IND, payloads, interval=1.0, each=1))


@maker
def sensor_of_a_company(m: Maker) -> Device:
    payloads = [ad(1, b"\x06") + ad(0xFF, b"\x99\x04\x05" + m.rng.randbytes(15) + u16(n) + m.address) for n in range(9)]
    return m.device(Table([]), advertisement=Advertisement(ADV_NONCONN_IND, payloads, interval=1.285, each=2))


@maker
def sensor_with_a_scan_response(m: Maker) -> Device:
    payloads = [ad(1, b"\x06") + ad(0x16, b"\x95\xfe\x50\x58\x5b\x05" + bytes([n]) + m.address) for n in range(7)]
    return m.device(Table([]), advertisement=Advertisement(ADV_SCAN_IND, payloads, ad(9, b"MJ_HT_V1"), 0.5, 3))


@maker
def beacon(m: Maker) -> Device:
    payload = ad(1, b"\x1a") + ad(0xFF, bytes.fromhex("4C00 0215") + m.rng.randbytes(16) + bytes.fromhex("0001 0002 C5"))
    return m.device(Table([]), advertisement=Advertisement(ADV_NONCONN_IND, [payload], each=20))


# Other fields of an advertisement


@maker
def watch_with_everything_in_its_advertisement(m: Maker) -> Device:
    steps = Characteristic(0xFEEA, NOTIFY, descriptors=(CCCD,))
    ask = Characteristic(0xFEE1, WRITE)
    clock = Characteristic(0x2A2B, READ | WRITE, bytes.fromhex("EA 07 0B 1B 07 00 00 05 00 00"))
    table = Table([(0xFEE0, [steps, ask]), (0x1805, [clock])])
    link, again = Link(table, m.rng), Link(table, m.rng)
    for each in (link, again):
        each.subscribed.append(steps)
        each.write(clock, bytes.fromhex("EA 07 0B 1B 08 00 00 05 00 00"))
        for number in range(6):
            each.write(ask, bytes([0x02, number]), (steps, bytes([0x82, number, 0]), 0.05), wait=m.gap(0.6, 2))
    data = ad(2, u16(0xFEE0)) + ad(0x0A, b"\xf4") + ad(0x19, u16(0x00C1)) + ad(8, b"Wat") + ad(0x1B, b"\0" + m.address[::-1])
    response = ad(0x24, b"https://a.b") + ad(0x16, u16(0x180F) + b"\x50")
    return m.device(table, link, again, advertisement=Advertisement(ADV_IND, [data], response))


@maker
def watch_with_an_extended_advertisement(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for number in range(6):
        link.write(tx, bytes([number]), (rx, bytes([number, 1]), 0.04), wait=m.gap())
    data = ad(1, b"\x06") + ad(0xFF, b"\x34\x12" + bytes(range(48))) + ad(9, b"A watch with a long name")
    return m.device(table, link, advertisement=Advertisement(1, [data], extended=True))


@maker
def device_of_which_no_advertisement_was_seen(m: Maker) -> Device:
    table, link, tx, rx = m.serial()
    for number in range(5):
        link.write(tx, bytes([number]), (rx, bytes([0x80 | number]), 0.04), wait=m.gap())
    device = m.device(table, link, connection=m.rng.random() < 0.5)
    device.advertisement = None
    return device


# Indications, errors, long values, repeated services


@maker
def device_with_several_indications(m: Maker) -> Device:
    first, second = (Characteristic(u, INDICATE, descriptors=(CCCD,)) for u in (0xABC2, 0xABC3))
    tx = Characteristic(0xABC1, WRITE)
    table = Table([(0xABC0, [tx, first, second])])
    link = Link(table, m.rng)
    link.subscribed += [first, second]
    for number in range(8):
        link.write(tx, bytes([1, number % 2]), (first, bytes([0x81, number % 2]), 0.03), (second, b"\x91", 0.12), wait=m.gap())
        link.write(tx, b"\x05", (second, b"\x95\x01", 0.05), (second, b"\x95\x02", 0.1), wait=m.gap())
    return m.device(table, link, advertisement=m.advertisement((0xABC0,)))


@maker
def device_with_errors(m: Maker) -> Device:
    bad = Characteristic(0xABD2, READ | WRITE, error=0x81)
    tx = Characteristic(0xABD1, WRITE)
    rx = Characteristic(0xABD3, NOTIFY, descriptors=(CCCD,))
    table = Table([(0xABD0, [tx, bad, rx])])
    link = Link(table, m.rng)
    link.subscribed.append(rx)
    for _ in range(4):
        link.write(tx, b"\x01", (rx, b"\x81", 0.03), wait=m.gap())
        link.write(tx, b"\x02", error=0x90, wait=m.gap())
        link.write(tx, b"\x03\x01", error=0x91, wait=m.gap())
        link.write(bad, b"\x00", error=0x81, wait=m.gap())
    return m.device(table, link, advertisement=m.advertisement())


@maker
def device_with_long_values(m: Maker) -> Device:
    big = Characteristic(0xABE2, READ, m.rng.randbytes(300))
    tx = Characteristic(0xABE1, WRITE | COMMAND)
    rx = Characteristic(0xABE3, NOTIFY, descriptors=(CCCD,))
    table = Table([(0xABE0, [tx, big, rx])])
    link = Link(table, m.rng, mtu=247)
    link.subscribed.append(rx)
    for number in range(6):
        link.write(tx, bytes([number]) + bytes(180), (rx, bytes([number]) + m.rng.randbytes(230), 0.06), response=False, wait=m.gap())
    return m.device(table, link, advertisement=m.advertisement())


@maker
def device_with_two_equal_services(m: Maker) -> Device:
    def service():
        return (0xFFA0, [Characteristic(0xFFA1, WRITE), Characteristic(0xFFA2, NOTIFY, descriptors=(CCCD,))])

    table = Table([service(), service()])
    link = Link(table, m.rng)
    (_, [left, left_rx]), (_, [right, right_rx]) = table.services
    link.subscribed += [left_rx, right_rx]
    for number in range(8):
        link.write(left, bytes([number % 2]), (left_rx, bytes([0x10, number % 2]), 0.03), wait=m.gap())
        link.write(right, bytes([number % 2]), (right_rx, bytes([0x20, number % 2]), 0.06), wait=m.gap())
    return m.device(table, link, advertisement=m.advertisement((0xFFA0,)))


# A few of different kinds, for a test that has little time.
QUICK = [
    "lock-with-an-unasked-status",
    "strip-with-a-scan-response",
    "meter-with-late-results",
    "sensor-of-bthome",
    "serial-that-nobody-subscribes-to",
    "device-with-errors",
]


def devices(seed: int, names: list[str] | None = None) -> list[Device]:
    return [MAKERS[name](Maker(name, seed)) for name in names or MAKERS]
