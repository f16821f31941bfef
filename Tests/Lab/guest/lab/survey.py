"""All that bluetoothd, as the phone, learns of a device: its objects, and the answers to every kind of request."""

import asyncio
import contextlib

from dbus_fast import Message, MessageType, Variant

from lab.events import Signal
from lab.scenario import Lab
from lab.services import BusError

SERVICE, CHARACTERISTIC, DESCRIPTOR = (f"org.bluez.Gatt{kind}1" for kind in ("Service", "Characteristic", "Descriptor"))
DEVICE, ADAPTER = "org.bluez.Device1", "org.bluez.Adapter1"
# Of the device before a link: its advertisement.
ADVERTISED = ("Name", "Appearance", "UUIDs", "AdvertisingFlags", "ManufacturerData", "ServiceData", "TxPower", "AddressType")
# The values that are written: one byte, one more than the 20 of `maxLength`, and none.
WRITTEN = (b"\x01", b"one more than 20 byte", b"")
CONFIGURATION = "00002902-0000-1000-8000-00805f9b34fb"


class Survey:
    """`answers` has one line for each request, by the UUIDs of what it was for; UUIDs are unique in the profile."""

    def __init__(self, lab: Lab, phone: str, address: str) -> None:
        self.lab = lab
        self.adapter = f"/org/bluez/{phone}"
        self.path = f"{self.adapter}/dev_{address.replace(':', '_')}"
        self.answers: dict[str, object] = {}
        self.heard: dict[str, list[bytes]] = {}
        self.signal = Signal()

    async def take(self) -> dict[str, object]:
        services = self.lab.services
        await self.call(self.adapter, ADAPTER, "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
        await self.call(self.adapter, ADAPTER, "StartDiscovery")
        # A name in a scan response comes after the advertisement.
        await services.until(lambda objects: "Name" in objects.get(self.path, {}).get(DEVICE, {}), f"{self.path}", 90)
        await self.call(self.adapter, ADAPTER, "StopDiscovery")
        device = (await services.managed())[self.path][DEVICE]
        for name in ADVERTISED:
            self.answers[f"advertised {name}"] = plain(device[name]) if name in device else None
        services.bus.add_message_handler(self.on_message)
        try:
            await self.connect()
            await services.until(lambda objects: objects[self.path][DEVICE]["ServicesResolved"].value, "services", 90)
            await self.ask()
            await self.call(self.path, DEVICE, "Disconnect")
        finally:
            services.bus.remove_message_handler(self.on_message)
        await self.call(self.adapter, ADAPTER, "RemoveDevice", "o", self.path)
        return self.answers

    async def connect(self) -> None:
        """Connects, as a user would, again if the first packets of a link came too late for a slow machine."""
        for _ in range(4):
            try:
                return await self.call(self.path, DEVICE, "Connect")
            except BusError as error:
                if "le-connection-abort-by-local" not in str(error):
                    raise
        await self.call(self.path, DEVICE, "Connect")

    async def call(self, path: str, interface: str, member: str, signature: str = "", *body):
        return await self.lab.services.call("org.bluez", path, interface, member, signature, body)

    def on_message(self, message: Message) -> None:
        if message.message_type is MessageType.SIGNAL and message.member == "PropertiesChanged":
            interface, changed, _ = message.body
            if interface == CHARACTERISTIC and "Value" in changed:
                self.heard.setdefault(message.path, []).append(bytes(changed["Value"].value))
                self.signal.happened()

    async def ask(self) -> None:
        objects = {path: faces for path, faces in (await self.lab.services.managed()).items() if path.startswith(self.path)}
        uuids = {path: face["UUID"].value for path, faces in objects.items() for face in faces.values() if "UUID" in face}
        for path, faces in sorted(objects.items()):
            if face := faces.get(SERVICE):
                name = uuids[path]
                self.answers[f"{name} primary"] = face["Primary"].value
                self.answers[f"{name} includes"] = sorted(uuids[each] for each in face["Includes"].value)
            elif face := faces.get(CHARACTERISTIC):
                name = f"{uuids[face['Service'].value]} {uuids[path]}"
                self.answers[f"{name} flags"] = sorted(face["Flags"].value)
                self.answers[f"{name} handle"] = handle(path) - handle(face["Service"].value)
                await self.ask_characteristic(name, path, face["Flags"].value)
            elif face := faces.get(DESCRIPTOR):
                name = f"{uuids[face['Characteristic'].value]} {uuids[path]}"
                self.answers[f"{name} handle"] = handle(path) - handle(face["Characteristic"].value)
                await self.ask_descriptor(name, path)

    async def ask_characteristic(self, name: str, path: str, flags: list[str]) -> None:
        await self.read(name, path, CHARACTERISTIC)
        await self.read(name, path, CHARACTERISTIC, 3)
        await self.read(name, path, CHARACTERISTIC, 600)
        # The Service Changed of the stack itself is not asked more.
        if "indicate" in flags or "notify" in flags:
            await self.listen(name, path, wait="2a05" not in name and "0b09" not in name)
        if "write" in flags or "write-without-response" in flags:
            for value in WRITTEN:
                kind = "request" if "write" in flags else "command"
                await self.write(name, path, CHARACTERISTIC, value, kind)
                await self.read(f"{name} after {value!r}", path, CHARACTERISTIC)
        elif "2a05" not in name:
            await self.write(name, path, CHARACTERISTIC, b"\x01", "request")

    async def ask_descriptor(self, name: str, path: str) -> None:
        await self.read(name, path, DESCRIPTOR)
        if not name.endswith(CONFIGURATION):
            await self.write(name, path, DESCRIPTOR, b"other", "request")
            await self.read(f"{name} after", path, DESCRIPTOR)

    async def read(self, name: str, path: str, face: str, offset: int = 0) -> None:
        options = {"offset": Variant("q", offset)} if offset else {}
        answer = await self.answer(self.call(path, face, "ReadValue", "a{sv}", options))
        self.answers[f"{name} read" + (f" at {offset}" if offset else "")] = answer

    async def write(self, name: str, path: str, face: str, value: bytes, kind: str) -> None:
        options = {"type": Variant("s", kind)} if face == CHARACTERISTIC else {}
        self.answers[f"{name} write {value!r}"] = await self.answer(
            self.call(path, face, "WriteValue", "aya{sv}", value, options)
        )

    async def listen(self, name: str, path: str, wait: bool) -> None:
        """Subscribes, waits for two values, and unsubscribes."""
        answer = await self.answer(self.call(path, CHARACTERISTIC, "StartNotify"))
        if wait and answer is None:
            await self.signal.until(lambda: len(self.heard.get(path, [])) >= 2, f"two values of {name}", 90)
            answer = sorted({each.hex() for each in self.heard[path]})
        self.answers[f"{name} notified"] = answer
        with contextlib.suppress(BusError):
            await self.call(path, CHARACTERISTIC, "StopNotify")

    @staticmethod
    async def answer(request) -> object:
        """The value of an answer in hexadecimal, or the error."""
        try:
            value = await asyncio.wait_for(request, 90)
        except BusError as error:
            return str(error)
        return bytes(value).hex() if value is not None else None


def handle(path: str) -> int:
    """The attribute handle in the last four digits of bluetoothd's path."""
    return int(path[-4:], 16)


def plain(value: object) -> object:
    """A value of D-Bus without its types, with bytes in hexadecimal."""
    while isinstance(value, Variant):
        value = value.value
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return sorted(map(str, value)) if isinstance(value, list) else value
