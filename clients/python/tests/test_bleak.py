"""Programs of bleak 3 with Mynah's backends: the cases of bleak's own tests of its API, and BlueZ's ways."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import types
import uuid
from pathlib import Path
from typing import Any, Awaitable, Callable

import bleak
import pytest
from bleak import BleakAdapter, BleakClient, BleakScanner
from bleak.backends import BleakBackend
from bleak.exc import (
    BleakBluetoothNotAvailableError,
    BleakBluetoothNotAvailableReason,
    BleakCharacteristicNotFoundError,
    BleakDBusError,
    BleakDeviceNotFoundError,
    BleakError,
    BleakGATTProtocolError,
)

from mynah import Mynah
from mynah.bleak import BleakAdapterMynah, BleakClientMynah, BleakScannerMynah

pytest_plugins = ["pytester"]

#: Longer than any test takes.
LONG = 600.0

SERVICE = "2908f536-3fab-43c9-a7b2-80b6fdaae99b"
READ = "1a1af049-9c23-4b69-b763-e1096674ed18"
WRITE = "79a92bad-31b4-4a70-885c-e704ae2c6363"
COMMAND = "2a07f6ea-6401-45d7-838c-0f459a7edb7f"
NOTIFY = "d4c6dad3-76f1-4034-8871-0a6345be6cfc"
INDICATE = "b1f7c8d4-9e2a-4f6b-8d3a-1234567890ab"
BOTH = "822afd2f-c2b2-4302-9edb-09850a93b707"
ASKED = "25c614ab-1560-46da-94bc-c146addfc359"
OWN_DESCRIPTOR = "a1b2c3d4-e5f6-7890-1234-56789abcdef0"
BATTERY = "0000180f-0000-1000-8000-00805f9b34fb"

GADGET: dict[str, Any] = {
    "mynah": 1,
    "name": "Gadget",
    "device": {"name": "Gadget of the test"},
    "advertising": {"localName": "Gadget", "interval": "20 ms"},
    "services": [
        {
            "uuid": SERVICE,
            "characteristics": [
                {"uuid": READ, "properties": ["read"], "value": {"text": "DATA"}},
                {"uuid": WRITE, "properties": ["write"], "maxLength": 512},
                {"uuid": COMMAND, "properties": ["writeWithoutResponse"], "maxLength": 512},
                {"uuid": NOTIFY, "properties": ["read", "notify"], "value": {"text": "----"}},
                {"uuid": INDICATE, "properties": ["read", "indicate"], "value": {"text": "----"}},
                {
                    "uuid": BOTH,
                    "properties": ["read", "writeWithoutResponse", "write"],
                    "maxLength": 512,
                    "value": {"text": "both"},
                    "descriptors": [
                        {"uuid": "2901", "value": {"text": "Description"}},
                        {
                            "uuid": OWN_DESCRIPTOR,
                            "properties": ["read", "write"],
                            "value": {"hex": "01020304"},
                        },
                    ],
                },
                {"uuid": ASKED, "properties": ["read", "write"], "ask": ["read", "write"], "maxLength": 4},
            ],
        },
        {
            "uuid": "battery",
            "characteristics": [{"uuid": "battery-level", "properties": ["read"], "value": {"hex": "40"}}],
        },
    ],
    "faults": [
        {"name": "gone", "on": "read", "of": READ, "do": "disconnect", "reason": "0x15", "off": True}
    ],
}

#: A device that only advertises all that AdvertisementData has, a part of it in the scan response.
BEACON: dict[str, Any] = {
    "mynah": 1,
    "name": "Beacon",
    "advertising": {
        "interval": "20 ms",
        "serviceUUIDs": ["battery"],
        "manufacturerData": {"0x1234": "4D4647"},
        "txPower": 12,
        "scanResponse": {"localName": "Beacon", "serviceData": {"battery": "534552"}},
    },
    "services": [],
}

#: A safe that shows a passkey.
SAFE: dict[str, Any] = {
    "mynah": 1,
    "name": "Safe",
    "security": {"io": "displayOnly"},
    "advertising": {"localName": "Safe", "interval": "20 ms"},
    "services": [
        {
            "uuid": SERVICE,
            "characteristics": [
                {
                    "uuid": READ,
                    "properties": ["read"],
                    "value": {"hex": "07"},
                    "permissions": {"read": "authenticated"},
                }
            ],
        }
    ],
}


def named(name: str, **changes: Any) -> dict[str, Any]:
    """The gadget with another name."""
    return {**GADGET, "name": name, "advertising": {"localName": name, "interval": "20 ms"}, **changes}


async def of(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """A call of the test's client, which blocks, while the loop goes on."""
    return await asyncio.to_thread(call, *arguments, **named)


async def find(name: str = "Gadget") -> Any:
    device = await BleakScanner.find_device_by_name(name, timeout=LONG)
    assert device is not None
    return device


def play(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


def with_client(test: Callable[[BleakClient], Awaitable[None]], **options: Any) -> None:
    """Plays a test with a client that is connected to the gadget."""

    async def whole() -> None:
        async with BleakClient(await find(), timeout=LONG, **options) as client:
            await test(client)

    play(whole)


@pytest.fixture
def gadget(mynah, mynah_bleak):
    return mynah(GADGET)


# Scanning


def test_discover_returns_devices_with_their_advertisements(mynah, mynah_bleak, monkeypatch) -> None:
    mynah(BEACON)
    gadget = mynah(GADGET)

    async def test() -> None:
        heard: set[str | None] = set()
        enough = asyncio.Event()

        def on_detection(device: Any, data: Any) -> None:
            heard.add(data.local_name)
            if heard >= {"Gadget", "Beacon"}:
                enough.set()

        # The scan ends when both were heard, and not after a time.
        clock = types.SimpleNamespace(**{**vars(asyncio), "sleep": lambda seconds: enough.wait()})
        monkeypatch.setattr(bleak, "asyncio", clock)
        found = await BleakScanner.discover(timeout=1.0, return_adv=True, detection_callback=on_detection)
        assert {data.local_name for _, data in found.values()} == {"Gadget", "Beacon"}
        [(address, (device, data))] = [each for each in found.items() if each[1][0].name == "Gadget"]
        assert address == device.address == (await of(gadget.info))["advertising"]["address"]
        heard.clear()
        enough.clear()
        devices = await BleakScanner.discover(1.0, detection_callback=on_detection)
        assert sorted(device.name for device in devices) == ["Beacon", "Gadget"]

    play(test)


def test_a_device_is_found_by_its_address_its_name_and_a_filter(gadget) -> None:
    async def test() -> None:
        device = await find()
        for address in (device.address, device.address.lower()):
            found = await BleakScanner.find_device_by_address(address, timeout=LONG)
            assert found is not None and found.address == device.address
        found = await BleakScanner.find_device_by_filter(lambda d, data: data.rssi == -40, timeout=LONG)
        assert found is not None and found.name == "Gadget"

    play(test)


def test_a_device_that_is_not_there_is_not_found(gadget) -> None:
    async def test() -> None:
        assert await BleakScanner.find_device_by_name("Nobody", timeout=0.1) is None
        assert await BleakScanner.find_device_by_address("C0:11:22:33:44:55", timeout=0.1) is None

    play(test)


def test_simple_advertising_data_has_no_more_than_a_name(gadget) -> None:
    async def test() -> None:
        async with BleakScanner() as scanner:
            async for device, data in scanner.advertisement_data():
                assert device.name == data.local_name == "Gadget"
                assert (data.manufacturer_data, data.service_data, data.service_uuids) == ({}, {}, [])
                assert data.tx_power is None and data.rssi == -40 and data.platform_data
                break
            assert [each.address for each in scanner.discovered_devices] == [device.address]
            assert scanner.discovered_devices_and_advertisement_data[device.address][1] == data

    play(test)


def test_advertising_data_and_scan_response_are_one(mynah, mynah_bleak) -> None:
    mynah(BEACON)

    async def test() -> None:
        async with BleakScanner() as scanner:
            async for device, data in scanner.advertisement_data():
                assert data.local_name == device.name == "Beacon"
                assert data.manufacturer_data == {0x1234: b"MFG"}
                assert data.service_data == {BATTERY: b"SER"}
                assert data.service_uuids == [BATTERY]
                assert (data.tx_power, data.rssi) == (12, -40)
                break

    play(test)


def test_changed_advertising_data_is_reported_again(mynah, mynah_bleak) -> None:
    beacon = mynah(BEACON)

    async def test() -> None:
        values: asyncio.Queue[dict[int, bytes]] = asyncio.Queue()
        async with BleakScanner(lambda device, data: values.put_nowait(data.manufacturer_data)):
            assert await values.get() == {0x1234: b"MFG"}
            await of(beacon.advertise, fields={"manufacturerData": {"0x1234": "4E4557"}})
            assert await values.get() == {0x1234: b"NEW"}
            # BlueZ keeps the data of each company.
            await of(beacon.advertise, fields={"manufacturerData": {"0x0059": "01"}})
            assert await values.get() == {0x1234: b"NEW", 0x0059: b"\x01"}

    play(test)


def test_an_asynchronous_callback_is_called(gadget) -> None:
    async def test() -> None:
        found: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        async def on_detection(device: Any, data: Any) -> None:
            if not found.done():
                found.set_result(device.name)

        scanner = BleakScanner(on_detection)
        await scanner.start()
        assert await found == "Gadget"
        await scanner.stop()
        await scanner.stop()

    play(test)


@pytest.mark.parametrize(
    "options",
    [
        {"service_uuids": [BATTERY]},
        {"bluez": {"filters": {"UUIDs": ["180f"]}}},
        {"bluez": {"filters": {"Pathloss": 52}}},
        {"bluez": {"filters": {"Pattern": "Bea"}}},
        {
            "scanning_mode": "passive",
            "bluez": {"or_patterns": [(0, 0xFF, b"\x34\x12M"), (0, 0x09, b"Nobody")]},
        },
    ],
    ids=["services", "UUIDs", "Pathloss", "Pattern", "passive"],
)
def test_a_filter_leaves_the_other_device_out(mynah, mynah_bleak, options) -> None:
    mynah(BEACON)
    mynah(GADGET)

    async def test() -> None:
        async with BleakScanner(**options) as filtered, BleakScanner() as all_of_them:
            names = set()
            async for device, _ in all_of_them.advertisement_data():
                names.add(device.name)
                if names == {"Beacon", "Gadget"}:
                    break
            # A scanner hears what an earlier one has heard, before it does.
            names = {device.name for device in filtered.discovered_devices}
            assert names <= {"Beacon"} and "Gadget" not in names
            if not names:
                async for device, _ in filtered.advertisement_data():
                    assert device.name == "Beacon"
                    break

    play(test)


def test_a_weak_device_is_filtered(gadget) -> None:
    async def test() -> None:
        async with BleakScanner(bluez={"filters": {"RSSI": -39}}) as near, BleakScanner() as everywhere:
            async for device, _ in everywhere.advertisement_data():
                assert device.name == "Gadget"
                break
            assert near.discovered_devices == []

    play(test)


def test_a_passive_scan_needs_patterns(gadget) -> None:
    with pytest.raises(BleakError, match="or_patterns"):
        BleakScanner(scanning_mode="passive")


# Connecting


def test_a_client_has_the_name_and_the_address_of_its_device(gadget) -> None:
    async def test() -> None:
        device = await find()
        client = BleakClient(device, timeout=LONG)
        assert client.is_connected is False and client.backend_id == BleakBackend.BLUEZ_DBUS
        async with client:
            assert client.is_connected is True
            # BlueZ has read the device's own name.
            assert (client.name, client.address) == ("Gadget of the test", device.address)
            with pytest.raises(BleakError, match="already connected"):
                await client.connect()
        assert client.is_connected is False
        await client.disconnect()
        with pytest.raises(BleakError, match="Service Discovery"):
            client.services

    play(test)


def test_a_client_connects_by_an_address(gadget) -> None:
    async def test() -> None:
        address = (await find()).address
        client = BleakClient(address.lower(), timeout=LONG)
        with pytest.raises(BleakError, match="Not connected"):
            client.name
        async with client:
            assert await client.read_gatt_char(READ) == b"DATA"
        with pytest.raises(BleakDeviceNotFoundError) as missing:
            await BleakClient("C0:11:22:33:44:55", timeout=0.1).connect()
        assert missing.value.identifier == "C0:11:22:33:44:55"

    play(test)


def test_a_device_that_has_gone_times_out(gadget) -> None:
    async def test() -> None:
        device = await find()
        await of(gadget.advertise, False)
        with pytest.raises(asyncio.TimeoutError):
            await BleakClient(device, timeout=0.2).connect()
        await of(gadget.advertise, True)
        async with BleakClient(device, timeout=LONG) as client:
            assert client.is_connected

    play(test)


def test_a_device_is_connected_many_times(gadget) -> None:
    async def test() -> None:
        device = await find()
        for _ in range(10):
            async with BleakClient(device, timeout=LONG) as client:
                assert await client.read_gatt_char(READ) == b"DATA"
            assert not client.is_connected

    play(test)


def test_a_client_is_told_of_the_end_of_its_link(gadget) -> None:
    async def test() -> None:
        ended: asyncio.Queue[BleakClient] = asyncio.Queue()
        async with BleakClient(await find(), ended.put_nowait, timeout=LONG) as client:
            await of(gadget.disconnect)
            assert await ended.get() is client
            assert not client.is_connected
            with pytest.raises(BleakError):
                await client.read_gatt_char(READ)
            with pytest.raises(BleakError, match="Not connected"):
                await client.start_notify(NOTIFY, print)
            await client.connect()
        # Its own end is one, too.
        assert await ended.get() is client and ended.empty()

    play(test)


def test_a_link_that_ends_during_a_read_fails_it(gadget) -> None:
    async def test(client: BleakClient) -> None:
        await of(gadget.fault, "gone")
        with pytest.raises(BleakDBusError) as failed:
            await client.read_gatt_char(READ)
        assert failed.value.dbus_error == "org.bluez.Error.Failed"

    with_client(test)


def test_clients_of_a_device_share_its_link(mynah, gadget) -> None:
    async def test() -> None:
        device = await find()
        ended: asyncio.Queue[BleakClient] = asyncio.Queue()
        first, second = (BleakClient(device, ended.put_nowait, timeout=LONG) for _ in range(2))
        await asyncio.gather(first.connect(), second.connect())
        values: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()
        await first.start_notify(NOTIFY, lambda _, value: values.put_nowait((1, bytes(value))))
        await second.start_notify(NOTIFY, lambda _, value: values.put_nowait((2, bytes(value))))
        await of(gadget.set, NOTIFY, b"a", notify=True)
        assert sorted([await values.get(), await values.get()]) == [(1, b"a"), (2, b"a")]
        await first.stop_notify(NOTIFY)
        await of(gadget.set, NOTIFY, b"b", notify=True)
        assert await values.get() == (2, b"b")
        await first.disconnect()
        assert {await ended.get(), await ended.get()} == {first, second}
        await of(mynah.verify, "central.connected device=Gadget", exactly=1)

    play(test)


def test_devices_are_connected_at_once_while_another_is_sought(mynah, mynah_bleak) -> None:
    names = ["One", "Two", "Three"]
    for name in names:
        mynah(named(name))
    gone = mynah(named("Gone"))

    async def test() -> None:
        devices = [await find(name) for name in names]
        absent = await find("Gone")
        await of(gone.advertise, False)
        waiting = asyncio.create_task(BleakClient(absent, timeout=LONG).connect())
        async with BleakScanner():
            clients = [BleakClient(device, timeout=LONG) for device in devices]
            await asyncio.gather(*(client.connect() for client in clients))
            values = await asyncio.gather(*(client.read_gatt_char(READ) for client in clients))
            assert values == [b"DATA"] * 3
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.gather(*(client.disconnect() for client in clients))

    play(test)


def test_a_scan_goes_on_while_a_client_connects(mynah, gadget) -> None:
    async def test() -> None:
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        async with BleakScanner(lambda device, data: heard.put_nowait(device.name)):
            assert await heard.get() == "Gadget"
            async with BleakClient(await find(), timeout=LONG) as client:
                assert client.is_connected
                await of(mynah, BEACON)
                while await heard.get() != "Beacon":
                    pass

    play(test)


# Services


def test_services_are_those_that_bluez_shows(gadget) -> None:
    async def test(client: BleakClient) -> None:
        uuids = [service.uuid for service in client.services]
        # BlueZ keeps the GAP service for itself.
        assert uuids[-2:] == [SERVICE, BATTERY] and "00001800-0000-1000-8000-00805f9b34fb" not in uuids
        service = client.services.get_service(SERVICE)
        properties = {each.uuid: each.properties for each in service.characteristics}
        assert properties[READ] == ["read"] and properties[COMMAND] == ["write-without-response"]
        assert properties[BOTH] == ["read", "write-without-response", "write"]
        assert properties[INDICATE] == ["read", "indicate"]
        # The handle of a characteristic is that of its declaration, before its value.
        first, second = service.characteristics[:2]
        assert (first.handle, second.handle) == (service.handle + 1, service.handle + 3)
        assert client.services.get_characteristic(first.handle) is first
        both = client.services.get_characteristic(uuid.UUID(BOTH))
        assert [each.handle - both.handle for each in both.descriptors] == [2, 3]
        assert both.description == "Unknown" and both.service_uuid == SERVICE
        assert both.max_write_without_response_size == 514

    with_client(test)


def test_only_the_services_that_are_wanted_are_there(gadget) -> None:
    async def test(client: BleakClient) -> None:
        assert [service.uuid for service in client.services] == [BATTERY]
        assert await client.read_gatt_char("2a19") == b"\x40"
        with pytest.raises(BleakCharacteristicNotFoundError):
            await client.read_gatt_char(READ)

    with_client(test, services=["180f"])


def test_characteristics_with_one_uuid_are_told_apart(mynah, mynah_bleak) -> None:
    twins = [{"uuid": NOTIFY, "properties": ["read", "notify"], "value": {"hex": each}} for each in ("01", "02")]
    device = mynah(named("Gadget", services=[{"uuid": SERVICE, "characteristics": twins}], faults=[]))

    async def test(client: BleakClient) -> None:
        with pytest.raises(BleakError, match="Multiple Characteristics"):
            await client.read_gatt_char(NOTIFY)
        first, second = client.services.get_service(SERVICE).characteristics
        assert await client.read_gatt_char(first) == b"\x01"
        assert await client.read_gatt_char(second.handle) == b"\x02"
        values: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()
        for each in (first, second):
            await client.start_notify(each, lambda sender, value: values.put_nowait((sender.handle, bytes(value))))
        await of(device.set, f"{NOTIFY}~2", b"b", notify=True)
        assert await values.get() == (second.handle, b"b")
        await of(device.set, f"{NOTIFY}~1", b"a", notify=True)
        assert await values.get() == (first.handle, b"a")

    with_client(test)


@pytest.mark.filterwarnings("always")
def test_the_mtu_is_that_of_bluez(gadget) -> None:
    async def test(client: BleakClient) -> None:
        with pytest.warns(UserWarning, match="default MTU"):
            assert client.mtu_size == 23
        await client._backend._acquire_mtu()
        assert client.mtu_size == 517

    with_client(test)


# Values


def test_a_value_is_read_and_the_last_one_is_cached(gadget) -> None:
    async def test(client: BleakClient) -> None:
        with pytest.raises(BleakError):
            await client.read_gatt_char(READ, use_cached=True)
        value = await client.read_gatt_char(READ)
        assert value == b"DATA" and isinstance(value, bytearray)
        await of(gadget.set, READ, b"NEW")
        assert await client.read_gatt_char(READ, use_cached=True) == b"DATA"
        assert await client.read_gatt_char(READ) == b"NEW"

    with_client(test)


def test_values_are_written_with_and_without_response(mynah, gadget) -> None:
    async def test(client: BleakClient) -> None:
        await client.write_gatt_char(WRITE, bytearray(b"DATA"), response=True)
        assert await of(gadget.get, WRITE) == b"DATA"
        await client.write_gatt_char(COMMAND, b"DATA", response=False)
        # Without a word, the properties decide.
        for each in (WRITE, COMMAND, BOTH):
            await client.write_gatt_char(each, b"auto")
        writes = await of(mynah.wait, "write device=Gadget", count=5, within=LONG)
        assert [(write["value"], write["withResponse"]) for write in writes] == [
            ("44415441", True),
            ("44415441", False),
            ("6175746F", True),
            ("6175746F", False),
            ("6175746F", True),
        ]
        long = bytes(range(256)) * 2
        await client.write_gatt_char(WRITE, memoryview(long), response=True)
        assert await of(gadget.get, WRITE) == long

    with_client(test)


def test_a_command_that_is_longer_than_the_link_carries_fails(mynah, gadget) -> None:
    async def test(client: BleakClient) -> None:
        with pytest.raises(BleakDBusError, match="Failed to initiate write"):
            await client.write_gatt_char(COMMAND, bytes(515), response=False)
        await of(mynah.verify, "write device=Gadget", never=True)

    with_client(test)


#: The errors of bleak's own tests, and those of requests for which there is no permission.
CODES = [0x01, 0x02, 0x03, 0x06, 0x08, 0x0D, 0x0E, 0x80, 0x9F, 0xC0, 0xE0, 0xFD, 0xFF]


@pytest.mark.parametrize("code", CODES, ids=hex)
def test_errors_of_the_device_have_their_codes(mynah, gadget, code) -> None:
    async def test(client: BleakClient) -> None:
        async def refused(work: Awaitable[Any], by: str) -> BleakGATTProtocolError:
            asking = asyncio.ensure_future(work)
            asked = await of(mynah.wait, f"request.asked by={by}", within=LONG)
            await of(mynah.answer, asked[0], error=code)
            with pytest.raises(BleakGATTProtocolError) as error:
                await asking
            return error.value

        assert (await refused(client.read_gatt_char(ASKED), "read")).code == code
        error = await refused(client.write_gatt_char(ASKED, b"DATA", response=True), "write")
        assert error.code == code and str(error.args[1]).startswith("GATT Protocol Error")

    with_client(test)


def test_requests_without_permission_are_refused(gadget) -> None:
    async def test(client: BleakClient) -> None:
        with pytest.raises(BleakGATTProtocolError) as error:
            await client.read_gatt_char(WRITE)
        assert error.value.code == 0x02
        with pytest.raises(BleakGATTProtocolError) as error:
            await client.write_gatt_char(READ, b"", response=True)
        assert error.value.code == 0x03
        with pytest.raises(BleakCharacteristicNotFoundError) as missing:
            await client.read_gatt_char("2a6e")
        assert missing.value.char_specifier == "2a6e"

    with_client(test)


def test_many_requests_at_once_are_carried_out(gadget) -> None:
    async def test(client: BleakClient) -> None:
        values = await asyncio.gather(*(client.read_gatt_char(READ) for _ in range(100)))
        assert values == [b"DATA"] * 100

    with_client(test)


def test_descriptors_are_read_and_written(gadget) -> None:
    async def test(client: BleakClient) -> None:
        both = client.services.get_characteristic(BOTH)
        description, own = both.get_descriptor("2901"), both.get_descriptor(OWN_DESCRIPTOR)
        assert await client.read_gatt_descriptor(description) == b"Description"
        assert await client.read_gatt_descriptor(own.handle) == b"\x01\x02\x03\x04"
        await client.write_gatt_descriptor(own, b"\xaa\xbb\xcc\xdd")
        assert await client.read_gatt_descriptor(own, use_cached=True) == b"\x01\x02\x03\x04"
        assert await client.read_gatt_descriptor(own) == b"\xaa\xbb\xcc\xdd"
        with pytest.raises(BleakGATTProtocolError) as error:
            await client.write_gatt_descriptor(description, b"Other")
        assert error.value.code == 0x03
        with pytest.raises(BleakError, match="was not found"):
            await client.read_gatt_descriptor(9999)
        configuration = client.services.get_characteristic(NOTIFY).get_descriptor("2902")
        with pytest.raises(ValueError, match="Cannot write to CCCD"):
            await client.write_gatt_descriptor(configuration, b"\x01\x00")

    with_client(test)


# Notifications


@pytest.mark.parametrize("characteristic", [NOTIFY, INDICATE])
def test_values_come_in_order_and_end_with_the_subscription(mynah, gadget, characteristic) -> None:
    async def test(client: BleakClient) -> None:
        values: asyncio.Queue[bytes] = asyncio.Queue()

        def came(sender: Any, value: bytearray) -> None:
            assert sender.uuid == characteristic and isinstance(value, bytearray)
            values.put_nowait(bytes(value))

        await client.start_notify(characteristic, came)
        assert values.empty()
        for number in range(50):
            await of(gadget.set, characteristic, bytes([number]), notify=True)
        assert [await values.get() for _ in range(50)] == [bytes([number]) for number in range(50)]
        await client.stop_notify(characteristic)
        assert await of(gadget.set, characteristic, b"x", notify=True) == 0
        assert values.empty()
        with pytest.raises(BleakDBusError):
            await client.stop_notify(characteristic)

    with_client(test)


def test_an_asynchronous_callback_gets_values(gadget) -> None:
    async def test(client: BleakClient) -> None:
        values: asyncio.Queue[bytes] = asyncio.Queue()

        async def came(_: Any, value: bytearray) -> None:
            await values.put(bytes(value))

        await client.start_notify(NOTIFY, came)
        await of(gadget.set, NOTIFY, b"1234", notify=True)
        assert await values.get() == b"1234"

    with_client(test)


def test_a_second_subscription_of_a_client_is_an_error(gadget) -> None:
    async def test(client: BleakClient) -> None:
        await client.start_notify(NOTIFY, print)
        with pytest.raises(BleakDBusError) as twice:
            await client.start_notify(NOTIFY, print)
        assert (twice.value.dbus_error, twice.value.dbus_error_details) == (
            "org.bluez.Error.Failed",
            "Already notifying",
        )
        await client.stop_notify(NOTIFY)
        await client.start_notify(NOTIFY, print)

    with_client(test)


def test_a_characteristic_that_sends_nothing_has_no_subscription(gadget) -> None:
    async def test(client: BleakClient) -> None:
        with pytest.raises(BleakDBusError) as error:
            await client.start_notify(READ, print)
        assert error.value.dbus_error == "org.bluez.Error.NotSupported"

    with_client(test)


def test_a_read_is_a_notification_too_as_with_start_notify_of_bluez(gadget) -> None:
    async def test(client: BleakClient) -> None:
        values: list[bytes] = []
        await client.start_notify(NOTIFY, lambda _, value: values.append(bytes(value)))
        assert await client.read_gatt_char(NOTIFY) == b"----"
        assert values == [b"----"]
        await client.stop_notify(NOTIFY)
        await client.start_notify(
            NOTIFY, lambda _, value: values.append(bytes(value)), bluez={"use_start_notify": False}
        )
        assert await client.read_gatt_char(NOTIFY) == b"----"
        assert values == [b"----"]

    with_client(test)


def test_subscriptions_end_with_the_link(mynah, gadget) -> None:
    async def test() -> None:
        client = BleakClient(await find(), timeout=LONG)
        for _ in range(2):
            async with client:
                await client.start_notify(NOTIFY, print)
        await of(mynah.wait, "unsubscribed device=Gadget", count=2, within=LONG)

    play(test)


# Pairing


def test_a_client_pairs_and_forgets(mynah, gadget) -> None:
    async def test() -> None:
        device = await find()
        async with BleakClient(device, timeout=LONG) as client:
            await client.pair()
            await client.pair()
            await of(mynah.wait, "paired device=Gadget", within=LONG)
            await client.unpair()
            assert not client.is_connected
        with pytest.raises(BleakDeviceNotFoundError):
            await client.unpair()
        async with BleakClient(await find(), timeout=LONG, pair=True):
            await of(mynah.wait, "paired device=Gadget", count=2, within=LONG)

    play(test)


def test_a_bond_outlives_the_loop(mynah, gadget) -> None:
    async def test() -> None:
        async with BleakClient(await find(), timeout=LONG, pair=True):
            pass

    play(test)
    play(test)
    mynah.verify("paired device=Gadget", exactly=1)


def test_a_program_without_agent_gets_nothing_that_needs_a_passkey(mynah, mynah_bleak) -> None:
    mynah(SAFE)

    async def test() -> None:
        async with BleakClient(await find("Safe"), timeout=LONG) as client:
            with pytest.raises(BleakDBusError, match="Not paired"):
                await client.read_gatt_char(READ)

    play(test)


async def shown(mynah: Any) -> str:
    """The passkey that the safe shows, once the program asks for it."""
    event = await mynah.aio.wait("pairing.passkey device=Safe step=display", within=LONG)
    await mynah.aio.wait("pairing.passkey device=bleak step=enter", within=LONG)
    return str(event[0]["passkey"])


def test_a_program_pairs_with_a_passkey(mynah, mynah_bleak) -> None:
    mynah(SAFE)
    mynah_bleak.settings(io="keyboardOnly")

    async def test() -> None:
        client = BleakClient(await find("Safe"), timeout=LONG, pair=True)
        connecting = asyncio.create_task(client.connect())
        await of(mynah_bleak.enter_passkey, await shown(mynah))
        await connecting
        assert await client.read_gatt_char(READ) == b"\x07"
        await client.disconnect()

    play(test)
    assert mynah_bleak.phones == ["bleak"]


def test_a_pairing_that_fails_is_an_authentication_that_failed(mynah, mynah_bleak) -> None:
    mynah(SAFE)
    mynah_bleak.settings(io="keyboardOnly")

    async def test() -> None:
        async with BleakClient(await find("Safe"), timeout=LONG) as client:
            pairing = asyncio.create_task(client.pair())
            await of(mynah_bleak.enter_passkey, (int(await shown(mynah)) + 1) % 1_000_000)
            with pytest.raises(BleakDBusError) as error:
                await pairing
            assert error.value.dbus_error == "org.bluez.Error.AuthenticationFailed"

    play(test)


# Loops, adapters and programs


def test_connected_devices_are_those_of_the_adapter(gadget) -> None:
    async def test(client: BleakClient) -> None:
        adapter = await BleakAdapter.get()
        assert [device.address for device in await adapter.get_connected_devices()] == [client.address]
        assert await adapter.get_connected_devices(["180d"]) == []

    with_client(test)


def test_a_loop_that_ends_ends_its_links(mynah, gadget) -> None:
    async def test() -> None:
        await BleakClient(await find(), timeout=LONG).connect()

    play(test)
    mynah.wait("central.disconnected device=Gadget", within=LONG)
    play(test)


def test_backends_are_named(mynah, gadget) -> None:
    # Without the fixture's default, these arguments are all that a program needs.
    async def test() -> None:
        device = await BleakScanner.find_device_by_name("Gadget", LONG, backend=BleakScannerMynah)
        async with BleakClient(device, timeout=LONG, backend=BleakClientMynah) as client:
            assert client.backend_id == "BleakClientMynah"
            adapter = await BleakAdapter.get(backend=BleakAdapterMynah)
            assert len(await adapter.get_connected_devices()) == 1

    play(test)


PROGRAM = """
import asyncio, sys
from bleak import BleakClient, BleakScanner

async def main():
    device = await BleakScanner.find_device_by_name(sys.argv[1], timeout=600)
    async with BleakClient(device, timeout=600) as client:
        print(client.name, bytes(await client.read_gatt_char(sys.argv[2])))

asyncio.run(main())
"""


def test_a_program_runs_unchanged(mynah, gadget, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    for words in (["program.py"], ["-m", "program"]):
        # The environment has MYNAH_CONTROL.
        command = [sys.executable, "-m", "mynah.bleak", *words, "Gadget", READ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("Gadget of the test b'DATA'\n", "")
    done = subprocess.run([sys.executable, "-m", "mynah.bleak"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("usage: python -m mynah.bleak")


# When Mynah is not there


def test_a_missing_mynah_is_a_missing_adapter(monkeypatch) -> None:
    monkeypatch.setenv("MYNAH_CONTROL", "unix:/nonexistent/mynah.sock")

    async def test() -> None:
        with pytest.raises(BleakBluetoothNotAvailableError, match="MYNAH_CONTROL") as missing:
            await BleakScanner(backend=BleakScannerMynah).start()
        assert missing.value.reason == BleakBluetoothNotAvailableReason.NO_BLUETOOTH

    play(test)


def test_another_clock_than_the_real_one_is_refused(monkeypatch) -> None:
    with Mynah(clock="manual") as server:
        monkeypatch.setenv("MYNAH_CONTROL", server.address)

        async def test() -> None:
            with pytest.raises(BleakError, match="start it with --clock real"):
                await BleakScanner(backend=BleakScannerMynah).start()

        play(test)


def test_the_fixture_refuses_a_test_with_another_clock(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.mynah(clock="manual")
        def test_program(mynah, mynah_bleak):
            pass
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*bleak waits in real time, and the clock of this test is manual*"])


def test_links_end_with_mynah(monkeypatch) -> None:
    with Mynah() as server:
        monkeypatch.setenv("MYNAH_CONTROL", server.address)
        server.add(GADGET)

        async def test() -> None:
            ended: asyncio.Queue[BleakClient] = asyncio.Queue()
            device = await BleakScanner.find_device_by_name("Gadget", LONG, backend=BleakScannerMynah)
            client = BleakClient(device, ended.put_nowait, timeout=LONG, backend=BleakClientMynah)
            await client.connect()
            reading = asyncio.create_task(client.read_gatt_char(ASKED))
            await of(server.wait, "request.asked", within=LONG)
            await of(server.close)
            assert await ended.get() is client
            with pytest.raises(BleakError):
                await reading
            with pytest.raises(BleakBluetoothNotAvailableError):
                await BleakScanner(backend=BleakScannerMynah).start()

        play(test)
