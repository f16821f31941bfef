"""The adapter of bleak programs: a phone of a running Mynah, with the state that BlueZ would have of it."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Protocol, TypeVar
from urllib.parse import urlsplit

from bleak.backends.scanner import AdvertisementData
from bleak.exc import (
    BleakBluetoothNotAvailableError,
    BleakBluetoothNotAvailableReason,
    BleakDBusError,
    BleakError,
    BleakGATTProtocolError,
)
from bleak.uuids import normalize_uuid_str

from . import _phone, aio
from ._phone import AttributeRefused, NotConnected, PhoneError
from .client import Client, Problem

logger = logging.getLogger(__name__)

_T = TypeVar("_T")

#: The longest time of a verb; the time that a program waits is asyncio's.
LONG = "10 min"
#: BlueZ's names of errors.
FAILED = "org.bluez.Error.Failed"
NOT_SUPPORTED = "org.bluez.Error.NotSupported"
_NOT_PERMITTED = "org.bluez.Error.NotPermitted"
_AUTHENTICATION_FAILED = "org.bluez.Error.AuthenticationFailed"
#: Errors of ATT after which BlueZ says that the device is not paired.
_UNPAIRED = (0x05, 0x0C, 0x0F)


# Errors


@contextmanager
def bluez_errors() -> Iterator[None]:
    """Raises the errors of a phone as bleak's BlueZ backend raises those of BlueZ."""
    try:
        yield
    except AttributeRefused as error:
        if error.error in _UNPAIRED:
            raise BleakDBusError(_NOT_PERMITTED, ["Not paired"]) from error
        raise BleakGATTProtocolError(error.error) from error
    except NotConnected as error:
        raise BleakDBusError(FAILED, ["Not connected"]) from error
    except PhoneError as error:
        raise BleakDBusError(FAILED, [error.detail]) from error
    except (Problem, OSError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise BleakError(str(error)) from error


@contextmanager
def pairing_errors() -> Iterator[None]:
    """Raises the errors of a pairing as BlueZ does."""
    try:
        yield
    except NotConnected as error:
        raise BleakDBusError(FAILED, ["Not connected"]) from error
    except PhoneError as error:
        raise BleakDBusError(_AUTHENTICATION_FAILED, ["Authentication Failed"]) from error


# Advertising data


def uuid_text(name: str) -> str:
    """The text of a UUID as bleak has it."""
    return normalize_uuid_str(name)


@dataclass
class Advertised:
    """The fields of advertising data and a scan response."""

    name: str | None = None
    services: list[str] = field(default_factory=list)
    tx_power: int | None = None
    manufacturer_data: dict[int, bytes] = field(default_factory=dict)
    service_data: dict[str, bytes] = field(default_factory=dict)


def structures(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The AD structures of advertising data: each has a type and data. A structure that is cut off is left out."""
    at = 0
    while at + 1 < len(data):
        end = at + 1 + data[at]
        if end > at + 1 and end <= len(data):
            yield data[at + 1], data[at + 2 : end]
        at = max(end, at + 1)


def _uuid(data: bytes) -> str:
    text = data[::-1].hex()
    if len(data) == 16:
        text = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    return uuid_text(text)


#: The length of the UUIDs in lists of services, and at the start of service data, by their AD type.
_LISTS = {0x02: 2, 0x03: 2, 0x04: 4, 0x05: 4, 0x06: 16, 0x07: 16}
_SERVICE_DATA = {0x16: 2, 0x20: 4, 0x21: 16}


def advertised(*parts: bytes) -> Advertised:
    """The fields of advertising data and of a scan response."""
    found = Advertised()
    has_complete_name = False
    for kind, data in (each for part in parts for each in structures(part)):
        if size := _LISTS.get(kind):
            uuids = [_uuid(data[at : at + size]) for at in range(0, len(data) - size + 1, size)]
            found.services += [each for each in uuids if each not in found.services]
        elif kind in (0x08, 0x09) and not has_complete_name:
            has_complete_name = kind == 0x09
            found.name = data.rstrip(b"\0").decode(errors="replace")
        elif kind == 0x0A and len(data) == 1:
            found.tx_power = int.from_bytes(data, "little", signed=True)
        elif (size := _SERVICE_DATA.get(kind)) and len(data) >= size:
            found.service_data[_uuid(data[:size])] = data[size:]
        elif kind == 0xFF and len(data) >= 2:
            found.manufacturer_data[int.from_bytes(data[:2], "little")] = data[2:]
    return found


# Devices and links


class Listener(Protocol):
    """A scanner: it hears each advertisement that is new or has changed."""

    def heard(self, device: Device) -> None: ...

    def removed(self, device: Device) -> None: ...


class LinkUser(Protocol):
    """A client of a link."""

    def value_came(self, handle: int, value: bytes) -> None: ...

    def read_came(self, handle: int, value: bytes) -> None: ...

    def link_ended(self) -> None: ...


class Device:
    """A device that an adapter has heard, with the properties that BlueZ has of it."""

    def __init__(self, adapter: str, address: str) -> None:
        self.path = f"{adapter}/dev_{address.replace(':', '_')}"
        #: The advertising data and the scan response that came last.
        self.data = self.scan_response = b""
        self.properties: dict[str, Any] = {
            "Address": address,
            "AddressType": "random",
            "Alias": address.replace(":", "-"),
            "Paired": False,
            "Bonded": False,
            "Trusted": False,
            "Blocked": False,
            "LegacyPairing": False,
            "Connected": False,
            "UUIDs": [],
            "Adapter": adapter,
            "ServicesResolved": False,
        }

    @property
    def address(self) -> str:
        return str(self.properties["Address"])

    @property
    def name(self) -> str | None:
        """The name, or `None` if the device has not told one."""
        return self.properties.get("Name")

    def rename(self, name: str) -> None:
        self.properties.update(Name=name, Alias=name)

    def hear(self, event: Mapping[str, Any]) -> None:
        """Adds an advertisement; BlueZ keeps the data of a company or a service until it has other data."""
        self.data, self.scan_response = (bytes.fromhex(event.get(key, "")) for key in ("data", "scanResponse"))
        found = advertised(self.data, self.scan_response)
        properties = self.properties
        if found.name is not None:
            self.rename(found.name)
        properties["UUIDs"] += [each for each in found.services if each not in properties["UUIDs"]]
        if found.tx_power is not None:
            properties["TxPower"] = found.tx_power
        for key, new in (("ManufacturerData", found.manufacturer_data), ("ServiceData", found.service_data)):
            if new:
                properties[key] = {**properties.get(key, {}), **new}
        if event.get("rssi") is not None:
            properties["RSSI"] = event["rssi"]

    def advertisement(self) -> AdvertisementData:
        properties = self.properties
        return AdvertisementData(
            local_name=self.name,
            manufacturer_data=dict(properties.get("ManufacturerData", {})),
            service_data=dict(properties.get("ServiceData", {})),
            service_uuids=list(properties["UUIDs"]),
            tx_power=properties.get("TxPower"),
            rssi=properties.get("RSSI", -127),
            platform_data=(self.path, properties),
        )


class Link:
    """A connection to a device. All clients of a device share it."""

    def __init__(self, device: Device, answer: Mapping[str, Any]) -> None:
        self.device = device
        #: The number of the event from which on events are about this link.
        self.start = int(answer["seq"])
        self.mtu = int(answer["mtu"])
        self.services: list[dict[str, Any]] = answer["services"]
        self.users: list[LinkUser] = []
        #: The clients that each characteristic has subscribers of, by the handle of its value.
        self.subscribers: dict[int, list[LinkUser]] = {}
        #: The value of each attribute that came last.
        self.values: dict[int, bytes] = {}
        self.is_open = True
        self.ended = asyncio.Event()
        #: ATT has one request at a time.
        self.turn = asyncio.Lock()
        self._handles = _value_handles(self.services)

    def handles(self, event: Mapping[str, Any]) -> list[int]:
        """The characteristics that an event is about: one, unless its UUIDs name several."""
        uuids = (uuid_text(event["service"]), uuid_text(event["characteristic"]))
        found = self._handles.get(uuids, [])
        if path := event.get("path"):
            ordinals = tuple(int(step.partition("~")[2] or 1) for step in path.split("/"))
            found = [each for each in found if each[1] == ordinals]
        return [handle for handle, _ in found]

    def value_came(self, handle: int, value: bytes) -> None:
        self.values[handle] = value
        for user in list(self.subscribers.get(handle, [])):
            user.value_came(handle, value)

    def end(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        self.device.properties.update(Connected=False, ServicesResolved=False)
        users, self.users, self.subscribers = self.users, [], {}
        for user in users:
            user.link_ended()
        self.ended.set()


def _value_handles(
    services: list[dict[str, Any]],
) -> dict[tuple[str, str], list[tuple[int, tuple[int, int]]]]:
    """The characteristics of each pair of UUIDs: the handle of the value, and the numbers among equal UUIDs."""
    found: dict[tuple[str, str], list[tuple[int, tuple[int, int]]]] = {}
    seen: dict[str, int] = {}
    for service in services:
        uuid = uuid_text(service["uuid"])
        seen[uuid] = seen.get(uuid, 0) + 1
        own: dict[str, int] = {}
        for characteristic in service["characteristics"]:
            of = uuid_text(characteristic["uuid"])
            own[of] = own.get(of, 0) + 1
            found.setdefault((uuid, of), []).append((characteristic["handle"], (seen[uuid], own[of])))
    return found


# The adapter


class _Stream(asyncio.Protocol):
    """An event stream of Mynah. It is no task, so a loop that is closed while it is open does not complain."""

    def __init__(self, request: bytes, came: Callable[[dict[str, Any]], None], ended: Callable[[], None]):
        self._request = request
        self._came, self._ended = came, ended
        self._rest = b""
        self._transport: asyncio.Transport | None = None
        #: It has a result when the stream has begun.
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            # Between the lines of events are the sizes of HTTP's chunks.
            if line.startswith(b":") and not self.begun.done():
                self.begun.set_result(None)
            elif line.startswith(b"data: "):
                self._came(json.loads(line[6:]))

    def connection_lost(self, error: Exception | None) -> None:
        if not self.begun.done():
            self.begun.set_exception(ConnectionError("the stream of events ended before it had begun"))
        self._closed.set()
        self._ended()

    async def close(self) -> None:
        """Closes the stream, and waits until nothing of it is left in the loop."""
        self._ended = lambda: None
        if self._transport is not None:
            self._transport.abort()
            await self._closed.wait()


@dataclass
class _Connecting:
    """A connection that is being made."""

    address: str
    #: The device was heard, so the radio does not look for it any more.
    is_heard: bool = False
    #: Others use the radio too: it is to be left to them until the device is heard.
    gives_way: asyncio.Event = field(default_factory=asyncio.Event)


class Adapter:
    """A phone that is the adapter of the bleak programs of one event loop."""

    def __init__(self, client: Client, number: int, settings: Mapping[str, Any]) -> None:
        self.client = client
        self.path = f"/org/bluez/hci{number}"
        self._settings = dict(settings)
        self._phone: aio.Phone | None = None
        #: The loop that uses it.
        self.loop: asyncio.AbstractEventLoop | None = None
        self.devices: dict[str, Device] = {}
        self.links: dict[str, Link] = {}
        self._listeners: list[Listener] = []
        self._scan: asyncio.Task[None] | None = None
        self._pauses = 0
        self._connecting: list[_Connecting] = []
        self._stream: _Stream | None = None
        self._opening = asyncio.Lock()

    @property
    def phone(self) -> aio.Phone:
        assert self._phone is not None
        return self._phone

    def is_free(self) -> bool:
        """Whether no other loop uses it."""
        return self.loop is None or self.loop.is_closed() or self.loop is asyncio.get_running_loop()

    def take(self) -> Adapter:
        """Makes it the adapter of the running loop."""
        loop = asyncio.get_running_loop()
        if self.loop is not loop:
            if self.loop is not None:
                self._forget_loop()
            self.loop = loop
            self._opening = asyncio.Lock()
        return self

    def _forget_loop(self) -> None:
        """Forgets the state of a loop that was closed."""
        self._stream = self._scan = None
        self._listeners, self._connecting, self._pauses = [], [], 0
        for link in self.links.values():
            # Its clients are of the closed loop.
            link.users = []
            link.end()
        self.links = {}

    async def open(self) -> None:
        """Makes the phone and opens the event stream, if that is still to be done."""
        async with self._opening:
            if self._stream is not None:
                return
            try:
                await self._check_clock()
                await self._open()
            except (OSError, Problem) as error:
                raise BleakBluetoothNotAvailableError(
                    f"there is no Mynah at {self.client.address}: {error}. "
                    "Start mynah serve, and set MYNAH_CONTROL to the address of its --control.",
                    BleakBluetoothNotAvailableReason.NO_BLUETOOTH,
                ) from error

    async def _check_clock(self) -> None:
        clock = (await aio.Client(self.client)._request("GET", "/v1/clock"))["clock"]
        if clock != "real":
            raise BleakError(
                f"bleak waits in real time, and the Mynah at {self.client.address} has --clock {clock}; "
                "start it with --clock real, and a test without the mark of another clock"
            )

    async def _open(self) -> None:
        if self._phone is not None:
            with suppress(Problem):
                await self._phone.info()
                await self._listen()
                return
        self.links = {}
        self._phone = await aio.Client(self.client).phone(**self._settings)
        await self._listen()

    async def _listen(self) -> None:
        assert self.loop is not None
        address, host = self.client.address, "localhost"
        if not address.startswith("unix:"):
            parts = urlsplit(address if "//" in address else "http://" + address)
            host = parts.netloc
        # From now on: an advertisement of an earlier scan is not one of this.
        now = (await aio.Client(self.client)._request("GET", "/v1/events?last=1"))["next"]
        lines = [f"GET /v1/events?since={now} HTTP/1.1", f"Host: {host}", "Accept: text/event-stream"]
        if self.client._token is not None:
            lines.append(f"Authorization: Bearer {self.client._token}")
        request = "\r\n".join([*lines, "", ""]).encode()
        stream = _Stream(request, self._event, self._stream_ended)
        if address.startswith("unix:"):
            await self.loop.create_unix_connection(lambda: stream, address[len("unix:") :])
        else:
            await self.loop.create_connection(lambda: stream, parts.hostname or "127.0.0.1", parts.port or 80)
        try:
            await stream.begun
        except BaseException:
            await stream.close()
            raise
        self._stream = stream

    def _stream_ended(self) -> None:
        """Ends the links, as bleak does when the connection to the D-Bus is lost."""
        if self._stream is None:
            return
        logger.warning("Mynah at %s has ended", self.client.address)
        self._stream = None
        self._stop_scan()
        for link in list(self.links.values()):
            link.end()
        self.links = {}

    async def _close_if_idle(self) -> None:
        """Closes the stream if nothing needs it, so that a program that has ended leaves nothing open."""
        if self._listeners or self.links or self._connecting or self._stream is None:
            return
        stream, self._stream = self._stream, None
        await stream.close()

    # Events

    def _event(self, event: dict[str, Any]) -> None:
        if self._phone is None or event.get("device") != self._phone.name:
            if event.get("event") == "lost":
                logger.warning("%s events of Mynah were lost", event.get("count"))
            return
        address = event.get("address")
        name = event["event"]
        if name == "peripheral.discovered":
            self._discovered(event)
        elif name == "value.updated" and "characteristic" in event:
            if link := self.links.get(address or ""):
                value = bytes.fromhex(event.get("value", ""))
                handles = link.handles(event)
                if len(handles) > 1:
                    handles = [each for each in handles if link.subscribers.get(each)][:1]
                for handle in handles:
                    link.value_came(handle, value)
        elif name == "paired" and (device := self.devices.get(address or "")):
            device.properties.update(Paired=True, Bonded=True)
        elif name == "peripheral.disconnected" and address is not None:
            link = self.links.get(address)
            # An event of an earlier link may come late.
            if link is not None and event["seq"] >= link.start:
                del self.links[address]
                link.end()

    def _discovered(self, event: dict[str, Any]) -> None:
        address = event["address"]
        device = self.devices.get(address)
        if device is None:
            device = self.devices[address] = Device(self.path, address)
        device.hear(event)
        for connecting in self._connecting:
            if connecting.address == address:
                connecting.is_heard = True
        for listener in list(self._listeners):
            listener.heard(device)

    # Scanning

    async def listen(self, listener: Listener) -> None:
        """Begins a scan for a listener, which hears all devices that are there."""
        await self.open()
        self._listeners.append(listener)
        self._restart_scan()

    async def unlisten(self, listener: Listener) -> None:
        if listener not in self._listeners:
            return
        self._listeners.remove(listener)
        if not self._listeners:
            self._stop_scan()
        await self._close_if_idle()

    def _restart_scan(self) -> None:
        self._stop_scan()
        if self._listeners and not self._pauses:
            self._scan = asyncio.create_task(self._scanning())

    def _stop_scan(self) -> None:
        if self._scan is not None:
            self._scan.cancel()
            self._scan = None

    async def _scanning(self) -> None:
        """Scans until it is cancelled; the events say what is heard."""
        try:
            while True:
                await self.phone.scan(within=LONG)
        except (OSError, Problem) as error:
            logger.warning("the scan of %s has ended: %s", self.phone.name, error)

    @contextmanager
    def _scan_paused(self) -> Iterator[None]:
        """Leaves the radio to a connection, whose own scan is heard too."""
        self._pauses += 1
        self._stop_scan()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._restart_scan()

    # Links

    async def connect(self, address: str) -> Link:
        """Connects to a device as soon as it is heard."""
        await self.open()
        if link := self.links.get(address):
            return link
        connecting = _Connecting(address)
        for other in self._connecting:
            if not other.is_heard:
                other.gives_way.set()
        self._connecting.append(connecting)
        try:
            return await self._connect(connecting)
        except BaseException:
            # The link may have come about meanwhile.
            if address not in self.links:
                with suppress(Exception):
                    await self.phone._verb("disconnect", {"peripheral": address}, "10 s")
            raise
        finally:
            self._connecting.remove(connecting)
            await self._close_if_idle()

    async def _connect(self, connecting: _Connecting) -> Link:
        address = connecting.address
        while True:
            if len(self._connecting) > 1:
                await self._hear(address)
                connecting.is_heard = True
            connecting.gives_way.clear()
            body = _phone.search(None, None, address, (), LONG)
            with self._scan_paused():
                answer = await _unless(
                    connecting.gives_way, self.phone._verb("connect", body, LONG)
                )
            # Another client of the program may have connected to it.
            if link := self.links.get(address):
                return link
            if answer is None:
                continue
            device = self.devices.get(address)
            if device is None:
                device = self.devices[address] = Device(self.path, address)
            link = self.links[address] = Link(device, answer)
            device.properties.update(Connected=True, ServicesResolved=True)
            if answer.get("paired"):
                device.properties.update(Paired=True, Bonded=True)
            return link

    async def _hear(self, address: str) -> None:
        """Waits until a device is heard, while others may use the radio too."""
        hearing = _Hearing(address)
        await self.listen(hearing)
        try:
            await hearing.came.wait()
        finally:
            await self.unlisten(hearing)

    async def request(self, link: Link, verb: str, **members: Any) -> Any:
        """Carries out a verb for a device, one at a time."""
        if not link.is_open:
            raise BleakDBusError(FAILED, ["Not connected"])
        async with link.turn:
            body = _phone.on(link.device.address, LONG, **members)
            return await self.phone._verb(verb, body, LONG)

    async def disconnect(self, link: Link) -> None:
        """Ends a link, and returns when its clients have been told."""
        if link.is_open:
            with suppress(NotConnected):
                await self.phone._verb("disconnect", _phone.on(link.device.address, LONG), LONG)
            await link.ended.wait()
        await self._close_if_idle()

    def disconnect_now(self, link: Link) -> None:
        """Ends a link whose loop is ending."""
        with suppress(OSError, Problem):
            body = {"peripheral": link.device.address}
            self.client._request("POST", _phone.path(self.phone.name, "disconnect"), body)
        self.links.pop(link.device.address, None)
        link.users = []
        link.end()

    async def remove(self, address: str) -> bool:
        """Deletes a device with its bond, as BlueZ's RemoveDevice does; returns whether it was known."""
        await self.open()
        device = self.devices.pop(address, None)
        if link := self.links.get(address):
            await self.disconnect(link)
        with suppress(PhoneError):
            await self.phone._verb("forget", {"peripheral": address}, "10 s")
        if device is not None:
            for listener in list(self._listeners):
                listener.removed(device)
        await self._close_if_idle()
        return device is not None


class _Hearing:
    """A listener for one device."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.came = asyncio.Event()

    def heard(self, device: Device) -> None:
        if device.address == self._address:
            self.came.set()

    def removed(self, device: Device) -> None:
        pass


async def _unless(stop: asyncio.Event, work: Any) -> Any:
    """The result of work, or `None` if an event came first, which cancels the work."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# The adapters of this process


class Adapters:
    """The adapters of a process: one for each event loop that runs at the same time."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._settings: dict[str, Any] = {"name": "bleak"}
        self._all: list[Adapter] = []
        self._lock = threading.Lock()

    def use(self, client: Client | None, settings: Mapping[str, Any]) -> None:
        """Sets the client and the settings of phones, and ends the phones that there were.

        Without a client, `MYNAH_CONTROL` says where Mynah is.
        """
        with self._lock:
            old, self._all = self._all, []
            self._client, self._settings = client, dict(settings)
        for adapter in old:
            if adapter._phone is not None:
                with suppress(OSError, Problem):
                    adapter.client._request("DELETE", _phone.path(adapter._phone.name))

    def of_loop(self) -> Adapter:
        """The adapter of the running loop."""
        with self._lock:
            client = self._client or Client()
            for adapter in self._all:
                if adapter.client.address == client.address and adapter.is_free():
                    return adapter.take()
            adapter = Adapter(client, len(self._all), self._settings)
            self._all.append(adapter)
            return adapter.take()

    @property
    def phones(self) -> list[str]:
        """The names of the phones."""
        return [adapter._phone.name for adapter in self._all if adapter._phone is not None]


#: The adapters of this process.
adapters = Adapters()
