"""A phone that is not ours: Google's Bumble as the central, spoken to in ATT requests."""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bumble import att, hci
from bumble.controller import Controller
from bumble.core import UUID
from bumble.device import Advertisement, Connection, Device, DeviceConfiguration
from bumble.gatt import GATT_INCLUDE_ATTRIBUTE_TYPE
from bumble.gatt_client import Client
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.link import LocalLink
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport.common import AsyncPipeSink

from lab.events import Signal, TimedOut

IO = PairingDelegate.IoCapability
PROPERTIES = [
    "broadcast", "read", "writeWithoutResponse", "write", "notify", "indicate", "authenticatedSignedWrites",
    "extendedProperties",
]  # fmt: skip
PRIMARY, SECONDARY = 0x2800, 0x2801
# The passkey that the phone shows if the device's user has to enter it: the one in the profiles.
PASSKEY = 123456


class Refused(Exception):
    """The device answered with an ATT error."""

    def __init__(self, code: int) -> None:
        super().__init__(f"refused with {code:#04x}")
        self.code = code


@dataclass
class Descriptor:
    uuid: str
    handle: int


@dataclass
class Characteristic:
    uuid: str
    handle: int
    end: int
    properties: list[str]
    descriptors: list[Descriptor] = field(default_factory=list)

    def descriptor(self, uuid: str) -> Descriptor:
        return next(each for each in self.descriptors if each.uuid == uuid.upper())


@dataclass
class Service:
    uuid: str
    handle: int
    end: int
    primary: bool
    includes: list[str] = field(default_factory=list)
    characteristics: list[Characteristic] = field(default_factory=list)


class Delegate(PairingDelegate):
    """The phone's user, who enters the passkey that the device shows, or confirms that two numbers are equal."""

    def __init__(self, io: PairingDelegate.IoCapability, signal: Signal) -> None:
        super().__init__(io)
        self.signal = signal
        self.shown: int | None = None
        self.compared: int | None = None
        self.typed: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.compared = number
        self.signal.happened()
        return True

    async def get_number(self) -> int | None:
        return await self.typed

    async def generate_passkey(self) -> int:
        return PASSKEY

    async def display_number(self, number: int, digits: int) -> None:
        self.shown = number
        self.signal.happened()


class Phone:
    def __init__(self, name: str, address: str, link: LocalLink) -> None:
        controller = Controller(name, link=link)
        host = Host(controller, AsyncPipeSink(controller))
        configuration = DeviceConfiguration(name=name, address=hci.Address(address))
        self.device = Device(config=configuration, host=host)
        self.device.keystore = MemoryKeyStore()
        # A peripheral may ask for a greater MTU on its own; this phone grants it only when it wants it itself.
        self.device.gatt_server.max_mtu = att.ATT_DEFAULT_MTU
        self.name = name
        self.address = address
        self.signal = Signal()
        self.connection: Connection | None = None
        self.client: Client | None = None
        self.services: list[Service] = []
        self.heard: dict[int, list[bytes]] = {}
        self.user: Delegate | None = None
        # The reason for which the last link ended.
        self.reason: int | None = None

    # Finding and connecting

    async def find(
        self, address: hci.Address, within: float = 30, suits: Callable[[Advertisement], bool] = lambda _: True
    ) -> bytes:
        """Scans until that device is heard, with an advertisement that suits; gives the advertising data."""
        heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        def on_advertisement(advertisement: Advertisement) -> None:
            if advertisement.address == address and not heard.done() and suits(advertisement):
                heard.set_result(bytes(advertisement.data_bytes))

        self.device.on("advertisement", on_advertisement)
        await self.device.start_scanning(active=True)
        try:
            return await asyncio.wait_for(heard, within)
        except TimeoutError:
            raise TimedOut(f"{self.name} did not find {address} within {within:g} s") from None
        finally:
            await self.device.stop_scanning()
            self.device.remove_listener("advertisement", on_advertisement)

    async def hear(self, wanted: set[bytes], within: float = 30) -> None:
        """Scans until each of these advertising data was heard, from any address."""
        missing = set(wanted)
        complete = asyncio.get_running_loop().create_future()

        def on_advertisement(advertisement: Advertisement) -> None:
            missing.discard(bytes(advertisement.data_bytes))
            if not missing and not complete.done():
                complete.set_result(None)

        self.device.on("advertisement", on_advertisement)
        await self.device.start_scanning(active=True)
        try:
            await asyncio.wait_for(complete, within)
        except TimeoutError:
            texts = ", ".join(sorted(each.hex() for each in missing))
            raise TimedOut(f"{self.name} did not hear {texts} within {within:g} s") from None
        finally:
            await self.device.stop_scanning()
            self.device.remove_listener("advertisement", on_advertisement)

    async def connect(self, address: hci.Address, within: float = 30) -> None:
        try:
            self.connection = await self.device.connect(address, timeout=within)
        except Exception as error:
            raise TimedOut(f"{self.name} could not connect within {within:g} s: {error!r}") from None
        self.client = self.connection.gatt_client
        self.services, self.heard = [], {}
        self.connection.on("disconnection", self.on_disconnection)
        self.connection.on("security_request", lambda requirements: self.on_security_request())
        # The link is up when the device answers; bluetoothd 5.66 dies of a phone that leaves before that.
        greeting = self.request(att.ATT_Find_Information_Request(starting_handle=1, ending_handle=1))
        try:
            await asyncio.wait_for(greeting, within)
        except TimeoutError:
            raise TimedOut(f"{self.name} is connected and got no answer within {within:g} s") from None

    def on_disconnection(self, reason: int) -> None:
        self.connection = self.client = None
        self.reason = reason
        self.signal.happened()

    async def until_disconnected(self, within: float = 30) -> None:
        await self.signal.until(lambda: self.connection is None, f"{self.name}'s disconnection", within)

    async def until_ended_by(self, request: Awaitable[object]) -> int | None:
        """The reason for which the link ends at a request, which may be answered before that or not."""
        pending = asyncio.ensure_future(request)
        try:
            await self.until_disconnected()
        finally:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)
        return self.reason

    async def disconnect(self) -> None:
        if self.connection is not None:
            await self.connection.disconnect()
            await self.until_disconnected()

    @property
    def bonded(self) -> bool:
        return bool(self.device.keystore.all_keys)

    async def forget(self) -> None:
        """Leaves, and drops every bond."""
        await self.disconnect()
        await self.device.keystore.delete_all()

    # Pairing

    async def pair(self, io: PairingDelegate.IoCapability = IO.NO_OUTPUT_NO_INPUT, within: float = 30) -> None:
        await asyncio.wait_for(self.start_pairing(io), within)

    def start_pairing(self, io: PairingDelegate.IoCapability) -> Awaitable[None]:
        assert self.connection is not None
        mitm = io != IO.NO_OUTPUT_NO_INPUT
        self.user = Delegate(io, self.signal)
        self.device.pairing_config_factory = lambda connection: PairingConfig(mitm=mitm, delegate=self.user)
        return asyncio.ensure_future(self.connection.pair())

    async def encrypt(self) -> None:
        """Encrypts with the key of an earlier pairing."""
        assert self.connection is not None
        await asyncio.wait_for(self.connection.encrypt(), 10)

    def on_security_request(self) -> None:
        """Encrypts a bonded phone's link when it is asked for security; BlueZ answers nothing before."""
        if self.connection is not None and not self.connection.is_encrypted and self.bonded:
            self.encrypting = asyncio.ensure_future(self.encrypt())

    # Requests

    async def request(self, pdu: att.ATT_PDU):
        """Sends one request and gives its response; an Error Response is raised."""
        if self.client is None:
            raise TimedOut(f"{self.name} is not connected")
        try:
            response = await self.client.send_request(pdu)
        except asyncio.CancelledError:
            # Bumble cancels what waits for an answer when the link ends; that is not the end of a scenario's task.
            if asyncio.current_task().cancelling():
                raise
            raise TimedOut(f"the link of {self.name} ended before the answer") from None
        if response.op_code == att.Opcode.ATT_ERROR_RESPONSE:
            raise Refused(int(response.error_code))
        return response

    @property
    def mtu(self) -> int:
        assert self.client is not None
        return self.client.mtu

    async def exchange_mtu(self, mtu: int) -> int:
        response = await self.request(att.ATT_Exchange_MTU_Request(client_rx_mtu=mtu))
        assert self.client is not None
        self.client.mtu = min(mtu, response.server_rx_mtu)
        return self.mtu

    async def read(self, handle: int) -> bytes:
        """One Read Request: at most MTU-1 bytes."""
        return bytes((await self.request(att.ATT_Read_Request(attribute_handle=handle))).attribute_value)

    async def read_blob(self, handle: int, offset: int) -> bytes:
        request = att.ATT_Read_Blob_Request(attribute_handle=handle, value_offset=offset)
        return bytes((await self.request(request)).part_attribute_value)

    async def read_long(self, handle: int) -> bytes:
        """A Read Request and as many Read Blob Requests as the value needs. Volume 3, Part G, 4.8.3."""
        value = part = await self.read(handle)
        while len(part) == self.mtu - 1 and len(value) < 512:
            part = await self.read_blob(handle, len(value))
            value += part
        return value

    async def write(self, handle: int, value: bytes) -> None:
        await self.request(att.ATT_Write_Request(attribute_handle=handle, attribute_value=value))

    async def command(self, handle: int, value: bytes) -> None:
        """A Write Command, which gets no answer."""
        assert self.client is not None
        await self.client.send_command(att.ATT_Write_Command(attribute_handle=handle, attribute_value=value))

    async def prepare(self, handle: int, offset: int, part: bytes) -> bytes:
        """One Prepare Write Request; gives the part as the device repeated it."""
        request = att.ATT_Prepare_Write_Request(attribute_handle=handle, value_offset=offset, part_attribute_value=part)
        return bytes((await self.request(request)).part_attribute_value)

    async def execute(self, write: bool = True) -> None:
        await self.request(att.ATT_Execute_Write_Request(flags=int(write)))

    async def write_long(self, handle: int, value: bytes) -> None:
        """Prepared writes and their execution. Volume 3, Part G, 4.9.4."""
        size = self.mtu - 5
        for offset in range(0, len(value), size):
            part = value[offset : offset + size]
            if (echo := await self.prepare(handle, offset, part)) != part:
                raise AssertionError(f"prepared {part.hex()} at {offset}, the device repeated {echo.hex()}")
        await self.execute()

    # Notifications

    async def subscribe(self, characteristic: Characteristic, indications: bool = False) -> list[bytes]:
        """Writes the CCCD; gives the list that fills with what is heard from now on."""
        heard = self.listen(characteristic, indications)
        await self.write(characteristic.descriptor("2902").handle, b"\x02\x00" if indications else b"\x01\x00")
        return heard

    def listen(self, characteristic: Characteristic, indications: bool = False) -> list[bytes]:
        """Gives the list that fills with what is heard, of a subscription that is there or comes."""
        assert self.client is not None
        heard = self.heard.setdefault(characteristic.handle, [])
        handle = characteristic.handle

        def on_value(value: bytes) -> None:
            heard.append(bytes(value))
            self.signal.happened()

        table = self.client.indication_subscribers if indications else self.client.notification_subscribers
        table[handle] = {on_value}
        return heard

    async def unsubscribe(self, characteristic: Characteristic) -> None:
        await self.write(characteristic.descriptor("2902").handle, b"\x00\x00")

    async def until_heard(self, heard: list[bytes], count: int, within: float = 30) -> list[bytes]:
        await self.signal.until(lambda: len(heard) >= count, f"{count} values for {self.name} (had {len(heard)})", within)
        return list(heard)

    # Discovery

    async def discover(self) -> list[Service]:
        """All services with all that is in them, read from the attribute table itself."""
        services = await self.groups(PRIMARY) + await self.groups(SECONDARY)
        services.sort(key=lambda each: each.handle)
        for service in services:
            async for _, value in self.by_type(service.handle, service.end, GATT_INCLUDE_ATTRIBUTE_TYPE):
                start, _ = struct.unpack_from("<HH", value)
                service.includes.append(next((each.uuid for each in services if each.handle == start), f"{start:04X}"))
            await self.discover_characteristics(service)
        self.services = services
        return services

    async def discover_characteristics(self, service: Service) -> None:
        declared = [each async for each in self.by_type(service.handle, service.end, UUID.from_16_bits(0x2803))]
        for index, (_, value) in enumerate(declared):
            bits, handle = struct.unpack_from("<BH", value)
            end = declared[index + 1][0] - 1 if index + 1 < len(declared) else service.end
            names = [name for bit, name in enumerate(PROPERTIES) if bits & 1 << bit]
            characteristic = Characteristic(text(value[3:]), handle, end, names)
            async for descriptor in self.information(handle + 1, end):
                characteristic.descriptors.append(descriptor)
            service.characteristics.append(characteristic)

    async def groups(self, kind: int) -> list[Service]:
        found, start = [], 1
        while start <= 0xFFFF:
            request = att.ATT_Read_By_Group_Type_Request(
                starting_handle=start, ending_handle=0xFFFF, attribute_group_type=UUID.from_16_bits(kind)
            )
            try:
                response = await self.request(request)
            except Refused as refused:
                # Attribute Not Found ends the procedure; BlueZ knows no grouping by secondary services.
                if refused.code == att.ATT_UNSUPPORTED_GROUP_TYPE_ERROR and kind == SECONDARY:
                    return [each async for each in self.secondary_services()]
                if refused.code != att.ATT_ATTRIBUTE_NOT_FOUND_ERROR:
                    raise
                return found
            for handle, end, value in response.attributes:
                found.append(Service(text(value), handle, end, kind == PRIMARY))
            start = found[-1].end + 1
        return found

    async def secondary_services(self):
        """By Read By Type: a secondary service ends before the next service declaration."""
        primary = [each.handle for each in await self.groups(PRIMARY)]
        found = [each async for each in self.by_type(1, 0xFFFF, UUID.from_16_bits(SECONDARY))]
        starts = sorted([*primary, *(handle for handle, _ in found), 0x10000])
        last = [each.handle async for each in self.information(1, 0xFFFF)][-1]
        for handle, value in found:
            end = min(next(start for start in starts if start > handle) - 1, last)
            yield Service(text(value), handle, end, False)

    async def by_type(self, start: int, end: int, kind: UUID):
        while start <= end:
            request = att.ATT_Read_By_Type_Request(starting_handle=start, ending_handle=end, attribute_type=kind)
            try:
                response = await self.request(request)
            except Refused as refused:
                if refused.code != att.ATT_ATTRIBUTE_NOT_FOUND_ERROR:
                    raise
                return
            for handle, value in response.attributes:
                yield handle, bytes(value)
                start = handle + 1

    async def information(self, start: int, end: int):
        while start <= end:
            try:
                response = await self.request(att.ATT_Find_Information_Request(starting_handle=start, ending_handle=end))
            except Refused as refused:
                if refused.code != att.ATT_ATTRIBUTE_NOT_FOUND_ERROR:
                    raise
                return
            for handle, uuid in response.information:
                yield Descriptor(text(bytes(uuid)), handle)
                start = handle + 1

    def service(self, uuid: str) -> Service:
        found = [each for each in self.services if each.uuid == uuid.upper()]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} services {uuid}; found {[each.uuid for each in self.services]}")
        return found[0]

    def characteristic(self, uuid: str) -> Characteristic:
        found = [each for service in self.services for each in service.characteristics if each.uuid == uuid.upper()]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} characteristics {uuid} in what {self.name} discovered")
        return found[0]


def text(value: bytes) -> str:
    """A UUID as profiles write it, from its bytes on the air."""
    if len(value) == 2:
        return value[::-1].hex().upper()
    digits = value[::-1].hex().upper()
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
