"""Backends of bleak 3: a bleak program uses the devices of a Mynah, without adapter, root, kernel or D-Bus.

    async with BleakClient("C0:11:22:33:44:55", backend=BleakClientMynah) as client:
        ...
    devices = await BleakScanner.discover(backend=BleakScannerMynah)

`MYNAH_CONTROL` has the address of the control API. The fixture `mynah_bleak` of pytest makes these backends the
default ones for a test, and `python -m mynah.bleak PROGRAM` for a program. They behave as bleak's backend for
BlueZ: exceptions, services, handles, MTU and advertisement data are those that a program has on Linux.
"""

from __future__ import annotations

import asyncio
import logging
import runpy
import sys
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Iterator, Literal

import bleak
import bleak.backends.adapter
import bleak.backends.client
import bleak.backends.scanner
from bleak import BleakScanner
from bleak.args import SizedBuffer
from bleak.args.bluez import BlueZAdapterArgs, BlueZClientArgs, BlueZNotifyArgs, BlueZScannerArgs
from bleak.backends import BleakBackend
from bleak.backends.adapter import BaseBleakAdapter
from bleak.backends.characteristic import BleakGATTCharacteristic
from bleak.backends.client import BaseBleakClient, NotifyCallback
from bleak.backends.descriptor import BleakGATTDescriptor
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementDataCallback, BaseBleakScanner
from bleak.backends.service import BleakGATTService, BleakGATTServiceCollection
from bleak.exc import BleakDBusError, BleakDeviceNotFoundError, BleakError

from ._adapter import (
    FAILED,
    NOT_SUPPORTED,
    Adapter,
    Device,
    Link,
    adapters,
    bluez_errors,
    pairing_errors,
    structures,
    uuid_text,
)
from ._phone import AttributeRefused, NotConnected, PhoneError
from .client import Client
from .phone import Phone

if sys.version_info < (3, 11):
    from async_timeout import timeout as async_timeout
else:
    from asyncio import timeout as async_timeout

__all__ = ["BleakAdapterMynah", "BleakClientMynah", "BleakScannerMynah", "default_backend"]

logger = logging.getLogger(__name__)

#: The service that BlueZ keeps for itself, and the name in it.
_GAP, _DEVICE_NAME = uuid_text("1800"), uuid_text("2A00")
#: BlueZ's names of properties, in its order, by Mynah's.
_PROPERTIES = {
    "broadcast": "broadcast",
    "read": "read",
    "writeWithoutResponse": "write-without-response",
    "write": "write",
    "notify": "notify",
    "indicate": "indicate",
    "authenticatedSignedWrites": "authenticated-signed-writes",
    "extendedProperties": "extended-properties",
}
#: The filters of BlueZ's discovery.
_FILTERS = ("UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern")

# Prevents tasks from being collected while they run.
_tasks: set[asyncio.Task[None]] = set()


# Scanning


class BleakScannerMynah(BaseBleakScanner):
    """A scanner of bleak that hears the devices of a Mynah."""

    def __init__(
        self,
        detection_callback: AdvertisementDataCallback | None,
        service_uuids: list[str] | None,
        scanning_mode: Literal["active", "passive"],
        *,
        bluez: BlueZScannerArgs = {},
        **kwargs: Any,
    ) -> None:
        super().__init__(detection_callback, service_uuids)
        self._is_passive = scanning_mode == "passive"
        self._patterns = list(bluez.get("or_patterns") or [])
        if self._is_passive and not self._patterns:
            raise BleakError("passive scanning mode requires bluez or_patterns")
        self._filters: dict[str, Any] = {}
        self.set_scanning_filter(filters=bluez.get("filters") or {})
        self._adapter: Adapter | None = None
        self._last: dict[str, tuple[Any, ...]] = {}

    def set_scanning_filter(self, **kwargs: Any) -> None:
        """Sets filters by their names in BlueZ."""
        for name, value in kwargs.get("filters", {}).items():
            if name in _FILTERS:
                self._filters[name] = value
            else:
                logger.warning("Filter '%s' is not currently supported.", name)

    async def start(self) -> None:
        adapter = adapters.of_loop()
        self.seen_devices = {}
        self._last = {}
        await adapter.listen(self)
        self._adapter = adapter

    async def stop(self) -> None:
        if self._adapter is not None:
            adapter, self._adapter = self._adapter, None
            await adapter.unlisten(self)

    # The adapter calls these.

    def heard(self, device: Device) -> None:
        if not self._is_wanted(device):
            return
        data = device.advertisement()
        if not self.is_allowed_uuid(data.service_uuids):
            return
        # BlueZ reports properties that have changed.
        content = (*data[:6], device.name)
        if self._last.get(device.path) == content and not self._filters.get("DuplicateData"):
            return
        self._last[device.path] = content
        details = {"path": device.path, "props": device.properties}
        found = self.create_or_update_device(device.path, device.address, device.name, details, data)
        self.call_detection_callbacks(found, data)

    def removed(self, device: Device) -> None:
        self.seen_devices.pop(device.path, None)
        self._last.pop(device.path, None)

    def _is_wanted(self, device: Device) -> bool:
        if self._is_passive:
            return any(_has_pattern(device.data, *pattern) for pattern in self._patterns)
        properties, filters = device.properties, self._filters
        rssi, power = properties.get("RSSI", -127), properties.get("TxPower")
        if (uuids := filters.get("UUIDs")) and not {uuid_text(each) for each in uuids} & {*properties["UUIDs"]}:
            return False
        if "RSSI" in filters and rssi < filters["RSSI"]:
            return False
        if "Pathloss" in filters and (power is None or power - rssi > filters["Pathloss"]):
            return False
        pattern = filters.get("Pattern")
        return not pattern or device.address.startswith(pattern) or (device.name or "").startswith(pattern)


def _has_pattern(data: bytes, start: int, kind: int, content: bytes) -> bool:
    """Whether advertising data has an AD structure with this content at a position."""
    return any(
        each == int(kind) and value[start : start + len(content)] == content for each, value in structures(data)
    )


# A client


class BleakClientMynah(BaseBleakClient):
    """A client of bleak for a device of a Mynah."""

    def __init__(
        self,
        address_or_ble_device: BLEDevice | str,
        services: set[str] | None = None,
        *,
        disconnected_callback: Callable[[], None] | None,
        timeout: float,
        bluez: BlueZClientArgs = {},
        **kwargs: Any,
    ) -> None:
        super().__init__(
            address_or_ble_device, disconnected_callback=disconnected_callback, timeout=timeout
        )
        #: BlueZ's properties of the device, once it is known.
        self._device_info: dict[str, Any] | None = None
        self._is_known = isinstance(address_or_ble_device, BLEDevice)
        if isinstance(address_or_ble_device, BLEDevice) and isinstance(address_or_ble_device.details, dict):
            self._device_info = address_or_ble_device.details.get("props")
        self._wanted_services = services
        self._link: Link | None = None
        self._is_ending = asyncio.Event()
        self._callbacks: dict[int, NotifyCallback] = {}
        #: The callbacks that get the answers of reads, too, as those of BlueZ's StartNotify do.
        self._hears_reads: set[int] = set()
        self._mtu_size: int | None = None

    # The connection

    @property
    def name(self) -> str:
        if self._device_info is None:
            raise BleakError("Not connected")
        return str(self._device_info["Alias"])

    @property
    def is_connected(self) -> bool:
        return self._link is not None and self._link.is_open

    async def connect(self, pair: bool, dangerous_use_bleak_cache: bool = False, **kwargs: Any) -> None:
        """Connects; raises `BleakDeviceNotFoundError` or `TimeoutError` as BlueZ's backend does."""
        if self.is_connected:
            raise BleakError("Client is already connected")
        timeout = kwargs.get("timeout", self._timeout)
        if not self._is_known:
            device = await BleakScanner.find_device_by_address(
                self.address, timeout=timeout, backend=BleakScannerMynah
            )
            if device is None:
                raise BleakDeviceNotFoundError(
                    self.address, f"Device with address {self.address} was not found."
                )
            self._device_info, self.address, self._is_known = device.details["props"], device.address, True
        adapter = adapters.of_loop()
        async with async_timeout(timeout):
            with bluez_errors():
                link = await adapter.connect(self.address.upper())
            try:
                if pair and not link.device.properties["Paired"]:
                    with pairing_errors():
                        await self._pair(adapter, link)
                await self._read_name(adapter, link)
                if not link.is_open:
                    raise BleakError("failed to discover services, device disconnected")
            except BaseException:
                if not link.users:
                    with suppress(Exception):
                        await adapter.disconnect(link)
                raise
        self._device_info = link.device.properties
        self.services = self._collection(link)
        self._callbacks, self._hears_reads = {}, set()
        self._link = link
        link.users.append(self)
        self._is_ending = asyncio.Event()
        task = asyncio.create_task(self._watch(adapter, link, self._is_ending))
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)

    @staticmethod
    async def _watch(adapter: Adapter, link: Link, ending: asyncio.Event) -> None:
        """Ends the link if its loop ends first."""
        try:
            await ending.wait()
        except asyncio.CancelledError:
            if link.is_open:
                adapter.disconnect_now(link)
            raise

    async def _read_name(self, adapter: Adapter, link: Link) -> None:
        """Reads the device's name, as BlueZ does after a connection."""
        handles = [
            characteristic["handle"]
            for service in link.services
            if uuid_text(service["uuid"]) == _GAP
            for characteristic in service["characteristics"]
            if uuid_text(characteristic["uuid"]) == _DEVICE_NAME and "read" in characteristic["properties"]
        ]
        with suppress(AttributeRefused, NotConnected, BleakDBusError):
            for handle in handles[:1]:
                answer = await adapter.request(link, "read", of=f"@{handle}")
                if name := bytes.fromhex(answer["value"]).rstrip(b"\0").decode(errors="replace"):
                    link.device.rename(name)

    async def disconnect(self) -> None:
        """Ends the connection, also for other clients of the device."""
        link = self._link
        if link is None:
            return
        with bluez_errors():
            await adapters.of_loop().disconnect(link)

    # The link calls these.

    def link_ended(self) -> None:
        self._link = None
        self.services = None
        self._callbacks, self._hears_reads = {}, set()
        self._is_ending.set()
        if self._disconnected_callback is not None:
            self._disconnected_callback()

    def value_came(self, handle: int, value: bytes) -> None:
        if callback := self._callbacks.get(handle):
            callback(bytearray(value))

    def read_came(self, handle: int, value: bytes) -> None:
        if handle in self._hears_reads:
            self.value_came(handle, value)

    # Pairing

    @staticmethod
    async def _pair(adapter: Adapter, link: Link) -> None:
        await adapter.request(link, "pair")
        link.device.properties.update(Paired=True, Bonded=True, Trusted=True)

    async def pair(self, *args: Any, **kwargs: Any) -> None:
        """Pairs, unless the device is paired."""
        link, adapter = self._open_link()
        if not link.device.properties["Paired"]:
            with pairing_errors():
                await self._pair(adapter, link)

    async def unpair(self) -> None:
        """Deletes the bond and forgets the device, which also disconnects it."""
        adapter = adapters.of_loop()
        self._is_known, self._device_info = False, None
        with bluez_errors():
            was_known = await adapter.remove(self.address.upper())
        if not was_known:
            raise BleakDeviceNotFoundError(
                self.address, f"Device with address {self.address} was not found."
            )

    # MTU

    @property
    def mtu_size(self) -> int:
        """23 until `_acquire_mtu` is called, as on BlueZ."""
        if self._mtu_size is None:
            warnings.warn(
                "Using default MTU value. Call _acquire_mtu() or set _mtu_size first to avoid this warning.",
                stacklevel=3,
            )
            return 23
        return self._mtu_size

    async def _acquire_mtu(self) -> None:
        """Makes `mtu_size` the ATT_MTU of the link, as BlueZ's backend does with this method."""
        self._mtu_size = self._open_link()[0].mtu

    # Services

    def _collection(self, link: Link) -> BleakGATTServiceCollection:
        found = BleakGATTServiceCollection()
        for each in link.services:
            uuid, handle = uuid_text(each["uuid"]), each["handle"]
            is_wanted = self._wanted_services is None or uuid in self._wanted_services
            if uuid == _GAP or not each["primary"] or not is_wanted:
                continue
            path = f"{link.device.path}/service{handle:04x}"
            service = BleakGATTService(
                (path, {"UUID": uuid, "Primary": True, "Device": link.device.path}), handle, uuid
            )
            found.add_service(service)
            for characteristic in each["characteristics"]:
                self._add(characteristic, path, service, link, found)
        return found

    @staticmethod
    def _add(
        json: dict[str, Any], path: str, service: BleakGATTService, link: Link, to: BleakGATTServiceCollection
    ) -> None:
        """Adds a characteristic. Its handle is that of its declaration, as BlueZ's is; its value comes after it."""
        handle, uuid = json["handle"] - 1, uuid_text(json["uuid"])
        flags = [name for key, name in _PROPERTIES.items() if key in json["properties"]]
        path += f"/char{handle:04x}"
        characteristic = BleakGATTCharacteristic(
            (path, {"UUID": uuid, "Service": service.obj[0], "Flags": flags, "MTU": link.mtu}),
            handle,
            uuid,
            flags,  # type: ignore[arg-type]
            lambda: link.mtu - 3,
            service,
        )
        to.add_characteristic(characteristic)
        for each in json["descriptors"]:
            of = uuid_text(each["uuid"])
            obj = (f"{path}/desc{each['handle']:04x}", {"UUID": of, "Characteristic": path})
            to.add_descriptor(BleakGATTDescriptor(obj, each["handle"], of, characteristic))

    # Values

    def _open_link(self) -> tuple[Link, Adapter]:
        if self._link is None or not self._link.is_open:
            raise BleakError("Not connected")
        return self._link, adapters.of_loop()

    async def _read(self, handle: int, use_cached: bool, kind: str) -> bytearray:
        link, adapter = self._open_link()
        if use_cached:
            if handle not in link.values:
                raise BleakError(f"{kind} at @{handle} not found, device may be disconnected")
            return bytearray(link.values[handle])
        with bluez_errors():
            answer = await adapter.request(link, "read", of=f"@{handle}")
        value = bytes.fromhex(answer["value"])
        link.values[handle] = value
        for user in list(link.subscribers.get(handle, [])):
            user.read_came(handle, value)
        return bytearray(value)

    async def read_gatt_char(
        self, characteristic: BleakGATTCharacteristic, *, use_cached: bool = False, **kwargs: Any
    ) -> bytearray:
        return await self._read(characteristic.handle + 1, use_cached, "characteristic")

    async def read_gatt_descriptor(
        self, descriptor: BleakGATTDescriptor, *, use_cached: bool = False, **kwargs: Any
    ) -> bytearray:
        return await self._read(descriptor.handle, use_cached, "descriptor")

    async def write_gatt_char(
        self, characteristic: BleakGATTCharacteristic, data: SizedBuffer, response: bool
    ) -> None:
        link, adapter = self._open_link()
        try:
            with bluez_errors():
                verb = "write" if response else "command"
                await adapter.request(link, verb, of=f"@{characteristic.handle + 1}", hex=bytes(data).hex())
        except BleakDBusError as error:
            too_long = not response and isinstance(error.__cause__, PhoneError)
            if too_long and error.__cause__.code == "valueTooLong":
                raise BleakDBusError(FAILED, ["Failed to initiate write"]) from error.__cause__
            raise

    async def write_gatt_descriptor(self, descriptor: BleakGATTDescriptor, data: SizedBuffer) -> None:
        link, adapter = self._open_link()
        with bluez_errors():
            await adapter.request(link, "write", of=f"@{descriptor.handle}", hex=bytes(data).hex())

    # Notifications

    async def start_notify(
        self, characteristic: BleakGATTCharacteristic, callback: NotifyCallback, **kwargs: Any
    ) -> None:
        link, adapter = self._open_link()
        bluez: BlueZNotifyArgs = kwargs.get("bluez") or {}
        if not {"notify", "indicate"} & {*characteristic.properties}:
            raise BleakDBusError(NOT_SUPPORTED, ["Operation is not supported"])
        handle = characteristic.handle + 1
        if handle in self._callbacks:
            raise BleakDBusError(FAILED, ["Already notifying"])
        # A device may send a value before it answers.
        self._callbacks[handle] = callback
        if bluez.get("use_start_notify", True):
            self._hears_reads.add(handle)
        users = link.subscribers.setdefault(handle, [])
        users.append(self)
        try:
            if len(users) == 1:
                with bluez_errors():
                    await adapter.request(link, "subscribe", of=f"@{handle}")
        except BaseException:
            self._forget(link, handle)
            raise

    async def stop_notify(self, characteristic: BleakGATTCharacteristic) -> None:
        link, adapter = self._open_link()
        handle = characteristic.handle + 1
        if handle not in self._callbacks:
            raise BleakDBusError(FAILED, ["No notify session started"])
        self._forget(link, handle)
        if not link.subscribers.get(handle):
            with bluez_errors():
                await adapter.request(link, "unsubscribe", of=f"@{handle}")

    def _forget(self, link: Link, handle: int) -> None:
        self._callbacks.pop(handle, None)
        self._hears_reads.discard(handle)
        with suppress(KeyError, ValueError):
            link.subscribers[handle].remove(self)


# The adapter


class BleakAdapterMynah(BaseBleakAdapter):
    """The adapter of bleak whose devices are those of a Mynah."""

    @classmethod
    async def get(cls, *, bluez: BlueZAdapterArgs = {}, **kwargs: Any) -> BleakAdapterMynah:
        adapter = cls()
        adapter._adapter = adapters.of_loop()
        return adapter

    _adapter: Adapter

    async def get_connected_devices(self, service_uuids: frozenset[str]) -> list[BLEDevice]:
        """The connected devices that have one of these services."""
        found = []
        for link in self._adapter.links.values():
            device = link.device
            if service_uuids & {uuid_text(service["uuid"]) for service in link.services}:
                details = {"path": device.path, "props": device.properties}
                found.append(BLEDevice(device.address, device.name, details))
        return found


# The default


@contextmanager
def default_backend() -> Iterator[None]:
    """Makes these backends bleak's default ones, under the name of BlueZ's."""
    kinds = {"client": BleakClientMynah, "scanner": BleakScannerMynah, "adapter": BleakAdapterMynah}
    old: list[tuple[Any, str, Any]] = []
    for kind, backend in kinds.items():
        name = f"get_platform_{kind}_backend_type"
        for module in (bleak, getattr(bleak.backends, kind)):
            old.append((module, name, getattr(module, name)))
            setattr(module, name, lambda backend=backend: (backend, BleakBackend.BLUEZ_DBUS))
    try:
        yield
    finally:
        for module, name, value in old:
            setattr(module, name, value)


class DefaultBackend:
    """The fixture `mynah_bleak`: the phone with which the programs of a test use bleak."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.settings()

    def settings(self, **settings: Any) -> None:
        """Gives programs that start from now on a phone with these settings, those of `mynah.phone()`.

        Without any it is named `bleak`, and has neither keyboard nor display, as BlueZ without an agent.
        """
        adapters.use(self._client, {"name": "bleak", **settings})

    def enter_passkey(self, passkey: int | str) -> None:
        """Types the passkey that a pairing of a program asks for, as the event `pairing.passkey` says."""
        for name in adapters.phones[:1]:
            Phone(self._client, name).enter_passkey(passkey)

    @property
    def phones(self) -> list[str]:
        """The names of its phones in events."""
        return adapters.phones


def main(arguments: list[str]) -> None:
    """Runs a program, or with `-m` a module, whose default backend is Mynah's."""
    is_module = arguments[:1] == ["-m"]
    words = arguments[1:] if is_module else arguments
    if not words or words[0] in ("-h", "--help"):
        sys.exit("usage: python -m mynah.bleak PROGRAM [ARGUMENT…], or python -m mynah.bleak -m MODULE [ARGUMENT…]")
    sys.argv = words
    with default_backend():
        if is_module:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(words[0]).resolve().parent)
            runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    # This module is imported once, under its own name.
    from mynah.bleak import main as _main

    _main(sys.argv[1:])
